import { z } from "zod";
import {
  CursorInput,
  Milliseconds,
  NextCursor,
  Success,
  Timestamp,
  TimestampInput,
  Uuid,
} from "../common.ts";
import { operation } from "../operation.ts";
import { whisperLanguages } from "../workspace/whisper-languages.ts";
import { RecordingParams } from "./recordings.ts";

/** Maximum number of templates per workspace: each costs a model request per recording. */
export const maxTemplates = 20;

const changeErrors = ["invalid_json", "invalid_input", "body_too_large", "forbidden"] as const;

export const SectionKind = z
  .enum(["text", "bullets", "checklist", "table", "question-answer"])
  .meta({ description: "Format of the section; the guide on language models lists the fields of each." });

const TemplateTitle = z
  .string()
  .trim()
  .min(1, "must not be blank")
  .max(200)
  .meta({ description: "Title of the section; unique in the workspace, ignoring case." });

const TemplatePrompt = z.string().trim().min(1, "must not be blank").max(4000).meta({
  description: "Instructions for the model: what the section should contain.",
  example: "Risks that were named, and who owns them.",
});

const Position = z.int().min(0).max(1_000_000).meta({ description: "Position among the sections." });

export const SectionTemplate = z
  .strictObject({
    id: Uuid,
    title: z.string(),
    kind: SectionKind,
    prompt: z.string(),
    position: Position,
    enabled: z.boolean().meta({ description: "Whether new runs generate this section." }),
    created_datetime: Timestamp,
    updated_datetime: Timestamp,
  })
  .meta({ id: "SectionTemplate" });

const TemplateParams = z.object({ template_id: Uuid });

const templates = { tag: "Intelligence", gate: "every_version" } as const;

export const listTemplates = operation({
  ...templates,
  id: "listTemplates",
  permission: "read",
  method: "GET",
  path: "/_/api/v1/templates",
  summary: "List Templates",
  description: "Lists the workspace's templates for AI sections, in order.",
  response: z.strictObject({ templates: z.array(SectionTemplate) }),
  errors: [],
});

export const createTemplate = operation({
  ...templates,
  id: "createTemplate",
  permission: "manage",
  method: "POST",
  path: "/_/api/v1/templates",
  summary: "Create Template",
  description: `Defines a section that the language model writes for each new recording. A workspace can have at most ${maxTemplates} templates.`,
  body: z.object({
    title: TemplateTitle,
    kind: SectionKind,
    prompt: TemplatePrompt,
    position: Position.optional(),
    enabled: z.boolean().optional(),
  }),
  response: SectionTemplate,
  errors: [...changeErrors, "wrong_state"],
});

export const getTemplate = operation({
  ...templates,
  id: "getTemplate",
  permission: "read",
  method: "GET",
  path: "/_/api/v1/templates/:template_id",
  summary: "Get Template",
  description: "Returns a template.",
  params: TemplateParams,
  response: SectionTemplate,
  errors: ["not_found"],
});

export const updateTemplate = operation({
  ...templates,
  id: "updateTemplate",
  permission: "manage",
  method: "PATCH",
  path: "/_/api/v1/templates/:template_id",
  summary: "Update Template",
  description:
    "Changes a template. Fields that are left out keep their values. Existing sections stay as they are until the next run.",
  params: TemplateParams,
  body: z.object({
    title: TemplateTitle.optional(),
    kind: SectionKind.optional(),
    prompt: TemplatePrompt.optional(),
    position: Position.optional(),
    enabled: z.boolean().optional(),
  }),
  response: SectionTemplate,
  errors: [...changeErrors, "not_found"],
});

export const deleteTemplate = operation({
  ...templates,
  id: "deleteTemplate",
  permission: "manage",
  method: "DELETE",
  path: "/_/api/v1/templates/:template_id",
  summary: "Delete Template",
  description: "Deletes a template. Existing sections stay as they are until the next run.",
  params: TemplateParams,
  response: Success,
  errors: ["forbidden", "not_found"],
});

const TokenCount = z.int().min(0);
const TokenLimit = z.int().min(1).max(1_000_000_000_000);

const QuestionDays = z.int().min(1).max(3650).meta({
  description: "Days that a thread of questions about meetings is kept after its last question.",
});

const Language = z.enum(["auto", ...whisperLanguages]);

const SummaryLanguage = Language.meta({
  description:
    "Language that everything is written in: a code such as `en`; `auto`: as the workspace has set, which is the language of the meeting by default.",
});

const WorkspaceLanguage = Language.meta({
  description:
    "Language of summaries, chapters and action items for which none was chosen: a code such as `en`; `auto`: the language of the meeting. Statements of Ask are in the language of the question.",
});

export const IntelligenceStatus = z
  .strictObject({
    model: z
      .string()
      .nullable()
      .meta({ description: "Name of the language model; null: none is configured." }),
    enabled: z.boolean().meta({ description: "Whether the workspace uses the language model." }),
    max_tokens_per_day: TokenLimit.nullable().meta({
      description: "The workspace's limit; null: no limit.",
    }),
    server_max_tokens_per_day: TokenLimit.nullable().meta({
      description: "The server's limit per workspace.",
    }),
    question_days: QuestionDays,
    language: WorkspaceLanguage,
    used_tokens_today: TokenCount.meta({
      description: "Tokens used this UTC day, including those reserved for requests in flight.",
    }),
    requests_today: TokenCount,
    resets_datetime: Timestamp.meta({ description: "Start of the next UTC day." }),
    recordings: z
      .strictObject({ pending: TokenCount, waiting: TokenCount, failed: TokenCount })
      .meta({ description: "Number of recordings with an unfinished run." }),
    last_error: z
      .string()
      .nullable()
      .meta({ description: "Why the latest of those runs is waiting or failed." }),
    message: z.string().meta({ description: "Human-readable status." }),
  })
  .meta({ id: "IntelligenceStatus" });

export const getIntelligence = operation({
  ...templates,
  id: "getIntelligence",
  permission: "manage",
  method: "GET",
  path: "/_/api/v1/intelligence",
  summary: "Get Intelligence",
  description: "Returns whether a language model is configured and enabled, and its token usage today.",
  response: IntelligenceStatus,
  errors: ["forbidden"],
});

export const updateIntelligence = operation({
  ...templates,
  id: "updateIntelligence",
  permission: "manage",
  method: "PATCH",
  path: "/_/api/v1/intelligence",
  summary: "Update Intelligence",
  description:
    "Enables or disables the language model for the workspace, limits its tokens, and sets the language it writes in from the next run on. After disabling, runs stop before their next request; they resume once it is enabled.",
  body: z.object({
    enabled: z.boolean().optional(),
    max_tokens_per_day: z
      .int()
      .min(0)
      .max(1_000_000_000_000)
      .optional()
      .meta({ description: "Per UTC day; 0: no limit." }),
    question_days: QuestionDays.optional(),
    language: WorkspaceLanguage.optional(),
  }),
  response: IntelligenceStatus,
  errors: [...changeErrors],
});

export const SummaryLength = z
  .enum(["short", "normal", "detailed"])
  .meta({ description: "Length of the summary." });
export type SummaryLength = z.output<typeof SummaryLength>;

/** A user's thumb up or down on what the language model wrote. */
export const Feedback = z
  .strictObject({
    rating: z.enum(["up", "down"]),
    comment: z.string().meta({ description: "Empty: none." }),
  })
  .meta({ id: "Feedback" });

export const RecordingIntelligence = z
  .strictObject({
    status: z.enum(["none", "pending", "running", "waiting", "done", "failed"]).meta({
      description:
        "none: never requested; pending, running: in progress; waiting: retries automatically at next_attempt_datetime; failed: see message.",
    }),
    message: z.string().meta({ description: "Human-readable status." }),
    last_error: z.string().nullable(),
    notes: z
      .array(z.string())
      .meta({ description: "Parts that could not be generated although the rest succeeded." }),
    attempts: z.int().min(0).meta({ description: "Failed attempts since the last successful request." }),
    next_attempt_datetime: Timestamp.nullable(),
    requested_datetime: Timestamp.nullable(),
    finished_datetime: Timestamp.nullable(),
    model: z.string().nullable(),
    progress: z.int().min(0).max(100).meta({ description: "Percentage of a running run that is done." }),
    prompt_version: z.int().nullable().meta({ description: "Version of the prompts of the last run." }),
    length: SummaryLength,
    language: SummaryLanguage,
    feedback: Feedback.nullable().meta({
      description: "The caller's feedback on the summary; null: none, or it is on an earlier summary.",
    }),
    used_tokens: TokenCount.meta({ description: "Tokens used by the current or last run." }),
  })
  .meta({ id: "RecordingIntelligence" });

export const getRecordingIntelligence = operation({
  ...templates,
  id: "getRecordingIntelligence",
  permission: "read",
  method: "GET",
  path: "/_/api/v1/recordings/:recording_id/intelligence",
  summary: "Get Recording Intelligence",
  description:
    "Returns the status of the language model's run for a recording. Allowed for everyone who can see the recording.",
  params: RecordingParams,
  response: RecordingIntelligence,
  errors: ["not_found"],
});

export const runRecordingIntelligence = operation({
  ...templates,
  id: "runRecordingIntelligence",
  permission: "write",
  method: "POST",
  path: "/_/api/v1/recordings/:recording_id/intelligence",
  summary: "Run Recording Intelligence",
  description:
    "Regenerates summary, chapters, action items and sections. The existing ones stay until the run finishes. Chapters and action items that a user changed stay. Unchanged action items keep their status. Without `length` or `language`, those of the last run; at first a normal length and the meeting's language. Allowed for the recording's recorders, admins and workspace tokens.",
  params: RecordingParams,
  body: z.object({ length: SummaryLength.optional(), language: SummaryLanguage.optional() }),
  response: RecordingIntelligence,
  errors: [...changeErrors, "not_found", "wrong_state"],
});

export const ActionItemDetail = z
  .strictObject({
    id: Uuid,
    status: z.enum(["pending", "completed"]),
    timestamp: Milliseconds.meta({ description: "Milliseconds at which it was mentioned." }),
    text: z.string(),
    quote: z.string().meta({ description: "The quoted line of the transcript." }),
    due_date: z.iso.date().nullable().meta({ description: "The date that the quote names; null: none." }),
    assignee: z.strictObject({ id: Uuid, name: z.string(), user_id: Uuid.nullable() }).nullable(),
  })
  .meta({ id: "ActionItemDetail" });

export const listActionItems = operation({
  ...templates,
  id: "listActionItems",
  permission: "read",
  method: "GET",
  path: "/_/api/v1/recordings/:recording_id/action-items",
  summary: "List Action Items",
  description:
    "Lists a recording's action items in the order in which they were mentioned. Allowed for everyone who can see the recording.",
  params: RecordingParams,
  response: z.strictObject({ action_items: z.array(ActionItemDetail) }),
  errors: ["not_found"],
});

export const updateActionItem = operation({
  ...templates,
  id: "updateActionItem",
  permission: "write",
  method: "PATCH",
  path: "/_/api/v1/recordings/:recording_id/action-items/:item_id",
  summary: "Update Action Item",
  description:
    "Changes an action item's status, text or assignee. Fields that are left out keep their values. Allowed for the recording's recorders, admins and workspace tokens; the assignee may change the status.",
  params: RecordingParams.extend({ item_id: Uuid }),
  body: z.object({
    status: z.enum(["pending", "completed"]).optional(),
    text: z.string().trim().min(1, "must not be blank").max(1000).optional(),
    assignee_id: z
      .union([Uuid, z.literal("")])
      .optional()
      .meta({ description: "Id of a participant; an empty string removes the assignee." }),
  }),
  response: ActionItemDetail,
  errors: [...changeErrors, "not_found"],
});

/** An action item with its meeting, for lists across recordings. */
export const ListedActionItem = ActionItemDetail.extend({
  recording: z.strictObject({
    id: Uuid,
    title: z.string(),
    start_datetime: Timestamp,
    url: z.string(),
  }),
  can_complete: z.boolean().meta({ description: "Whether the caller may change its status." }),
}).meta({ id: "ListedActionItem" });

export const listAllActionItems = operation({
  id: "listAllActionItems",
  tag: "Intelligence",
  gate: "every_version",
  permission: "read",
  method: "GET",
  path: "/_/api/v1/action-items",
  summary: "List All Action Items",
  description:
    "Lists the action items of every recording the caller can see: the newest meeting first, the items of a meeting together and in the order in which they were mentioned, paginated by meetings.",
  query: z.object({
    cursor: CursorInput.optional(),
    assignee: z
      .string()
      .trim()
      .min(1, "must not be blank")
      .max(320)
      .optional()
      .meta({ description: "`me`, a user id, or an email; `none`: items without an assignee." }),
    state: z.enum(["pending", "completed"]).optional(),
    team: Uuid.optional().meta({ description: "Only meetings shared with this team." }),
    meeting_type: Uuid.optional(),
    from: TimestampInput.optional().meta({ description: "Only meetings that start at this time or later." }),
    to: TimestampInput.optional().meta({ description: "Only meetings that start before this time." }),
    text: z.string().max(500).optional().meta({
      description: "Only items whose text contains this; case and accents are ignored.",
    }),
  }),
  response: z.strictObject({ action_items: z.array(ListedActionItem), cursor: NextCursor }),
  errors: ["invalid_input", "invalid_cursor"],
});
