import { z } from "zod";
import { Milliseconds, Timestamp, TimestampInput, Uuid } from "../common.ts";
import { MeetingType, MeetingTypeScope, Team } from "../workspace/directory.ts";
import { Highlight } from "./highlights.ts";
import { isTag, maxTagLength, tagRule } from "./tag.ts";

/** Maximum number of entries in a recording's lists. */
export const recordingLimits = {
  tags: 200,
  teams: 100,
  recorders: 1000,
  participants: 500,
  screenshares: 1000,
} as const;

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

const Recorder = z
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
    hs_contact_id: z.string().nullable().optional().meta({
      description: "As crm_contact_id; only for tokens with compatibility=hubspot.",
    }),
    observed_join_time: Timestamp.nullable(),
    observed_leave_time: Timestamp.nullable(),
  })
  .meta({ id: "Participant" });

const CalendarEvent = z
  .strictObject({
    ical_uid: z.string().nullable(),
    scheduled_start_datetime: Timestamp.nullable(),
    scheduled_end_datetime: Timestamp.nullable(),
  })
  .meta({ id: "CalendarEvent" });

const Crm = z
  .strictObject({ crm_company_ids: z.array(z.string()), crm_deal_ids: z.array(z.string()) })
  .meta({ id: "Crm" });

const Hubspot = z
  .strictObject({ hubspot_company_ids: z.array(z.string()), hubspot_deal_ids: z.array(z.string()) })
  .meta({ id: "Hubspot" });

export const ActionItem = z
  .strictObject({
    status: z.enum(["pending", "completed"]),
    timestamp: Milliseconds.meta({ description: "Milliseconds at which it was mentioned." }),
    text: z.string(),
    assignee: z.strictObject({ id: Uuid, name: z.string(), user_id: Uuid.nullable() }).nullable(),
  })
  .meta({ id: "ActionItem" });

const Screenshare = z
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
    hubspot: Hubspot.optional().meta({
      description: "As crm; only for tokens with compatibility=hubspot.",
    }),
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
    hubspot: z.boolean().optional().meta({
      description: "As crm, for tokens with compatibility=hubspot; otherwise ignored.",
    }),
    screenshares: z.boolean().optional(),
    ai_template_sections: z
      .object({
        format: z.enum(["json", "markdown", "text"]).optional().meta({ description: "Default: json." }),
        allowed_sections: z.array(z.string()).optional().meta({
          description: "Only sections with one of these titles, ignoring case; empty: all sections.",
        }),
      })
      .optional(),
  })
  .meta({ id: "RecordingInclude" });
export type RecordingIncludeInput = z.output<typeof RecordingInclude>;

export const RecordingFilter = z
  .object({
    before_datetime: TimestampInput.optional().meta({
      description:
        "Only recordings whose start_datetime is after the value (exclusive). For tokens with datetime_filters=by-name: before the value (exclusive).",
    }),
    after_datetime: TimestampInput.optional().meta({
      description:
        "Only recordings whose start_datetime is before the value (inclusive). For tokens with datetime_filters=by-name: after the value (inclusive).",
    }),
    attendance: z.enum(["hosted", "attended"]).optional().meta({
      description: "Personal tokens only. hosted: the user recorded it; attended: the user took part.",
    }),
    participant_scope: MeetingTypeScope.optional().meta({
      description:
        "external: at least one participant is external. internal: all other recordings, also those without participants or with participants of unknown scope.",
    }),
    title_search: z
      .string()
      .max(1000)
      .optional()
      .meta({ description: "Part of the title; case and accents are ignored." }),
    team: Uuid.optional().meta({ description: "Team id." }),
    meeting_type: Uuid.optional().meta({ description: "Meeting type id." }),
  })
  .meta({ id: "RecordingFilter" });
export type RecordingFilterInput = z.output<typeof RecordingFilter>;

export const RecordingParams = z.object({ recording_id: Uuid });

export const Tag = z
  .string()
  .max(maxTagLength)
  // A tag that is too long is reported by the length rule alone.
  .refine((text) => text.length > maxTagLength || isTag(text), tagRule);

/** A tag to filter by. Not validated as a tag, so that it also finds tags stored under an earlier rule. */
export const TagFilter = z
  .string()
  .max(maxTagLength)
  .refine((text) => text.trim() !== "", "must not be blank");

export const RecordingTitle = z
  .string()
  .max(500)
  .refine((title) => title.trim() !== "", "must not be blank");
