import { z } from "zod";
import { Milliseconds, Uuid } from "./common.ts";
import { operation } from "./operation.ts";
import { RecordingParams } from "./recordings.ts";

/** Most segments that one correction changes. */
export const maxCorrections = 1000;

const errors = [
  "invalid_json",
  "invalid_input",
  "body_too_large",
  "forbidden",
  "not_found",
  "wrong_state",
] as const;

export const TranscriptVersion = z.int().min(0).meta({
  description:
    "The version of the transcript that the caller saw. When it has another one now, nothing is changed: 409 with the present `transcript_version`.",
});

const SegmentIndex = z.int().min(0).max(2_147_483_646).meta({
  description: "Place of the segment in the transcript, counted from 0.",
});

const SpeakerName = z.string().trim().min(1, "must not be blank").max(320);

/** Somebody who speaks in a transcript. */
export const SpeakerReference = z
  .object({ participant_id: Uuid.optional(), name: SpeakerName.optional() })
  .refine(
    ({ participant_id, name }) => (participant_id === undefined) !== (name === undefined),
    "must have either participant_id or name",
  )
  .meta({
    id: "SpeakerReference",
    description: "A participant of the recording, or by name a speaker who is no participant.",
  });
export type SpeakerReference = z.output<typeof SpeakerReference>;

export const TranscriptView = z
  .strictObject({
    transcript_version: z.int(),
    language: z.string().nullable(),
    speakers: z.array(
      z.strictObject({
        participant_id: Uuid.nullable(),
        name: z.string(),
        segments: z.int(),
        duration_ms: z.int(),
      }),
    ),
    segments: z.array(
      z.strictObject({
        index: z.int(),
        participant_id: Uuid.nullable(),
        speaker: z.string(),
        start: Milliseconds,
        end: Milliseconds,
        text: z.string(),
        is_edited: z.boolean(),
      }),
    ),
  })
  .meta({ id: "TranscriptView" });

/** What an edit did. */
export const TranscriptEditResult = z
  .strictObject({
    transcript_version: z.int().meta({ description: "To be named by the next edit." }),
    edit: z.int().nullable().meta({
      description: "Number of the edit in the history; null: nothing was different, and nothing was done.",
    }),
    segments_changed: z.int(),
  })
  .meta({ id: "TranscriptEditResult" });

const common = {
  tag: "Transcript editing",
  gate: "every_version",
  permission: "write",
  method: "POST",
  params: RecordingParams,
  response: TranscriptEditResult,
  errors,
} as const;
const base = "/_/api/v1/recordings/:recording_id/transcript";

export const getTranscriptView = operation({
  id: "getTranscriptView",
  tag: "Transcript editing",
  gate: "every_version",
  permission: "read",
  method: "GET",
  path: base,
  summary: "Get Transcript View",
  description: "The whole transcript with its version, its speakers, and which segments were edited.",
  params: RecordingParams,
  response: TranscriptView,
  errors: ["not_found"],
});

export const correctTranscript = operation({
  ...common,
  id: "correctTranscript",
  path: `${base}/corrections`,
  summary: "Correct Text",
  description: `Gives up to ${maxCorrections} segments another text. Their times stay.`,
  body: z.object({
    transcript_version: TranscriptVersion,
    segments: z
      .array(z.object({ index: SegmentIndex, text: z.string().max(20_000) }))
      .min(1, "must name at least one segment")
      .max(maxCorrections)
      .refine(
        (segments) => new Set(segments.map(({ index }) => index)).size === segments.length,
        "must name each segment once",
      ),
  }),
});

export const renameSpeaker = operation({
  ...common,
  id: "renameSpeaker",
  path: `${base}/speakers/rename`,
  summary: "Rename Speaker",
  description:
    "Gives a speaker another name throughout the transcript. A participant who speaks gets it as well.",
  body: z.object({ transcript_version: TranscriptVersion, speaker: SpeakerReference, name: SpeakerName }),
});

export const mergeSpeakers = operation({
  ...common,
  id: "mergeSpeakers",
  path: `${base}/speakers/merge`,
  summary: "Merge Speakers",
  description:
    "Gives all that some speakers say to another one: a participant of the recording, or another speaker of the transcript.",
  body: z.object({
    transcript_version: TranscriptVersion,
    from: z.array(SpeakerReference).min(1, "must name at least one speaker").max(100),
    into: SpeakerReference,
  }),
});

export const assignSegments = operation({
  ...common,
  id: "assignSegments",
  path: `${base}/assignments`,
  summary: "Assign Segments",
  description:
    "Says who spoke in some segments: a participant of the recording, or somebody by name. One range, or a list.",
  body: z
    .object({
      transcript_version: TranscriptVersion,
      from_index: SegmentIndex.optional(),
      to_index: SegmentIndex.optional().meta({ description: "The last one; included." }),
      indexes: z.array(SegmentIndex).min(1, "must name at least one segment").max(50_000).optional(),
      to: SpeakerReference,
    })
    .refine(
      ({ from_index, to_index, indexes }) =>
        indexes === undefined
          ? from_index !== undefined && to_index !== undefined
          : from_index === undefined && to_index === undefined,
      "must have either indexes, or from_index and to_index",
    )
    .refine(({ from_index, to_index }) => (from_index ?? 0) <= (to_index ?? Number.POSITIVE_INFINITY), {
      path: ["to_index"],
      message: "must not be before from_index",
    }),
});

export const undoTranscriptEdit = operation({
  ...common,
  id: "undoTranscriptEdit",
  path: `${base}/undo`,
  summary: "Undo Transcript Edit",
  description:
    "Takes back the last edit that still holds, or the one that is named, as long as nothing has changed the same places since. Naming an undo brings back what it took.",
  body: z.object({
    transcript_version: TranscriptVersion,
    edit: z.int().min(1).max(2_147_483_647).optional().meta({ description: "Number from the history." }),
  }),
});

export const EditsPolicy = z.enum(["keep", "discard"]).meta({
  description:
    "What becomes of the edits: keep writes them into the new transcript as far as its times allow, discard drops them.",
});

export const rerunTranscription = operation({
  id: "rerunTranscription",
  tag: "Transcript editing",
  gate: "every_version",
  permission: "write",
  method: "POST",
  path: "/_/api/v1/recordings/:recording_id/transcription",
  summary: "Transcribe Again",
  description:
    "Has the transcript made by the speech model, again or for the first time. One that was edited, or supplied by somebody, is replaced only with `edits`: 409 without.",
  params: RecordingParams,
  body: z.object({ edits: EditsPolicy.optional() }),
  response: z.strictObject({ status: z.literal("pending") }),
  errors,
});

/** As many segments as an upload's transcript may have. Source: contract.md, "Upload Attributes Input". */
export const maxSuppliedSegments = 50_000;

export const supplyTranscript = operation({
  ...common,
  id: "supplyTranscript",
  method: "PUT",
  path: base,
  summary: "Supply Transcript",
  description:
    "Gives a recording a transcript that was made elsewhere, in place of the one it has. A speaker whose name is a participant's is that participant. One that was edited is replaced only with `edits`: 409 without. A transcription under way ends.",
  body: z.object({
    transcript_version: TranscriptVersion,
    language: z.string().trim().min(1, "must be a language code such as en").max(35).nullable().optional(),
    segments: z
      .array(
        z
          .object({
            speaker: SpeakerName,
            start: Milliseconds.meta({ description: "Milliseconds from the start of the recording." }),
            end: Milliseconds,
            text: z.string().max(20_000),
          })
          .refine((segment) => segment.end >= segment.start, {
            path: ["end"],
            message: "must not be before start",
          }),
      )
      .min(1, "must have at least one segment")
      .max(maxSuppliedSegments),
    edits: EditsPolicy.optional(),
  }),
});
