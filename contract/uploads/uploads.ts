import { z } from "zod";
import { parseTimestamp } from "../../shared/times/timestamp.ts";
import {
  fitsTranscript,
  maxSegments,
  maxTranscriptCharacters,
  SegmentText,
  transcriptTooLong,
} from "../../shared/transcripts/transcript-limits.ts";
import { FailureCauses } from "../causes/causes.ts";
import { CursorInput, Milliseconds, NextCursor, Timestamp, TimestampInput, Uuid } from "../common.ts";
import { operation } from "../operation.ts";
import { MediaType } from "../recordings/recordings.ts";

export const UploadStatus = z.enum([
  "initial",
  "awaiting",
  "processing",
  "staged",
  "promoting",
  "success",
  "failure",
]);
export type UploadStatus = z.infer<typeof UploadStatus>;

/** Where and how to send the file of an awaiting upload. */
export const UploadTarget = z.strictObject({
  url: z.string().meta({ description: "Target of the file PUT." }),
  expires_at: Timestamp,
  headers: z.record(z.string(), z.string()).meta({ description: "Headers required on the PUT." }),
  max_duration_sec: z.int(),
  max_upload_bytes: z.int(),
  tus_url: z.string().meta({
    description:
      "Alternative endpoint for a resumable upload in chunks with the tus 1.0 protocol (https://tus.io).",
  }),
});

export const UploadMedia = z
  .union([
    z.strictObject({ status: z.enum(["awaiting", "url_expired"]), upload: UploadTarget }),
    z.strictObject({ status: z.literal("processing") }),
    z.strictObject({ status: z.enum(["uploaded", "media_expired"]), expires_at: Timestamp }),
  ])
  .meta({ id: "UploadMedia" });

const nullableString = z.string().nullable();

export const UploadAttributes = z
  .strictObject({
    title: z.string(),
    start_datetime: Timestamp.nullable().optional(),
    team_id: Uuid.nullable().optional(),
    recorder_ids: z.array(Uuid).optional(),
    participants: z
      .array(
        z.strictObject({
          name: nullableString,
          email: nullableString,
          phone: nullableString,
          speaker_key: nullableString,
        }),
      )
      .optional(),
    transcript: z
      .strictObject({
        language: z.string(),
        segments: z.array(
          z.strictObject({
            speaker_key: z.string(),
            start: Milliseconds,
            end: Milliseconds,
            text: z.string(),
          }),
        ),
        anonymous_speakers: z.array(z.strictObject({ speaker_key: z.string(), name: z.string() })),
      })
      .optional(),
  })
  .meta({ id: "UploadAttributes", description: "With include.attributes or include.transcript." });

export const Upload = z
  .strictObject({
    id: Uuid,
    media_type: MediaType,
    title: z.string(),
    status: UploadStatus,
    auto_promote: z.boolean(),
    recording_id: Uuid.nullable().meta({ description: "Set only once status is success." }),
    created_datetime: Timestamp,
    updated_datetime: Timestamp,
    attributes: UploadAttributes.optional(),
    media: UploadMedia.optional(),
    failure: z
      .strictObject({ reason: z.string(), causes: FailureCauses.optional() })
      .optional()
      .meta({ description: "Present only while status is failure." }),
  })
  .meta({ id: "Upload" });

export const UploadInclude = z
  .object({
    attributes: z.boolean().optional().meta({ description: "The attributes except the transcript." }),
    transcript: z.boolean().optional(),
  })
  .meta({ id: "UploadInclude" });
export type UploadIncludeInput = z.output<typeof UploadInclude>;

const participantText = z.string().max(320).nullable().optional();

/** Contract: "each needs at least one of name, email, phone". */
export const UploadParticipantInput = z
  .object({
    name: participantText,
    email: participantText,
    phone: participantText,
    speaker_key: z
      .string()
      .max(500)
      .nullable()
      .optional()
      .meta({ description: "Matches the speaker_key of transcript segments." }),
  })
  .refine(
    (participant) => [participant.name, participant.email, participant.phone].some((text) => text?.trim()),
    {
      message: "must have at least one of name, email or phone",
    },
  );

export const TranscriptInput = z.object({
  language: z.string().trim().min(1, "must be a language code such as en").max(35),
  segments: z
    .array(
      z
        .object({
          speaker_key: z.string().max(500),
          start: Milliseconds.meta({ description: "Milliseconds from the start of the recording." }),
          end: Milliseconds,
          text: SegmentText,
        })
        .refine((segment) => segment.end >= segment.start, {
          path: ["end"],
          message: "must not be before start",
        }),
    )
    .max(maxSegments)
    .refine(fitsTranscript, transcriptTooLong)
    .meta({
      description: `At most ${maxSegments} segments with ${maxTranscriptCharacters} characters of text in all.`,
    }),
});
export type TranscriptInput = z.output<typeof TranscriptInput>;

export const UploadAttributesInput = z
  .object({
    title: z.string().max(500).nullable().optional().meta({ description: "Generated when not given." }),
    start_datetime: TimestampInput.refine(
      (text) => (parseTimestamp(text)?.getTime() ?? 0) <= Date.now(),
      "must not be in the future",
    )
      .nullable()
      .optional()
      .meta({ description: "When the recording took place; must not be in the future." }),
    team_id: Uuid.nullable().optional().meta({ description: "Team to attach the recording to." }),
    recorder_ids: z.array(Uuid).max(1000).optional().meta({
      description: "Users credited as recorders, from List Users; required for workspace tokens.",
    }),
    participants: z.array(UploadParticipantInput).max(500).optional(),
    transcript: TranscriptInput.optional().meta({ description: "Required for media_type transcript." }),
  })
  .meta({ id: "UploadAttributesInput" });
export type UploadAttributesInput = z.output<typeof UploadAttributesInput>;

export const UploadParams = z.object({ upload_id: Uuid });

export const createUpload = operation({
  id: "createUpload",
  tag: "Uploads",
  gate: "staged_uploads",
  permission: "write",
  method: "POST",
  path: "/_/public-api/v2/uploads/create",
  summary: "Create Upload",
  description: "Creates an upload that becomes a recording.",
  body: z.object({
    media_type: MediaType,
    auto_promote: z.boolean().optional().meta({
      description: "true (default): promoted automatically; false: stays staged until promoted.",
    }),
    include: UploadInclude.optional(),
    attributes: UploadAttributesInput.optional().meta({
      description: "Required when media_type is transcript.",
    }),
  }),
  response: Upload,
  errors: ["invalid_json", "invalid_input", "body_too_large", "quota_exceeded"],
});

export const listUploads = operation({
  id: "listUploads",
  tag: "Uploads",
  gate: "staged_uploads",
  permission: "read",
  method: "POST",
  path: "/_/public-api/v2/uploads",
  summary: "List Uploads",
  description: "Lists uploads of the token's scope, newest first, paginated.",
  body: z.object({
    cursor: CursorInput.optional(),
    include: UploadInclude.optional(),
    filter: z.object({ media_type: MediaType.optional() }).meta({ id: "UploadFilter" }).optional(),
  }),
  response: z.strictObject({ uploads: z.array(Upload), cursor: NextCursor }),
  errors: ["invalid_json", "invalid_input", "invalid_cursor", "body_too_large"],
});

export const getUpload = operation({
  id: "getUpload",
  tag: "Uploads",
  gate: "staged_uploads",
  permission: "read",
  method: "POST",
  path: "/_/public-api/v2/uploads/:upload_id",
  summary: "Get Upload",
  description: "Returns an upload.",
  params: UploadParams,
  body: z.object({ include: UploadInclude.optional() }),
  response: Upload,
  errors: ["invalid_json", "invalid_input", "body_too_large", "not_found"],
});

export const updateUpload = operation({
  id: "updateUpload",
  tag: "Uploads",
  gate: "staged_uploads",
  permission: "write",
  method: "PATCH",
  path: "/_/public-api/v2/uploads/:upload_id",
  summary: "Update Upload",
  description:
    "Changes an upload's attributes. Attributes that are left out keep their values. Allowed in status awaiting, or staged with auto_promote false.",
  params: UploadParams,
  body: z.object({ attributes: UploadAttributesInput.optional(), include: UploadInclude.optional() }),
  response: Upload,
  errors: ["invalid_json", "invalid_input", "body_too_large", "not_found", "wrong_state"],
});

export const promoteUpload = operation({
  id: "promoteUpload",
  tag: "Uploads",
  gate: "staged_uploads",
  permission: "write",
  method: "POST",
  path: "/_/public-api/v2/uploads/:upload_id/promote",
  summary: "Promote Upload",
  description: "Promotes a staged upload with auto_promote false to a recording.",
  params: UploadParams,
  body: z.object({ include: UploadInclude.optional() }),
  response: Upload,
  errors: ["invalid_json", "invalid_input", "body_too_large", "not_found", "wrong_state"],
});

/** The one-step upload operation. Source: contract.md, "Upload Recording". */
export const uploadRecording = operation({
  id: "uploadRecording",
  tag: "Recordings",
  gate: "one_step_upload",
  permission: "write",
  method: "POST",
  path: "/_/public-api/v2/recordings/upload",
  summary: "Upload Recording",
  description: "Creates an upload of a .mov, .mp4, .mp3 or .m4a file that becomes a recording.",
  body: z.object({
    filename: z.string().min(1).max(500),
    user_id: Uuid.optional().meta({ description: "The owner; required for workspace tokens." }),
  }),
  response: z
    .strictObject({ uuid: Uuid, url: z.string(), max_duration_sec: z.int(), max_upload_bytes: z.int() })
    .meta({ id: "OneStepUpload" }),
  errors: ["invalid_json", "invalid_input", "body_too_large", "quota_exceeded"],
});
