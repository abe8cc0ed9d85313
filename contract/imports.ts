import { z } from "zod";
import { Timestamp, Uuid } from "./common.ts";
import { operation } from "./operation.ts";
import { isNamed, leaveRule, leavesAfterJoining, nameRule, participantFields } from "./participants.ts";
import {
  CalendarEventInput,
  CrmInput,
  ImportedScreenshare,
  MeetingTypeChoice,
  most,
  PastTimestamp,
  TagsInput,
} from "./recording-data.ts";
import { MediaType, ShareState, Source } from "./recordings.ts";
import { TranscriptInput, UploadStatus, UploadTarget } from "./uploads.ts";

/** What files are taken: those of the older upload operation; what does not fit the rules is converted. */
export const mediaFormats = ["mp4", "mov", "mp3", "m4a"] as const;

const ImportedParticipant = z
  .object({
    ...participantFields,
    speaker_key: z
      .string()
      .max(500)
      .nullable()
      .optional()
      .meta({ description: "Matches the speaker_key of transcript segments." }),
  })
  .refine(isNamed, nameRule)
  .refine(leavesAfterJoining, leaveRule)
  .meta({ id: "ImportedParticipant" });

export const ImportInput = z
  .object({
    external_id: z.string().trim().min(1, "must not be blank").max(200).optional().meta({
      description:
        "Its name on the side it comes from. Sent again with the same one, nothing is made and the answer is the import that there is. Each person has names of their own, workspace tokens have them in common.",
    }),
    media: z
      .object({
        format: z.enum(mediaFormats).optional().meta({
          description: "What the file is. Required, unless url ends in it.",
        }),
        url: z.string().max(1000).optional().meta({
          description:
            "A file in the server's own object store, below `imports/<workspace id>/`: its key, or s3://bucket/key. For admins and workspace tokens. Left out: the answer says where to send the file.",
          example: "imports/0198c2f4-7a31-7cc2-9d52-3f0f7f3c9a11/2024/board.mp4",
        }),
      })
      .optional()
      .meta({ description: "Left out: a transcript alone." }),
    title: z.string().max(500).optional().meta({ description: "Generated when not given." }),
    start_datetime: PastTimestamp.optional().meta({ description: "When the recording began." }),
    source: Source.optional().meta({ description: "Default: other." }),
    share_state: ShareState.optional().meta({ description: "Default: as for every new recording." }),
    tags: TagsInput.optional(),
    team_ids: z.array(Uuid).max(most.teams).optional().meta({ description: "From List Teams." }),
    recorder_ids: z.array(Uuid).max(most.recorders).optional().meta({
      description: "From List Users; required for workspace tokens. Left out: the caller.",
    }),
    meeting_type_id: MeetingTypeChoice.optional(),
    calendar_event: CalendarEventInput.optional(),
    crm: CrmInput.optional(),
    participants: z.array(ImportedParticipant).max(most.participants).optional(),
    screenshares: z.array(ImportedScreenshare).max(most.screenshares).optional().meta({
      description: "Those of a file are cut at its end.",
    }),
    transcript: TranscriptInput.optional().meta({ description: "Required without media." }),
  })
  .meta({ id: "ImportInput" });
export type ImportInput = z.output<typeof ImportInput>;

export const Import = z
  .strictObject({
    id: Uuid.meta({ description: "Also the id of the upload it is; uploads have hooks." }),
    external_id: z.string().nullable(),
    media_type: MediaType,
    title: z.string(),
    status: UploadStatus.meta({
      description: "As of an upload: awaiting its file, processing, promoting, success or failure.",
    }),
    recording_id: Uuid.nullable().meta({ description: "Set once status is success." }),
    upload: UploadTarget.nullable().meta({
      description: "Where to send the file, while it is awaited from the caller.",
    }),
    failure: z.strictObject({ reason: z.string() }).nullable(),
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
    "Brings in a recording made elsewhere, with all that is known of it: a transcript, or a file that lies in the object store or is sent next. The file is checked and converted as every upload is. Get Import tells how it goes.",
  body: ImportInput,
  response: Import.extend({
    created: z.boolean().meta({ description: "false: it was here already, by its external_id." }),
  }).meta({ id: "ImportAnswer" }),
  errors: ["invalid_json", "invalid_input", "body_too_large", "forbidden"],
});

export const getImport = operation({
  id: "getImport",
  tag: "Imports",
  gate: "every_version",
  permission: "read",
  method: "GET",
  path: "/_/api/v1/imports/:import_id",
  summary: "Get Import",
  description: "How an import goes. People see their own, workspace tokens those of the whole workspace.",
  params: z.object({ import_id: Uuid }),
  response: Import,
  errors: ["not_found"],
});
