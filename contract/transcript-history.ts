import { z } from "zod";
import { Timestamp, Uuid } from "./common.ts";
import { operation } from "./operation.ts";
import { RecordingParams } from "./recordings.ts";

/** More edits than this are not kept of a transcript: the oldest go. */
export const maxHistory = 1000;

export const TranscriptEditKind = z.enum([
  "text",
  "rename",
  "merge",
  "assign",
  "undo",
  "redo",
  "transcribed",
  "reapplied",
  "supplied",
]);
export type TranscriptEditKind = z.output<typeof TranscriptEditKind>;

const Speaker = z.strictObject({ participant_id: Uuid.nullable(), name: z.string() });

/** What could not be written into a transcript that was made anew. */
const NotReapplied = z.strictObject({
  start: z.int(),
  end: z.int(),
  text: z.string().optional().meta({ description: "The correction that found no place." }),
  speaker: Speaker.optional().meta({ description: "Who was said to speak there." }),
});

export const TranscriptEditDetails = z
  .strictObject({
    speakers: z.array(Speaker).optional().meta({ description: "Whose segments were changed." }),
    to: Speaker.optional().meta({ description: "Whose they became, or the new name." }),
    edit: z.int().optional().meta({ description: "The edit that was taken back or brought back." }),
    edits: z.enum(["keep", "discard"]).optional().meta({ description: "Of a transcript made anew." }),
    not_reapplied: z
      .array(NotReapplied)
      .optional()
      .meta({ description: "Edits of the former transcript that found no place in the new one." }),
    not_reapplied_count: z.int().optional(),
  })
  .meta({ id: "TranscriptEditDetails" });
export type TranscriptEditDetails = z.output<typeof TranscriptEditDetails>;

export const TranscriptEdit = z
  .strictObject({
    number: z.int(),
    kind: TranscriptEditKind.meta({
      description:
        "transcribed: the transcript was made anew; supplied: somebody put another in its place. What is older than these can't be taken back. reapplied: edits were written into the new one.",
    }),
    user: z.strictObject({ id: Uuid, name: z.string() }).nullable().meta({
      description:
        "Who; null for a workspace token, for what happened by itself, and for people who are gone.",
    }),
    made_datetime: Timestamp,
    transcript_version: z.int().meta({ description: "The version it made." }),
    segments_changed: z.int(),
    details: TranscriptEditDetails,
    undone_by: z.int().nullable().meta({ description: "The edit that took it back; null: it holds." }),
  })
  .meta({ id: "TranscriptEdit" });

const Values = z.strictObject({
  text: z.string().optional(),
  speaker: z.string().optional(),
  participant_id: Uuid.nullable().optional(),
});

export const TranscriptEditWithChanges = TranscriptEdit.extend({
  changes: z
    .array(z.strictObject({ indexes: z.array(z.int()), before: Values, after: Values }))
    .meta({ description: "Which segments were changed, and from what to what." }),
}).meta({ id: "TranscriptEditWithChanges" });

const base = "/_/api/v1/recordings/:recording_id/transcript/edits";

export const listTranscriptEdits = operation({
  id: "listTranscriptEdits",
  tag: "Transcript editing",
  gate: "every_version",
  permission: "read",
  method: "GET",
  path: base,
  summary: "List Transcript Edits",
  description: `Who edited the transcript, when and what, the last one first, a page at a time. The last ${maxHistory} are kept, as long as the recording.`,
  params: RecordingParams,
  query: z.object({
    before: z
      .string()
      .regex(/^\d{1,9}$/, "must be the number of an edit")
      .optional()
      .meta({ description: "Only edits before this number: the `next_before` of the previous page." }),
  }),
  response: z.strictObject({
    edits: z.array(TranscriptEdit),
    next_before: z.int().nullable().meta({ description: "null: that was all." }),
  }),
  errors: ["invalid_input", "not_found"],
});

export const getTranscriptEdit = operation({
  id: "getTranscriptEdit",
  tag: "Transcript editing",
  gate: "every_version",
  permission: "read",
  method: "GET",
  path: `${base}/:number`,
  summary: "Get Transcript Edit",
  description: "One edit with what it changed, from what to what.",
  params: RecordingParams.extend({ number: z.string().regex(/^\d{1,9}$/, "must be a number") }),
  response: TranscriptEditWithChanges,
  errors: ["not_found"],
});
