import { z } from "zod";
import {
  fitsTranscript,
  maxMilliseconds,
  maxSegmentCharacters,
  maxSegments,
  maxSubtitleCharacters,
  maxTranscriptCharacters,
  SegmentText,
  transcriptTooLong,
} from "../../shared/transcripts/transcript-limits.ts";
import { Milliseconds, Success, Uuid } from "../common.ts";
import { operation } from "../operation.ts";
import { RecordingParams } from "../recordings/recordings.ts";
import { SpokenLanguage } from "../workspace/spoken-language.ts";

/** Maximum number of segments per correction. */
const maxCorrections = 1000;

const errors = [
  "invalid_json",
  "invalid_input",
  "body_too_large",
  "forbidden",
  "not_found",
  "wrong_state",
] as const;

const TranscriptVersion = z.int().min(0).meta({
  description:
    "The transcript version that the edit is based on. If the transcript has changed since, nothing is changed: 409 with the current `transcript_version`.",
});

const SegmentIndex = z.int().min(0).max(2_147_483_646).meta({
  description: "Index of the segment in the transcript, from 0.",
});

const SpeakerName = z.string().trim().min(1, "must not be blank").max(320);

/** A speaker of a transcript. */
export const SpeakerReference = z
  .object({ participant_id: Uuid.optional(), name: SpeakerName.optional() })
  .refine(
    ({ participant_id, name }) => (participant_id === undefined) !== (name === undefined),
    "must have either participant_id or name",
  )
  .meta({
    id: "SpeakerReference",
    description: "A participant of the recording, or another speaker by name.",
  });
export type SpeakerReference = z.output<typeof SpeakerReference>;

export const TranscriptView = z
  .strictObject({
    transcript_version: z.int(),
    language: z.string().nullable(),
    has_word_times: z.boolean().meta({ description: "Whether it is known of any word when it was spoken." }),
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
        words: z
          .array(
            z.strictObject({
              text: z.string(),
              start: Milliseconds.nullable(),
              end: Milliseconds.nullable(),
            }),
          )
          .optional()
          .meta({
            description:
              "With `words=true`: the words of the text and when each was spoken, in milliseconds from the start of the recording. `start` and `end` are null where the time is not known, as for words that a correction added. Empty if the transcript came without the times of words.",
          }),
      }),
    ),
  })
  .meta({ id: "TranscriptView" });

export const TranscriptEditResult = z
  .strictObject({
    transcript_version: z.int().meta({ description: "The version to send with the next edit." }),
    edit: z.int().nullable().meta({
      description: "Number of the edit in the history; null if nothing changed.",
    }),
    segments_changed: z.int(),
  })
  .meta({ id: "TranscriptEditResult" });

const TranscriptSupplyResult = TranscriptEditResult.extend({
  unread: z
    .strictObject({
      count: z.int(),
      first: z.array(z.strictObject({ line: z.int().nullable(), reason: z.string() })),
    })
    .meta({
      description:
        "What of `webvtt` could not be read: the number of cues and other parts, and the first of them with their lines. The rest is in the transcript.",
    }),
}).meta({ id: "TranscriptSupplyResult" });

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
  description:
    "Returns the transcript with its version, its speakers and which segments were edited; with `words=true` also when each word was spoken.",
  params: RecordingParams,
  query: z.object({ words: z.enum(["true", "false"]).optional() }),
  response: TranscriptView,
  errors: ["not_found"],
});

const Moment = z
  .string()
  .regex(/^\d{1,10}$/, "must be milliseconds from the start of the recording")
  .transform((text) => Math.min(Number(text), maxMilliseconds));

/** Maximum characters of a part of a transcript: about 15,000 tokens, which fits an assistant's context. */
export const maxPartCharacters = 60_000;

export const readTranscriptPart = operation({
  id: "readTranscriptPart",
  tag: "Transcript editing",
  gate: "every_version",
  permission: "read",
  method: "GET",
  path: `${base}/part`,
  summary: "Read Transcript Part",
  description: `Returns the segments that touch a range of time, in order, with at most ${maxPartCharacters} characters. Its cost depends on the range, not on the transcript.`,
  params: RecordingParams,
  query: z.object({ from_ms: Moment.optional(), to_ms: Moment.optional() }),
  response: z.strictObject({
    segments: z.array(
      z.strictObject({ speaker: z.string(), start: Milliseconds, end: Milliseconds, text: z.string() }),
    ),
    next_from_ms: Milliseconds.nullable().meta({
      description: "`from_ms` of the next part; null: the range is complete.",
    }),
  }),
  errors: ["invalid_input", "not_found"],
});

export const getWordCues = operation({
  id: "getWordCues",
  tag: "Transcript editing",
  gate: "every_version",
  permission: "read",
  method: "GET",
  path: `${base}/words.vtt`,
  summary: "Transcript With Word Times as WebVTT",
  description:
    "Returns the transcript as WebVTT with a timestamp before each word whose time is known, which players use to show the words as they are spoken.",
  params: RecordingParams,
  response: { contentType: "text/vtt", description: "WebVTT with `<v Speaker>` voices and word timestamps." },
  errors: ["not_found"],
});

export const correctTranscript = operation({
  ...common,
  id: "correctTranscript",
  path: `${base}/corrections`,
  summary: "Correct Text",
  description: `Replaces the text of up to ${maxCorrections} segments. Their times stay the same.`,
  body: z.object({
    transcript_version: TranscriptVersion,
    segments: z
      .array(z.object({ index: SegmentIndex, text: SegmentText }))
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
    "Renames a speaker throughout the transcript. If the speaker is a participant, the participant is renamed too.",
  body: z.object({ transcript_version: TranscriptVersion, speaker: SpeakerReference, name: SpeakerName }),
});

export const mergeSpeakers = operation({
  ...common,
  id: "mergeSpeakers",
  path: `${base}/speakers/merge`,
  summary: "Merge Speakers",
  description:
    "Assigns all segments of some speakers to another: a participant of the recording, or another speaker of the transcript.",
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
    "Assigns segments, given as a range or a list, to a participant of the recording or to a speaker by name.",
  body: z
    .object({
      transcript_version: TranscriptVersion,
      from_index: SegmentIndex.optional(),
      to_index: SegmentIndex.optional().meta({ description: "The last segment, inclusive." }),
      indexes: z.array(SegmentIndex).min(1, "must name at least one segment").max(maxSegments).optional(),
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
    "Undoes the last edit, or the given one, unless the same segments have changed since. Undoing an undo restores the edit.",
  body: z.object({
    transcript_version: TranscriptVersion,
    edit: z.int().min(1).max(2_147_483_647).optional().meta({ description: "Number from the history." }),
  }),
});

const EditsPolicy = z.enum(["keep", "discard"]).meta({
  description:
    "Whether to keep existing edits: `keep` applies them to the new transcript where the times match, `discard` drops them.",
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
    "Transcribes the recording with the speech model, again or for the first time. Replacing an edited or supplied transcript requires `edits`; without it returns 409.",
  params: RecordingParams,
  body: z.object({
    edits: EditsPolicy.optional(),
    spoken_language: SpokenLanguage.optional(),
  }),
  response: z.strictObject({ status: z.literal("pending") }),
  errors,
});

export const cancelTranscription = operation({
  id: "cancelTranscription",
  tag: "Transcript editing",
  gate: "every_version",
  permission: "write",
  method: "DELETE",
  path: "/_/api/v1/recordings/:recording_id/transcription",
  summary: "Cancel Transcription",
  description:
    "Cancels a transcription that is queued or running. The current transcript stays. Transcribe Again resumes with the parts that were finished.",
  params: RecordingParams,
  response: Success,
  errors: ["forbidden", "not_found", "wrong_state"],
});

export const supplyTranscript = operation({
  ...common,
  id: "supplyTranscript",
  method: "PUT",
  path: base,
  summary: "Supply Transcript",
  description:
    "Replaces a recording's transcript with one from elsewhere. Speakers are matched to participants by name. Replacing an edited transcript requires `edits`; without it returns 409. A running transcription is canceled.",
  body: z
    .object({
      transcript_version: TranscriptVersion,
      language: z.string().trim().min(1, "must be a language code such as en").max(35).nullable().optional(),
      segments: z
        .array(
          z
            .object({
              speaker: SpeakerName,
              start: Milliseconds.meta({ description: "Milliseconds from the start of the recording." }),
              end: Milliseconds,
              text: SegmentText,
              words: z
                .array(z.object({ text: z.string().max(320), start: Milliseconds, end: Milliseconds }))
                .max(maxSegmentCharacters)
                .optional()
                .meta({
                  description:
                    "When the words of the text were spoken, in milliseconds from the start of the recording. Words whose times are outside the segment or overlap an earlier word are kept without a time.",
                }),
            })
            .refine((segment) => segment.end >= segment.start, {
              path: ["end"],
              message: "must not be before start",
            }),
        )
        .min(1, "must have at least one segment")
        .max(maxSegments)
        .refine(fitsTranscript, transcriptTooLong)
        .meta({
          description: `At most ${maxSegments} segments with ${maxTranscriptCharacters} characters of text in all.`,
        })
        .optional(),
      webvtt: z.string().max(maxSubtitleCharacters).optional().meta({
        description:
          "The transcript as WebVTT, SubRip, SBV, TTML or SubStation Alpha instead of `segments`. Speakers come from voice tags such as `<v Ada>`, or from `Ada: ` at the start of a line if the file names speakers that way; word timestamps are kept. A cue that can't be read, or that is after the end of the recording, is counted in `unread`.",
      }),
      edits: EditsPolicy.optional(),
    })
    .refine(
      ({ segments, webvtt }) => (segments === undefined) !== (webvtt === undefined),
      "must have either segments or webvtt",
    ),
  response: TranscriptSupplyResult,
});
