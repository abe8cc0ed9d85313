import { z } from "zod";
import { Milliseconds, PastTimestamp, Success, Timestamp, Uuid } from "../common.ts";
import { operation } from "../operation.ts";
import { User } from "../workspace/directory.ts";
import { Chapter } from "./chapters.ts";
import { changeShape, managedShape } from "./fields.ts";
import { Point } from "./points.ts";
import { Participant, Recording, RecordingParams, RecordingTitle, recordingLimits } from "./recordings.ts";
import { TranscriptionPercent, TranscriptionStage, TranscriptionStatus } from "./transcription-state.ts";

export const changeErrors = [
  "invalid_json",
  "invalid_input",
  "body_too_large",
  "forbidden",
  "not_found",
] as const;

/** A participant in the management API, with fields beyond the contract. */
export const ManagedParticipant = Participant.extend({
  crm_contact_id: z.string().nullable(),
  phone: z.string().nullable(),
  attended: z.boolean().meta({
    description: "Whether they took part, heard or not; used by the attendance filter.",
  }),
  is_invited: z.boolean().meta({
    description:
      "true: only invited, as the calendar says, which gives no access. `attended` or `confirmed_attendee` ends that.",
  }),
  lacks_access: z.boolean().meta({
    description:
      "true: an invited user of the workspace, who can't see the recording until they are confirmed as having attended.",
  }),
}).meta({ id: "ManagedParticipant" });

const isForward = (share: { start: number; end: number }): boolean => share.end > share.start;
const forward = { path: ["end"], message: "must be after start" };

const ScreenshareInput = z
  .object({ start: Milliseconds, end: Milliseconds, participant_id: Uuid })
  .refine(isForward, forward)
  .meta({ id: "ScreenshareInput" });

/** A screenshare of an import, whose participants have no ids yet. */
export const ImportedScreenshare = z
  .object({
    start: Milliseconds,
    end: Milliseconds,
    participant: z.int().min(0).meta({ description: "Index in `participants`, from 0." }),
  })
  .refine(isForward, forward)
  .meta({ id: "ImportedScreenshare" });

export const MeetingTypeChoice = z
  .string()
  .refine(
    (text) => text === "auto" || Uuid.safeParse(text).success,
    "must be the UUID of a meeting type, or auto",
  )
  .meta({
    description:
      "Id from List Meeting Types. null: none. `auto`: the workspace's default for internal or external meetings, depending on the participants.",
  });

export const RecordingDataInput = z
  .object({
    title: RecordingTitle.optional(),
    start_datetime: PastTimestamp.optional().meta({
      description: "When the recording started; must not be in the future. The end moves with it.",
    }),
    ...changeShape,
    team_ids: z.array(Uuid).max(recordingLimits.teams).optional().meta({ description: "From List Teams." }),
    recorder_ids: z
      .array(Uuid)
      .min(1, "must name at least one user")
      .max(recordingLimits.recorders)
      .optional()
      .meta({ description: "From List Users." }),
    meeting_type_id: MeetingTypeChoice.nullable().optional(),
    screenshares: z
      .array(ScreenshareInput)
      .max(recordingLimits.screenshares)
      .nullable()
      .optional()
      .meta({ description: "The complete list; null removes all." }),
  })
  .meta({ id: "RecordingDataInput" });
export type RecordingDataInput = z.output<typeof RecordingDataInput>;

/** Status of a transcription by the speech model. */
const TranscriptionState = z
  .strictObject({
    status: TranscriptionStatus,
    stage: TranscriptionStage,
    progress: TranscriptionPercent,
    waits_for: z.string().nullable().meta({
      description: "What a running transcription waits for, for users to read; null: it is at work.",
    }),
    attempts: z.int().meta({ description: "Failed attempts since the last success." }),
    last_error: z.string().nullable(),
    canceled: z.strictObject({ by: z.string().nullable(), datetime: Timestamp }).nullable().meta({
      description:
        "Who canceled it and when; its status is then failed. `by` is the user's name, null for a workspace token.",
    }),
    next_attempt_datetime: Timestamp.nullable(),
    unclear_passages: z.int().min(0).meta({
      description: "Passages without clear speech that were left out of the transcript.",
    }),
    edits: z.enum(["keep", "discard"]).nullable().meta({
      description: "When transcribing again: whether edits of the current transcript are kept.",
    }),
    spoken_language: z.string().nullable().meta({
      description:
        "The language chosen for this recording; null: that of the meeting type or the workspace, or the model detects it.",
    }),
  })
  .meta({ id: "TranscriptionState" });

export const RecordingView = z
  .strictObject({
    recording: Recording.meta({ description: "With every include that the token may use." }),
    ...managedShape,
    participants: z.array(ManagedParticipant),
    shared_users: z.array(User).meta({ description: "Users it is shared with individually." }),
    meeting_type_is_automatic: z.boolean().meta({
      description: "true: determined by the participants; false: chosen by a user.",
    }),
    uploaded_by: User.nullable().meta({
      description:
        "The user who uploaded or imported it, regardless of the recorders; for a workspace token, the admin who issued it.",
    }),
    upload_id: Uuid.nullable().meta({ description: "The upload or import it came from." }),
    external_id: z.string().nullable().meta({ description: "Its id in the system it was imported from." }),
    transcript: z.strictObject({
      language: z.string().nullable(),
      version: z
        .int()
        .meta({ description: "Increases with every change. An edit sends the version it is based on." }),
      segments: z.int(),
      is_edited: z.boolean(),
      transcription: TranscriptionState.nullable(),
    }),
    chapters: z.array(Chapter),
    summary_points: z.array(Point).nullable().meta({
      description:
        "The points that ai_summary is a list of, each with the words that prove it; null: it was imported, or written by an earlier version.",
    }),
    section_points: z.array(z.array(Point).nullable()).meta({
      description:
        "For each of ai_template_sections, its points, items or rows in their order; null: written by an earlier version.",
    }),
    media: z
      .strictObject({
        content_type: z.enum(["video/mp4", "audio/mpeg"]),
        has_storyboard: z.boolean(),
        ends_early: z
          .strictObject({
            expected_ms: z.int().nullable().meta({
              description: "How long the recording should be; null: the file doesn't say.",
            }),
          })
          .nullable()
          .meta({ description: "Set where the file was cut off and only its beginning could be kept." }),
      })
      .nullable()
      .meta({ description: "null for a transcript-only recording. Get Media returns the URLs." }),
    can: z
      .strictObject({
        change: z.boolean(),
        share: z.boolean(),
        delete: z.boolean(),
        edit_transcript: z.boolean(),
        transcribe: z.boolean().meta({ description: "Whether the caller may start a transcription." }),
        add_highlights: z.boolean(),
        write_private_notes: z.boolean(),
        comment: z.boolean(),
      })
      .meta({ description: "The caller's permissions on it." }),
    created_datetime: Timestamp,
    updated_datetime: Timestamp,
  })
  .meta({ id: "RecordingView" });

export const getRecordingView = operation({
  id: "getRecordingView",
  tag: "Recording data",
  gate: "every_version",
  permission: "read",
  method: "GET",
  path: "/_/api/v1/recordings/:recording_id",
  summary: "Get Recording View",
  description: "Returns a recording with all its data and the caller's permissions.",
  params: RecordingParams,
  response: RecordingView,
  errors: ["not_found"],
});

export const updateRecordingData = operation({
  id: "updateRecordingData",
  tag: "Recording data",
  gate: "every_version",
  permission: "write",
  method: "PATCH",
  path: "/_/api/v1/recordings/:recording_id",
  summary: "Update Recording Data",
  description:
    "Changes a recording. Fields that are left out keep their values. Allowed for its recorders, admins and workspace tokens. Participants have their own operations.",
  params: RecordingParams,
  body: RecordingDataInput,
  response: Success,
  errors: changeErrors,
});

const Link = z.string().meta({ description: "Works without authentication until expires_datetime." });

export const RecordingMedia = z
  .strictObject({
    expires_datetime: Timestamp,
    media: z
      .strictObject({
        url: Link,
        content_type: z.enum(["video/mp4", "audio/mpeg"]),
        size_bytes: z.int(),
      })
      .nullable(),
    thumbnail_url: Link.nullable(),
    waveform_url: Link.nullable().meta({
      description: "JSON: version, duration_ms, peaks_per_second, peaks.",
    }),
    storyboard: z
      .strictObject({
        index_url: Link.meta({
          description:
            "JSON: version, tile_width, tile_height, columns, rows, interval_ms, count, sheets, times_ms.",
        }),
        sheets: z.array(z.strictObject({ name: z.string(), url: Link })),
      })
      .nullable(),
  })
  .meta({ id: "RecordingMedia" });

export const getRecordingMedia = operation({
  id: "getRecordingMedia",
  tag: "Recording data",
  gate: "every_version",
  permission: "read",
  method: "GET",
  path: "/_/api/v1/recordings/:recording_id/media",
  summary: "Get Media",
  description:
    "Returns short-lived URLs of a recording's files: media, thumbnail, waveform and storyboard, if they exist.",
  params: RecordingParams,
  response: RecordingMedia,
  errors: ["not_found"],
});
