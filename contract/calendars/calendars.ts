import { z } from "zod";
import { Success, Timestamp, Uuid } from "../common.ts";
import { operation } from "../operation.ts";
import { TimeZone } from "../time-zone.ts";
import { maxMeetingNotes } from "./limits.ts";

/** Calendars of users and rooms, whose meetings give recordings a title, participants and scheduled times. */

const calendarKinds = ["ics", "caldav"] as const;
export type CalendarKind = (typeof calendarKinds)[number];

export const calendarLimits = {
  /** Calendars of a user; the same for the room calendars of a workspace. */
  calendars: 10,
  rooms: 100,
  /** Bytes of a calendar, as it is read. */
  bytes: 20 * 1024 * 1024,
  /** Events of a calendar in the time that is read, with each instance of a series. */
  events: 5000,
  attendees: 200,
  notes: maxMeetingNotes,
} as const;

/** The days before and after today whose events are read. */
export const calendarDays = { before: 90, after: 14 } as const;

const tag = "Calendars";
const gate = "every_version";
const base = { tag, gate } as const;
const rule = "Calendars belong to users; workspace tokens manage room calendars alone.";
const personal = "Workspace tokens get 403.";
const writeErrors = ["invalid_json", "invalid_input", "body_too_large", "forbidden"] as const;

const Url = z.string().trim().min(1, "must not be blank").max(2000).meta({
  description:
    "`ics`: the secret URL of the calendar (`https` or `webcal`). `caldav`: the URL of the server, of the account or of one calendar. It is stored encrypted and never shown again. URLs in private networks are refused.",
});
const Username = z.string().trim().min(1, "must not be blank").max(500);
const Password = z.string().min(1, "must not be blank").max(500).meta({
  description: "For `caldav`: an app password. It is stored encrypted and never shown again.",
});

const AllowHttp = z.boolean().default(false).meta({
  description: "Allows an `http` URL, to which its secrets are sent unencrypted.",
});

const Unread = z.strictObject({
  title: z.string().nullable().meta({ description: "null: it has none, or is private." }),
  reason: z.string(),
});

export const Calendar = z
  .strictObject({
    id: Uuid,
    kind: z.enum(calendarKinds),
    name: z.string(),
    is_room: z.boolean(),
    host: z.string().meta({ description: "The host of its URL." }),
    username: z.string().nullable(),
    time_zone: z.string().meta({ description: "For times without a time zone." }),
    state: z.enum(["ok", "failing", "waiting"]).meta({
      description: "`waiting`: the server asked for fewer requests, and is read again later.",
    }),
    problem: z.string().nullable().meta({ description: "Why the last attempt failed, and what to do." }),
    failing_since: Timestamp.nullable(),
    read_datetime: Timestamp.nullable().meta({ description: "When it was last read successfully." }),
    next_read_datetime: Timestamp,
    events: z
      .int()
      .min(0)
      .meta({
        description: `Events from ${calendarDays.before} days ago to ${calendarDays.after} days ahead.`,
      }),
    next_event: z
      .strictObject({
        title: z.string().nullable().meta({ description: "null: it is private, or has no title." }),
        start_datetime: Timestamp,
        is_private: z.boolean(),
        is_all_day: z.boolean(),
      })
      .nullable()
      .meta({
        description:
          "The first event that ends after now. null: there is none, or it is a room calendar, whose events are for those invited.",
      }),
    unread_events: z.int().min(0).meta({ description: "Entries that could not be understood." }),
    unread_examples: z.array(Unread).meta({ description: "The first of them." }),
    created_datetime: Timestamp,
  })
  .meta({ id: "Calendar" });
export type Calendar = z.output<typeof Calendar>;

const CalendarPerson = z
  .strictObject({
    name: z.string().nullable(),
    email: z.string().nullable(),
  })
  .meta({ id: "CalendarPerson" });

export const Meeting = z
  .strictObject({
    id: Uuid,
    calendar_id: Uuid,
    ical_uid: z.string().nullable().meta({ description: "null: it is private." }),
    title: z.string().nullable().meta({ description: "null: it is private, or has no title." }),
    start_datetime: Timestamp,
    end_datetime: Timestamp,
    is_private: z.boolean().meta({
      description: "Private and confidential events: nothing but their times is read.",
    }),
    organizer: CalendarPerson.nullable(),
    attendees: z.array(CalendarPerson).meta({
      description: "Without rooms and people who declined; the organizer is one of them.",
    }),
    notes: z.string().nullable().meta({
      description: "The caller's notes, which become private notes of the recording.",
    }),
    recording_id: Uuid.nullable().meta({ description: "A recording of it that the caller can see." }),
  })
  .meta({ id: "Meeting" });
export type Meeting = z.output<typeof Meeting>;

export const listCalendars = operation({
  ...base,
  id: "listCalendars",
  permission: "read",
  method: "GET",
  path: "/_/api/v1/calendars",
  summary: "List Calendars",
  description: `Lists the caller's calendars, oldest first; for admins and workspace tokens, the room calendars too. URLs and passwords are never returned. ${rule}`,
  response: z.strictObject({ calendars: z.array(Calendar) }),
  errors: [],
});

export const createCalendar = operation({
  ...base,
  id: "createCalendar",
  permission: "write",
  method: "POST",
  path: "/_/api/v1/calendars",
  summary: "Add Calendar",
  description: `Adds a calendar and reads it at once; one that can't be read is refused with the reason. It is read again every 15 minutes. At most ${calendarLimits.calendars} for each user and ${calendarLimits.rooms} room calendars. ${rule}`,
  body: z.object({
    kind: z.enum(calendarKinds),
    url: Url,
    name: z.string().trim().min(1, "must not be blank").max(200).optional().meta({
      description: "Default: the calendar's own name.",
    }),
    username: Username.optional().meta({ description: "For `caldav`." }),
    password: Password.optional(),
    is_room: z.boolean().default(false).meta({
      description:
        "A room calendar of the workspace, for recordings of all users. For admins and workspace tokens.",
    }),
    allow_http: AllowHttp,
    time_zone: TimeZone.optional().meta({
      description: "For times without a time zone. Default: the calendar's own, or UTC.",
    }),
  }),
  response: Calendar,
  errors: [...writeErrors, "quota_exceeded"],
});

export const discoverCalendars = operation({
  ...base,
  id: "discoverCalendars",
  permission: "write",
  method: "POST",
  path: "/_/api/v1/calendars/discover",
  summary: "Discover Calendars",
  description: `Lists the calendars of a CalDAV account, to add one by its URL. ${rule}`,
  body: z.object({ url: Url, username: Username, password: Password, allow_http: AllowHttp }),
  response: z.strictObject({
    calendars: z.array(z.strictObject({ url: z.string(), name: z.string() })),
  }),
  errors: [...writeErrors],
});

export const deleteCalendar = operation({
  ...base,
  id: "deleteCalendar",
  permission: "write",
  method: "DELETE",
  path: "/_/api/v1/calendars/:calendar_id",
  summary: "Remove Calendar",
  description:
    "Removes a calendar with its events and the notes for them. What has become part of a recording stays.",
  params: z.object({ calendar_id: Uuid }),
  response: Success,
  errors: ["not_found", "forbidden"],
});

export const listMeetings = operation({
  ...base,
  id: "listMeetings",
  permission: "read",
  method: "GET",
  path: "/_/api/v1/meetings",
  summary: "List Next Meetings",
  description: `Lists the meetings of the caller's calendars that end after now and start today, in order; room calendars give those that the caller is invited to. All-day events are left out. ${personal}`,
  query: z.object({
    time_zone: TimeZone.optional().meta({ description: "Decides when today ends. Default: UTC." }),
  }),
  response: z.strictObject({
    meetings: z.array(Meeting),
    has_calendars: z.boolean().meta({ description: "Whether the caller has any calendar." }),
  }),
  errors: ["invalid_input", "forbidden"],
});

const MeetingParams = z.object({ meeting_id: Uuid });

export const getMeeting = operation({
  ...base,
  id: "getMeeting",
  permission: "read",
  method: "GET",
  path: "/_/api/v1/meetings/:meeting_id",
  summary: "Get Meeting",
  description: `Returns a meeting of the caller's calendars. ${personal}`,
  params: MeetingParams,
  response: Meeting,
  errors: ["not_found", "forbidden"],
});

export const updateMeeting = operation({
  ...base,
  id: "updateMeeting",
  permission: "write",
  method: "PATCH",
  path: "/_/api/v1/meetings/:meeting_id",
  summary: "Update Meeting Notes",
  description: `Writes the caller's notes for a meeting. They become private notes of its recording. ${personal}`,
  params: MeetingParams,
  body: z.object({
    notes: z.string().max(calendarLimits.notes).nullable().meta({ description: "null removes them." }),
  }),
  response: Meeting,
  errors: [...writeErrors, "not_found"],
});

const recordingPath = "/_/api/v1/recordings/:recording_id/meeting";
const RecordingParams = z.object({ recording_id: Uuid });

/** A meeting with breaks has a few recordings. */
export const otherRecordings = 20;

export const RecordingMeeting = z
  .strictObject({
    state: z.enum(["none", "matched", "ambiguous", "undone"]).meta({
      description:
        "`none`: no meeting was matched. `matched`: by Parley or by a user. `ambiguous`: several fit equally, or the one that fits names only other people; choose one. `undone`: a user undid it, and it is not matched again.",
    }),
    is_chosen: z.boolean().meta({ description: "Whether a user chose the meeting." }),
    ical_uid: z.string().nullable().meta({ description: "Of the matched meeting." }),
    meeting_id: Uuid.nullable().meta({ description: "The matched meeting, if it is one of the candidates." }),
    parts: z.array(z.enum(["title", "participants", "scheduled_times"])).meta({
      description: "What the recording has from the matched meeting.",
    }),
    other_recordings: z
      .array(z.strictObject({ id: Uuid, title: z.string(), start_datetime: Timestamp }))
      .max(otherRecordings)
      .meta({
        description: "Other recordings of the matched meeting that the caller can see, the first first.",
      }),
    candidates: z.array(Meeting).meta({
      description:
        "Meetings that overlap the recording, best first: of the caller's calendars, and of room calendars that invite the caller (for a workspace token: that invite a recorder).",
    }),
  })
  .meta({ id: "RecordingMeeting" });
export type RecordingMeeting = z.output<typeof RecordingMeeting>;

export const getRecordingMeeting = operation({
  ...base,
  id: "getRecordingMeeting",
  permission: "read",
  method: "GET",
  path: recordingPath,
  summary: "Get Meeting of Recording",
  description:
    "Returns which meeting a recording was matched with, and the meetings that it may be. For users who may change the recording.",
  params: RecordingParams,
  response: RecordingMeeting,
  errors: ["not_found", "forbidden"],
});

export const chooseRecordingMeeting = operation({
  ...base,
  id: "chooseRecordingMeeting",
  permission: "write",
  method: "PUT",
  path: recordingPath,
  summary: "Choose Meeting of Recording",
  description:
    "Takes title (unless a user chose one), participants, scheduled times and meeting type from one of the candidates, in place of those of the meeting it was matched with. Invited users of the workspace can see the recording from then on.",
  params: RecordingParams,
  body: z.object({
    meeting_id: Uuid,
    is_chosen: z.boolean().default(true).meta({
      description:
        "`false`: as a match by Parley, after which invited users have no access. For undoing that such a match was undone.",
    }),
  }),
  response: RecordingMeeting,
  errors: [...writeErrors, "not_found"],
});

export const undoRecordingMeeting = operation({
  ...base,
  id: "undoRecordingMeeting",
  permission: "write",
  method: "DELETE",
  path: recordingPath,
  summary: "Undo Meeting of Recording",
  description:
    "Removes what a recording has from its meeting: title, participants without transcript, scheduled times and the meeting type that followed. What a user has changed since stays. If several meetings fit, this says that it is none of them.",
  params: RecordingParams,
  response: RecordingMeeting,
  errors: ["not_found", "forbidden"],
});
