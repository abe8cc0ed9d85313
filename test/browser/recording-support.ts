import type { Page } from "playwright-core";
import type { TestApp } from "../support/app.ts";
import { makeMediaRecording } from "../support/media-recordings.ts";
import { until } from "../support/until.ts";
import { assertAccessible } from "./support.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests pass any attribute.
type Attributes = Record<string, any>;

/** A twelve-second conversation, as long as the fixture videos. */
export const talk = {
  language: "en",
  segments: [
    { speaker_key: "s1", start: 0, end: 2500, text: "Good morning, shall we begin?" },
    { speaker_key: "s2", start: 2600, end: 5000, text: "Yes. The harbour contract first." },
    { speaker_key: "s2", start: 5000, end: 7500, text: "The harbour master wants it signed by Friday." },
    { speaker_key: "s1", start: 7600, end: 9800, text: "It is signed. Café Blå gets a copy." },
    { speaker_key: "s3", start: 9900, end: 11_800, text: "שלום לכולם, אני כאן." },
  ],
};

export const people = [
  { name: "Ana Lima", email: "ana@other.example", speaker_key: "s1" },
  { name: "Bo Okafor", speaker_key: "s2" },
];

/** Uploads a fixture file with the conversation. @returns the recording's id. */
export function makeMedia(
  app: TestApp,
  token: string,
  attributes: Attributes = {},
  file?: string,
): Promise<string> {
  const own = { title: "Harbour contract", transcript: talk, participants: people, ...attributes };
  return makeMediaRecording(app, token, own, file);
}

/** A five-hour transcript with `count` segments of varying length, by seven speakers. */
export function longTalk(count: number, hours = 5) {
  const each = Math.floor((hours * 3_600_000) / count);
  return {
    language: "en",
    segments: Array.from({ length: count }, (_, i) => ({
      speaker_key: `s${Math.floor(i / 4) % 7}`,
      start: i * each,
      end: (i + 1) * each - 50,
      text: `Line ${i}: ${"and so we continued with the plan for the quarter. ".repeat((i * 7) % 6)}${
        i % 1000 === 999 ? "needle" : "Right."
      }`,
    })),
  };
}

/** Runs axe once animations have finished; half-faded elements have too little contrast. */
export async function assertAccessibleAtRest(page: Page): Promise<void> {
  await until("nothing moves", () =>
    page.evaluate<boolean>(
      "document.getAnimations().every((one) => one.playState === 'finished' || one.effect.getTiming().iterations === Infinity)",
    ),
  );
  await assertAccessible(page);
}
