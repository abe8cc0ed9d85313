import type { DemoStory } from "./types.ts";

/** Stories made of highlights from several meetings. */
export const demoStories: readonly DemoStory[] = [
  {
    title: "How Heron 2 got its date",
    description:
      "From seven wet buoys in the salt tank to forty dry ones, in the words of those who were there.",
    tags: ["heron-2", "launch"],
    by: "gwen.pritchard-owusu@wrackline.example",
    highlights: [
      "Seven of forty units leaked",
      "Why sorted caps are off the table",
      "The decision: no-go, five weeks",
      "Where the launch stands",
      "Signed: all forty are dry",
    ],
  },
  {
    title: "What we learned from the night without alerts",
    description: "For everybody who is on call, and everybody who relies on us.",
    tags: ["outage", "on-call"],
    by: "seun.oyelaran@wrackline.example",
    highlights: [
      "Why nobody was woken up",
      "95 minutes without an alarm",
      "The watchman in the mirror",
      "Silence should be bad",
      "Ringing every day at noon, on purpose",
      "Nine of eleven actions are done",
    ],
  },
];
