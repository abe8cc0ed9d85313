import { z } from "zod";
import { Timestamp, Uuid } from "../common.ts";
import { operation } from "../operation.ts";
import { RecordingParams } from "../recordings/recordings.ts";

/** Maximum number of edits kept per transcript; the oldest are deleted. */
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

/** An edit that could not be applied to a replaced transcript. */
const NotReapplied = z.strictObject({
  start: z.int(),
  end: z.int(),
  text: z.string().optional().meta({ description: "The corrected text." }),
  speaker: Speaker.optional().meta({ description: "The assigned speaker." }),
});

/** What the speech model was given. */
const UsedSpeechModel = z
  .strictObject({
    model: z.string(),
    language: z.string().nullable().meta({ description: "The language that was set; null: detected." }),
    vocabulary: z.array(z.string()).meta({ description: "The names and terms that the model took." }),
  })
  .meta({ id: "UsedSpeechModel" });
export type UsedSpeechModel = z.output<typeof UsedSpeechModel>;

export const TranscriptEditDetails = z
  .strictObject({
    speakers: z.array(Speaker).optional().meta({ description: "Speakers whose segments were changed." }),
    to: Speaker.optional().meta({ description: "The new speaker, or the new name." }),
    edit: z.int().optional().meta({ description: "The edit that was undone or restored." }),
    edits: z
      .enum(["keep", "discard"])
      .optional()
      .meta({ description: "For a replaced transcript: whether earlier edits were kept." }),
    not_reapplied: z
      .array(NotReapplied)
      .optional()
      .meta({ description: "Edits of the previous transcript that could not be applied to the new one." }),
    not_reapplied_count: z.int().optional(),
    used: UsedSpeechModel.optional().meta({ description: "For a transcribed recording." }),
  })
  .meta({ id: "TranscriptEditDetails" });
export type TranscriptEditDetails = z.output<typeof TranscriptEditDetails>;

export const TranscriptEdit = z
  .strictObject({
    number: z.int(),
    kind: TranscriptEditKind.meta({
      description:
        "transcribed: the speech model replaced the transcript; supplied: a user replaced it. Older edits can't be undone. reapplied: edits were applied to the new transcript.",
    }),
    user: z.strictObject({ id: Uuid, name: z.string() }).nullable().meta({
      description: "The user; null for workspace tokens, automatic changes and deleted users.",
    }),
    made_datetime: Timestamp,
    transcript_version: z.int().meta({ description: "The resulting version." }),
    segments_changed: z.int(),
    details: TranscriptEditDetails,
    undone_by: z.int().nullable().meta({ description: "The edit that undid it; null: not undone." }),
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
    .meta({ description: "The changed segments with values before and after." }),
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
  description: `Lists the transcript's edits, newest first, paginated. The last ${maxHistory} are kept until the recording is deleted.`,
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
    next_before: z.int().nullable().meta({ description: "null: there are no more." }),
    transcribed_with: UsedSpeechModel.nullable().meta({
      description: "What generated the current transcript; null: unknown, or it was supplied.",
    }),
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
  description: "Returns an edit with the values before and after.",
  params: RecordingParams.extend({ number: z.string().regex(/^\d{1,9}$/, "must be a number") }),
  response: TranscriptEditWithChanges,
  errors: ["not_found"],
});
