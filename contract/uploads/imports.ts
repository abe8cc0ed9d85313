import { z } from "zod";
import { mediaFormats } from "../../shared/files/media-formats.ts";
import { FailureCauses } from "../causes/causes.ts";
import { PastTimestamp, Timestamp, TimestampInput, Uuid } from "../common.ts";
import { operation } from "../operation.ts";
import { importShape } from "../recordings/fields.ts";
import { maxHighlights, NewHighlight } from "../recordings/highlight-operations.ts";
import {
  isNamed,
  leaveRule,
  leavesAfterJoining,
  nameRule,
  participantFields,
} from "../recordings/participants.ts";
import { maxNotesCharacters } from "../recordings/private-notes.ts";
import { ImportedScreenshare, MeetingTypeChoice } from "../recordings/recording-data.ts";
import { MediaType, recordingLimits } from "../recordings/recordings.ts";
import { SpokenLanguage } from "../workspace/spoken-language.ts";
import { TranscriptInput, UploadStatus, UploadTarget } from "./uploads.ts";

const ImportedParticipant = z
  .object({
    ...participantFields,
    speaker_key: z
      .string()
      .max(500)
      .nullable()
      .optional()
      .meta({ description: "Matches the speaker_key of transcript segments." }),
    is_invited: z.boolean().optional().meta({
      description:
        "true: only invited, by a calendar. Without access to the recording, and not among those who attended, until a user confirms that they did.",
    }),
  })
  .refine(isNamed, nameRule)
  .refine(leavesAfterJoining, leaveRule)
  .meta({ id: "ImportedParticipant" });

/** More files are not parts of one meeting. */
const maxParts = 20;

const AudioTrackChoice = z.enum(["mix", "speakers", "ask"]);

/** What the sender knows about a file. */
const fileFields = {
  name: z.string().max(1000).optional().meta({
    description:
      "Name of the file, with its folder if known. Recording programs write the start time into it, which is used when `start_datetime` is not given and the file itself states none.",
  }),
  modified_datetime: TimestampInput.optional().meta({
    description:
      "When the file was last changed: where nothing else says when the recording started, its end.",
  }),
  time_zone: z.string().max(100).optional().meta({
    description: "Time zone of the times in names, such as Europe/Berlin. Default: that of the server.",
  }),
  audio_tracks: AudioTrackChoice.optional().meta({
    description:
      "What becomes of several audio tracks: `mix` (default), `speakers` (mixed for playback, and each track transcribed as one speaker; up to 8 tracks), or `ask`: the import waits for its review.",
  }),
  parts: z
    .array(
      z.object({
        bytes: z.int().min(1),
        speaker: z.string().max(320).nullable().optional().meta({
          description: "The file is the separate sound of this speaker, and not a part of the recording.",
        }),
      }),
    )
    .min(2)
    .max(maxParts)
    .optional()
    .meta({
      description:
        "Several files sent as one, one behind the other: the length of each. They are joined to one recording in this order.",
    }),
};
const ImportedNotes = z.string().trim().min(1, "must not be blank").max(maxNotesCharacters).meta({
  description:
    "Private notes of the caller on the recording, such as the chat of the meeting. Not for workspace tokens.",
});
const ImportedHighlights = z.array(NewHighlight).max(maxHighlights).meta({
  description:
    "Highlights of the recording, created with it by the import's creator. Ranges that exceed the file are cut at its end.",
});

export const ImportInput = z
  .object({
    external_id: z.string().trim().min(1, "must not be blank").max(200).optional().meta({
      description:
        "Id of the recording in the system it comes from, which makes the request idempotent: repeating it returns the existing import. Unique per user; workspace tokens share one namespace.",
    }),
    media: z
      .object({
        format: z.enum(mediaFormats).optional().meta({
          description:
            "Format that the file most likely has: the extension of its name. Default: that of `url` or `name`. The content decides what the file is and how it is converted.",
        }),
        url: z.string().max(1000).optional().meta({
          description:
            "A file in the server's own object store, below `imports/<workspace id>/`: its key, or s3://bucket/key. Admins and workspace tokens only. Left out: the response says where to send the file.",
          example: "imports/0198c2f4-7a31-7cc2-9d52-3f0f7f3c9a11/2024/board.mp4",
        }),
        ...fileFields,
      })
      .optional()
      .meta({ description: "Left out: a recording with a transcript only." }),
    auto_promote: z.boolean().optional().meta({
      description:
        "false: the import stays staged, for its review, until Promote Upload is called with its id. Default: true.",
    }),
    title: z.string().max(500).optional().meta({
      description:
        "Default: the title stored in the file, unless that is the name of a program; otherwise the name of the file without extension; otherwise the kind of recording and its date.",
    }),
    start_datetime: PastTimestamp.optional().meta({ description: "When the recording started." }),
    ...importShape,
    team_ids: z.array(Uuid).max(recordingLimits.teams).optional().meta({ description: "From List Teams." }),
    recorder_ids: z.array(Uuid).max(recordingLimits.recorders).optional().meta({
      description: "From List Users; required for workspace tokens. Left out: the caller.",
    }),
    meeting_type_id: MeetingTypeChoice.optional(),
    spoken_language: SpokenLanguage.optional(),
    participants: z.array(ImportedParticipant).max(recordingLimits.participants).optional(),
    screenshares: z.array(ImportedScreenshare).max(recordingLimits.screenshares).optional().meta({
      description: "Ranges that exceed the file are cut at its end.",
    }),
    highlights: ImportedHighlights.optional(),
    notes: ImportedNotes.optional(),
    transcript: TranscriptInput.optional().meta({ description: "Required without media." }),
  })
  .meta({ id: "ImportInput" });
export type ImportInput = z.output<typeof ImportInput>;

export const Import = z
  .strictObject({
    id: Uuid.meta({ description: "Also the id of its upload, which hooks report." }),
    external_id: z.string().nullable(),
    media_type: MediaType,
    title: z.string(),
    status: UploadStatus.meta({
      description: "The upload's status: awaiting, processing, promoting, success or failure.",
    }),
    recording_id: Uuid.nullable().meta({ description: "Set once status is success." }),
    upload: UploadTarget.nullable().meta({
      description: "Where to send the file; null unless the status is awaiting.",
    }),
    file_bytes: z.int().nullable().meta({
      description:
        "Size of the file that a resumable upload has sent, once the server has all of it. A recording made in the browser that stops arriving for 30 days ends with the bytes that had arrived by then.",
    }),
    failure: z.strictObject({ reason: z.string(), causes: FailureCauses.optional() }).nullable(),
    notice: z.string().nullable().meta({
      description: "What the sender should know about the file, such as that it ends early.",
    }),
    auto_promote: z.boolean(),
    progress: z.number().nullable().meta({
      description: "How much of the conversion is done, from 0 to 1; null while nothing is converted.",
    }),
    start: z
      .strictObject({ datetime: Timestamp, from: z.enum(["container", "name", "modified", "user"]) })
      .nullable()
      .meta({
        description: "When the recording started, and how that is known. Null until the file is checked.",
      }),
    audio_tracks: z
      .strictObject({
        choice: AudioTrackChoice,
        tracks: z.array(
          z.strictObject({
            title: z.string().nullable(),
            language: z.string().nullable(),
            channels: z.int(),
          }),
        ),
      })
      .nullable()
      .meta({ description: "Set where the file has several audio tracks." }),
    notes: z.string().nullable().meta({
      description:
        "The caller's private notes, which the recording gets. Null without any, once the import has ended, and for workspace tokens.",
    }),
    created_datetime: Timestamp,
  })
  .meta({ id: "Import" });

export const importRecording = operation({
  id: "importRecording",
  tag: "Imports",
  gate: "every_version",
  permission: "write",
  method: "POST",
  path: "/_/api/v1/recordings",
  summary: "Import Recording",
  description:
    "Imports a recording from another system with its metadata: a transcript, or a media file that is in the object store already or is sent next. The file is validated and converted like every upload. See Get Import for its status.",
  body: ImportInput,
  response: Import.extend({
    created: z.boolean().meta({ description: "false: an import with this external_id exists already." }),
  }).meta({ id: "ImportResult" }),
  errors: ["invalid_json", "invalid_input", "body_too_large", "forbidden", "quota_exceeded"],
});

export const getImport = operation({
  id: "getImport",
  tag: "Imports",
  gate: "every_version",
  permission: "read",
  method: "GET",
  path: "/_/api/v1/imports/:import_id",
  summary: "Get Import",
  description:
    "Returns an import's status. Users see their own imports, workspace tokens those of the workspace.",
  params: z.object({ import_id: Uuid }),
  response: Import,
  errors: ["not_found"],
});

export const updateImport = operation({
  id: "updateImport",
  tag: "Imports",
  gate: "every_version",
  permission: "write",
  method: "PATCH",
  path: "/_/api/v1/imports/:import_id",
  summary: "Update Import",
  description:
    "Changes the given fields and keeps the others: what becomes of several audio tracks, the highlights of the recording, which a recording made in the browser gets while it is uploaded, and its notes. Removes a transcript. Allowed in status awaiting, or staged with auto_promote false. Title, start time, participants and transcript are changed by Update Upload.",
  params: z.object({ import_id: Uuid }),
  body: z.object({
    audio_tracks: AudioTrackChoice.nullish(),
    highlights: ImportedHighlights.nullish(),
    notes: ImportedNotes.nullish().meta({
      description: "null: removes the notes. Not for workspace tokens.",
    }),
    transcript: z.null().optional().meta({
      description: "null: removes the transcript, unless the import has nothing else.",
    }),
  }),
  response: Import,
  errors: ["invalid_json", "invalid_input", "body_too_large", "forbidden", "not_found", "wrong_state"],
});
