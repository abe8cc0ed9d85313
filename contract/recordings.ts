import { z } from "zod";
import { CursorInput, Milliseconds, NextCursor, Success, Timestamp, TimestampInput, Uuid } from "./common.ts";
import { MeetingType, MeetingTypeScope, Team } from "./directory.ts";
import { Highlight } from "./highlights.ts";
import { operation } from "./operation.ts";

export const MediaType = z.enum(["audio", "transcript", "video"]);
export const Source = z.enum([
  "aircall",
  "local_capture",
  "meet",
  "teams",
  "upload",
  "webex",
  "zoom",
  "other",
]);
export const ShareState = z.enum(["public", "workspace", "restricted"]).meta({
  description:
    "public: anyone with the link; workspace: all workspace members; restricted: only people with access.",
});

export const Recorder = z
  .strictObject({
    id: Uuid.meta({ description: "User id." }),
    name: z.string(),
    email: z.string(),
    participant_id: Uuid.nullable()
      .optional()
      .meta({ description: "Present only when participants are included." }),
  })
  .meta({ id: "Recorder" });

export const Participant = z
  .strictObject({
    id: Uuid,
    name: z.string(),
    email: z.string().nullable(),
    scope: z.enum(["internal", "external", "unknown"]),
    confirmed_attendee: z.boolean().meta({ description: "True when present in the recording." }),
    crm_contact_id: z.string().nullable().optional().meta({ description: "Only with include.crm." }),
    observed_join_time: Timestamp.nullable(),
    observed_leave_time: Timestamp.nullable(),
  })
  .meta({ id: "Participant" });

export const CalendarEvent = z
  .strictObject({
    ical_uid: z.string().nullable(),
    scheduled_start_datetime: Timestamp.nullable(),
    scheduled_end_datetime: Timestamp.nullable(),
  })
  .meta({ id: "CalendarEvent" });

export const Crm = z
  .strictObject({ crm_company_ids: z.array(z.string()), crm_deal_ids: z.array(z.string()) })
  .meta({ id: "Crm" });

export const ActionItem = z
  .strictObject({
    status: z.enum(["pending", "completed"]),
    timestamp: Milliseconds.meta({ description: "Milliseconds at which it was mentioned." }),
    text: z.string(),
    assignee: z.strictObject({ id: Uuid, name: z.string(), user_id: Uuid.nullable() }).nullable(),
  })
  .meta({ id: "ActionItem" });

export const Screenshare = z
  .strictObject({ start: Milliseconds, end: Milliseconds, participant_id: Uuid })
  .meta({ id: "Screenshare" });

export const AiTemplateSection = z
  .strictObject({ title: z.string(), data: z.record(z.string(), z.unknown()) })
  .meta({ id: "AiTemplateSection" });

const Markdown = z.strictObject({ text: z.string().meta({ description: "Markdown." }) });

export const Recording = z
  .strictObject({
    id: Uuid,
    title: z.string(),
    start_datetime: Timestamp.meta({ description: "UTC time at which the recording started." }),
    end_datetime: Timestamp.meta({ description: "UTC time at which the recording ended." }),
    duration_ms: Milliseconds,
    media_type: MediaType,
    source: Source,
    share_state: ShareState,
    url: z.string().meta({ description: "Link to the recording in the service." }),
    thumbnail_url: z.string().nullable(),
    tags: z.array(z.string()),
    teams: z.array(Team).meta({ description: "Teams the recording belongs to." }),
    workspace_shared: z.boolean().meta({ description: "True when shared with the whole workspace." }),
    recorders: z.array(Recorder).meta({ description: "Users that recorded the meeting." }),
    meeting_type: MeetingType.nullable(),
    highlights: z.array(Highlight).optional().meta({ description: "With include.highlights." }),
    ai_template_sections: z
      .array(AiTemplateSection)
      .optional()
      .meta({ description: "With include.ai_template_sections." }),
    ai_action_items: z.array(ActionItem).optional().meta({ description: "With include.ai_action_items." }),
    ai_summary: Markdown.optional().meta({ description: "With include.ai_summary." }),
    calendar_event: CalendarEvent.nullable().optional().meta({ description: "With include.calendar_event." }),
    crm: Crm.optional().meta({ description: "With include.crm." }),
    participants: z.array(Participant).optional().meta({ description: "With include.participants." }),
    private_notes: Markdown.nullable()
      .optional()
      .meta({ description: "With include.private_notes (personal tokens only)." }),
    screenshares: z.array(Screenshare).optional().meta({ description: "With include.screenshares." }),
  })
  .meta({ id: "Recording" });

export const RecordingInclude = z
  .object({
    highlights: z.boolean().optional(),
    participants: z.boolean().optional(),
    ai_action_items: z.boolean().optional(),
    ai_summary: z.boolean().optional(),
    private_notes: z.boolean().optional().meta({ description: "Personal tokens only." }),
    calendar_event: z.boolean().optional(),
    crm: z.boolean().optional(),
    screenshares: z.boolean().optional(),
    ai_template_sections: z
      .object({
        format: z.enum(["json", "markdown", "text"]).optional().meta({ description: "Default: json." }),
        allowed_sections: z
          .array(z.string())
          .optional()
          .meta({ description: "Only sections with one of these titles, whatever their case." }),
      })
      .optional(),
  })
  .meta({ id: "RecordingInclude" });
export type RecordingIncludeInput = z.output<typeof RecordingInclude>;

export const RecordingFilter = z
  .object({
    before_datetime: TimestampInput.optional().meta({
      description: "Only recordings whose start_datetime is after the value (exclusive).",
    }),
    after_datetime: TimestampInput.optional().meta({
      description: "Only recordings whose start_datetime is before the value (inclusive).",
    }),
    attendance: z.enum(["hosted", "attended"]).optional().meta({
      description: "Personal tokens only. hosted: the user recorded it; attended: the user took part.",
    }),
    participant_scope: MeetingTypeScope.optional().meta({
      description: "internal: nobody from outside took part; external: somebody did.",
    }),
    title_search: z
      .string()
      .max(1000)
      .optional()
      .meta({ description: "Part of the title; case and accents don't matter." }),
    team: Uuid.optional().meta({ description: "Team id." }),
    meeting_type: Uuid.optional().meta({ description: "Meeting type id." }),
  })
  .meta({ id: "RecordingFilter" });
export type RecordingFilterInput = z.output<typeof RecordingFilter>;

export const RecordingParams = z.object({ recording_id: Uuid });

/** Starts with a letter or digit of any language; marks belong to letters in many of them. */
const tagPattern = /^[\p{L}\p{N}][\p{L}\p{M}\p{N}-]*$/u;

/** Whether a text is a tag. Source: contract.md, Add Tag: letter or digit first, then letters, digits, dashes. */
export function isTag(text: string): boolean {
  return tagPattern.test(text);
}

export const Tag = z
  .string()
  .max(200)
  .refine(isTag, "must start with a letter or digit, followed by letters, digits or dashes only");

export const RecordingTitle = z
  .string()
  .max(1000)
  .refine((title) => title.trim() !== "", "must not be blank");

export const listRecordings = operation({
  id: "listRecordings",
  tag: "Recordings",
  gate: "every_version",
  method: "POST",
  path: "/_/public-api/v2/recordings",
  summary: "List Recordings",
  description: "Recordings the token may see, newest first, a page at a time. Filters combine with AND.",
  body: z.object({
    cursor: CursorInput.optional(),
    filter: RecordingFilter.optional(),
    include: RecordingInclude.optional(),
  }),
  response: z.strictObject({ cursor: NextCursor, recordings: z.array(Recording) }),
  errors: ["invalid_json", "invalid_input", "invalid_cursor", "body_too_large"],
});

export const getRecording = operation({
  id: "getRecording",
  tag: "Recordings",
  gate: "every_version",
  method: "POST",
  path: "/_/public-api/v2/recordings/:recording_id",
  summary: "Get Recording",
  description: "One recording.",
  params: RecordingParams,
  body: z.object({ include: RecordingInclude.optional() }),
  response: Recording,
  errors: ["invalid_json", "invalid_input", "body_too_large", "not_found"],
});

const changeErrors = ["invalid_json", "invalid_input", "body_too_large", "forbidden", "not_found"] as const;

export const updateRecording = operation({
  id: "updateRecording",
  tag: "Recordings",
  gate: "every_version",
  method: "PATCH",
  path: "/_/public-api/v2/recordings/:recording_id",
  summary: "Update Recording",
  description: "Renames a recording.",
  params: RecordingParams,
  body: z.object({ title: RecordingTitle }),
  response: Success,
  errors: changeErrors,
});

export const addTag = operation({
  id: "addTag",
  tag: "Recordings",
  gate: "every_version",
  method: "PUT",
  path: "/_/public-api/v2/recordings/:recording_id/tags",
  summary: "Add Tag",
  description: "Adds a tag. Adding one that is there already changes nothing.",
  params: RecordingParams,
  body: z.object({ tag: Tag }),
  response: Success,
  errors: changeErrors,
});

export const removeTag = operation({
  id: "removeTag",
  tag: "Recordings",
  gate: "every_version",
  method: "DELETE",
  path: "/_/public-api/v2/recordings/:recording_id/tags/:tag",
  summary: "Remove Tag",
  description: "Removes a tag. Removing one that is not there changes nothing.",
  params: RecordingParams.extend({ tag: z.string() }),
  response: Success,
  errors: ["forbidden", "not_found"],
});

export const shareToUser = operation({
  id: "shareToUser",
  tag: "Recordings",
  gate: "every_version",
  method: "PUT",
  path: "/_/public-api/v2/recordings/:recording_id/users",
  summary: "Share to User",
  description: "Shares the recording with a user of the workspace.",
  params: RecordingParams,
  body: z.object({ user_id: Uuid.meta({ description: "From List Users." }) }),
  response: Success,
  errors: changeErrors,
});

export const unshareFromUser = operation({
  id: "unshareFromUser",
  tag: "Recordings",
  gate: "every_version",
  method: "DELETE",
  path: "/_/public-api/v2/recordings/:recording_id/users/:user_id",
  summary: "Unshare from User",
  description: "Takes a share back. A user with another reason to see the recording keeps seeing it.",
  params: RecordingParams.extend({ user_id: Uuid }),
  response: Success,
  errors: ["forbidden", "not_found"],
});

export const shareToTeam = operation({
  id: "shareToTeam",
  tag: "Recordings",
  gate: "every_version",
  method: "PUT",
  path: "/_/public-api/v2/recordings/:recording_id/teams",
  summary: "Share to Team",
  description: "Shares the recording with a team of the workspace.",
  params: RecordingParams,
  body: z.object({ team_id: Uuid.meta({ description: "From List Teams." }) }),
  response: Success,
  errors: changeErrors,
});

export const unshareFromTeam = operation({
  id: "unshareFromTeam",
  tag: "Recordings",
  gate: "every_version",
  method: "DELETE",
  path: "/_/public-api/v2/recordings/:recording_id/teams/:team_id",
  summary: "Unshare from Team",
  description: "Takes a share back from a team.",
  params: RecordingParams.extend({ team_id: Uuid }),
  response: Success,
  errors: ["forbidden", "not_found"],
});

export const downloadRecording = operation({
  id: "downloadRecording",
  tag: "Recordings",
  gate: "every_version",
  method: "GET",
  path: "/_/public-api/v2/recordings/:recording_id/download",
  summary: "Download Recording",
  description: "Sends the client to the recording's file. A recording of media type transcript has none.",
  params: RecordingParams,
  response: { redirect: "A short-lived address of the file." },
  errors: ["not_found"],
});
