import { z } from "zod";
import { maxChapterTitle } from "../../shared/chapters.ts";
import { Milliseconds } from "../common.ts";
import { operation } from "../operation.ts";
import { RecordingParams } from "./recordings.ts";

const maxChapters = 500;

export const Chapter = z
  .strictObject({
    title: z.string().meta({ description: `At most ${maxChapterTitle} characters.` }),
    start: Milliseconds.meta({ description: "Milliseconds from the start of the recording." }),
    quote: z.string().meta({
      description:
        "Words of the transcript between this chapter's start and the next one's; empty for a chapter that a user wrote without one.",
    }),
  })
  .meta({ id: "Chapter" });
export type Chapter = z.output<typeof Chapter>;

const shared = {
  tag: "Intelligence",
  gate: "every_version",
  path: "/_/api/v1/recordings/:recording_id/chapters",
  params: RecordingParams,
  response: z.strictObject({ chapters: z.array(Chapter) }),
} as const;

export const getChapters = operation({
  ...shared,
  id: "getChapters",
  permission: "read",
  method: "GET",
  summary: "Get Chapters",
  description:
    "Lists a recording's chapters in order. The language model writes them for transcripts of ten minutes or more. Allowed for everyone who can see the recording.",
  errors: ["not_found"],
});

export const replaceChapters = operation({
  ...shared,
  id: "replaceChapters",
  permission: "write",
  method: "PUT",
  summary: "Replace Chapters",
  description:
    "Replaces a recording's chapters. Later runs of the language model keep them. Starts are ascending, within the recording and at least 30 seconds apart. Allowed for the users and tokens that may edit the transcript: the recording's recorders, admins and workspace tokens.",
  body: z.object({
    chapters: z
      .array(
        z.object({
          title: z.string().trim().min(1, "must not be blank").max(maxChapterTitle),
          start: Milliseconds,
          quote: z.string().trim().max(500).default("").meta({
            description:
              "Must be in the chapter's passage of the transcript, unless it is empty. A quote that is in a later chapter's passage now, because that chapter was added, is removed.",
          }),
        }),
      )
      .max(maxChapters),
  }),
  errors: ["invalid_json", "invalid_input", "body_too_large", "forbidden", "not_found"],
});
