import { z } from "zod";
import { Milliseconds, parseTimestamp, Success, Timestamp, TimestampInput, Uuid } from "./common.ts";
import { User } from "./directory.ts";
import { operation } from "./operation.ts";
import {
  Participant,
  Recording,
  RecordingParams,
  RecordingTitle,
  ShareState,
  Source,
  Tag,
} from "./recordings.ts";

export const changeErrors = [
  "invalid_json",
  "invalid_input",
  "body_too_large",
  "forbidden",
  "not_found",
] as const;

/** More than these no list of a recording holds. */
export const most = {
  tags: 200,
  teams: 100,
  recorders: 1000,
  participants: 500,
  screenshares: 1000,
} as const;

/** Participants as the management API shows them: with what the contract leaves out. */
export const ManagedParticipant = Participant.extend({
  crm_contact_id: z.string().nullable(),
  phone: z.string().nullable(),
  attended: z.boolean().meta({
    description: "Took part as far as is known, heard or not; the attendance filter goes by it.",
  }),
}).meta({ id: "ManagedParticipant" });

/** A time in the past, as a client may write it. */
export const PastTimestamp = TimestampInput.refine(
  (text) => (parseTimestamp(text)?.getTime() ?? 0) <= Date.now(),
  "must not be in the future",
);

/** A time as the service keeps it. */
export function toTimestamp(text: string): string {
  const instant = parseTimestamp(text);
  if (instant === null) throw new TypeError("the schema lets only timestamps through");
  return instant.toISOString();
}

/** Whether one time comes before another, as far as both are known; what is no time is another rule's matter. */
export function isInOrder(first: string | null | undefined, second: string | null | undefined): boolean {
  const [from, to] = [parseTimestamp(first ?? ""), parseTimestamp(second ?? "")];
  return from === null || to === null || from < to;
}

const ScheduledTime = TimestampInput.nullable().default(null);

export const CalendarEventInput = z
  .object({
    ical_uid: z.string().trim().min(1, "must not be blank").max(1000).nullable().default(null),
    scheduled_start_datetime: ScheduledTime,
    scheduled_end_datetime: ScheduledTime,
  })
  .refine(({ scheduled_start_datetime: start, scheduled_end_datetime: end }) => isInOrder(start, end), {
    path: ["scheduled_end_datetime"],
    message: "must be after scheduled_start_datetime",
  })
  .meta({ id: "CalendarEventInput" });
export type CalendarEventInput = z.output<typeof CalendarEventInput>;

const CrmId = z.string().trim().min(1, "must not be blank").max(200);
const CrmIds = z.array(CrmId).max(100).default([]);

export const CrmInput = z.object({ crm_company_ids: CrmIds, crm_deal_ids: CrmIds }).meta({ id: "CrmInput" });
export type CrmInput = z.output<typeof CrmInput>;

const isForward = (share: { start: number; end: number }): boolean => share.end > share.start;
const forward = { path: ["end"], message: "must be after start" };

export const ScreenshareInput = z
  .object({ start: Milliseconds, end: Milliseconds, participant_id: Uuid })
  .refine(isForward, forward)
  .meta({ id: "ScreenshareInput" });

/** In an import, whose participants have no ids yet. */
export const ImportedScreenshare = z
  .object({
    start: Milliseconds,
    end: Milliseconds,
    participant: z.int().min(0).meta({ description: "Place in `participants`, counted from 0." }),
  })
  .refine(isForward, forward)
  .meta({ id: "ImportedScreenshare" });

export const TagsInput = z
  .array(Tag)
  .max(most.tags)
  .meta({ description: "The order is kept, and one that comes twice counts once." });

/** `auto` leaves it to the participants' scopes. */
export const MeetingTypeChoice = z
  .string()
  .refine(
    (text) => text === "auto" || Uuid.safeParse(text).success,
    "must be the UUID of a meeting type, or auto",
  )
  .meta({
    description:
      "A meeting type from List Meeting Types. null: none. `auto`: the workspace's default for internal or external meetings, by the participants.",
  });

export const RecordingDataInput = z
  .object({
    title: RecordingTitle.optional(),
    start_datetime: PastTimestamp.optional().meta({
      description: "When the recording began; must not be in the future. The end moves along.",
    }),
    source: Source.optional(),
    share_state: ShareState.optional(),
    tags: TagsInput.optional(),
    team_ids: z.array(Uuid).max(most.teams).optional().meta({ description: "From List Teams." }),
    recorder_ids: z
      .array(Uuid)
      .min(1, "must name at least one user")
      .max(most.recorders)
      .optional()
      .meta({ description: "From List Users." }),
    meeting_type_id: MeetingTypeChoice.nullable().optional(),
    calendar_event: CalendarEventInput.nullable().optional().meta({ description: "null removes it." }),
    crm: CrmInput.nullable().optional().meta({ description: "null removes it." }),
    screenshares: z
      .array(ScreenshareInput)
      .max(most.screenshares)
      .nullable()
      .optional()
      .meta({ description: "All of them; null removes them." }),
  })
  .meta({ id: "RecordingDataInput" });
export type RecordingDataInput = z.output<typeof RecordingDataInput>;

/** Where a transcript stands that a speech model makes. */
export const TranscriptionState = z
  .strictObject({
    status: z.enum(["pending", "running", "done", "failed"]),
    progress: z.int().min(0).max(100),
    attempts: z.int().meta({ description: "Failures since something last succeeded." }),
    last_error: z.string().nullable(),
    next_attempt_datetime: Timestamp.nullable(),
    edits: z.enum(["keep", "discard"]).nullable().meta({
      description: "Made anew: what becomes of the edits in the transcript that is there.",
    }),
  })
  .meta({ id: "TranscriptionState" });

export const RecordingView = z
  .strictObject({
    recording: Recording.meta({ description: "With every include the token may ask for." }),
    participants: z.array(ManagedParticipant),
    shared_users: z.array(User).meta({ description: "Users it is shared with one by one." }),
    meeting_type_is_automatic: z.boolean().meta({
      description: "true: it follows the participants; false: a person chose it.",
    }),
    upload_id: Uuid.nullable().meta({ description: "The upload or import it came from." }),
    external_id: z.string().nullable().meta({ description: "Its name on the side it was imported from." }),
    transcript: z.strictObject({
      language: z.string().nullable(),
      version: z.int().meta({ description: "Goes up with every change; every edit names the one it saw." }),
      segments: z.int(),
      is_edited: z.boolean(),
      transcription: TranscriptionState.nullable(),
    }),
    media: z
      .strictObject({ content_type: z.enum(["video/mp4", "audio/mpeg"]), has_storyboard: z.boolean() })
      .nullable()
      .meta({ description: "null: a transcript alone. Get Media has the links." }),
    can: z
      .strictObject({
        change: z.boolean(),
        delete: z.boolean(),
        edit_transcript: z.boolean(),
        transcribe: z.boolean().meta({ description: "Have a speech model write the transcript." }),
        add_highlights: z.boolean(),
        write_private_notes: z.boolean(),
      })
      .meta({ description: "What the caller may do with it." }),
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
  description: "Everything about a recording, and what the caller may do with it.",
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
    "Changes what is given and keeps the rest. Its recorders, admins and workspace tokens may. Participants have operations of their own.",
  params: RecordingParams,
  body: RecordingDataInput,
  response: Success,
  errors: changeErrors,
});

const Link = z.string().meta({ description: "Good until expires_datetime, for whoever has it." });

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
    "Short-lived links to the files of a recording: media, thumbnail, waveform and storyboard, as far as they exist.",
  params: RecordingParams,
  response: RecordingMedia,
  errors: ["not_found"],
});
