import { z } from "zod";
import { Milliseconds, Success, Timestamp, Uuid } from "./common.ts";
import { operation } from "./operation.ts";
import { RecordingParams } from "./recordings.ts";

/** More sections than this no recording gets: each is a question to the model. */
export const maxTemplates = 20;

const changeErrors = ["invalid_json", "invalid_input", "body_too_large", "forbidden"] as const;

export const SectionKind = z
  .enum(["text", "bullets", "checklist", "table", "question-answer"])
  .meta({ description: "Form of the section: see the guide on language models for the fields of each." });

const TemplateTitle = z
  .string()
  .trim()
  .min(1, "must not be blank")
  .max(200)
  .meta({ description: "Title of the section; unlike every other in the workspace, whatever the case." });

const TemplatePrompt = z.string().trim().min(1, "must not be blank").max(4000).meta({
  description: "What the section is to hold, in words for the model.",
  example: "Risks that were named, and who owns them.",
});

const Position = z.int().min(0).max(1_000_000).meta({ description: "Order among the sections." });

export const SectionTemplate = z
  .strictObject({
    id: Uuid,
    title: z.string(),
    kind: SectionKind,
    prompt: z.string(),
    position: Position,
    enabled: z.boolean().meta({ description: "Whether new runs make this section." }),
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
  description: "The templates of AI sections of the workspace, in their order.",
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
  description: `Defines a section that the model writes for each recording from now on. A workspace has at most ${maxTemplates}.`,
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
  description: "One template of an AI section.",
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
    "Changes a template; what is left out stays. Sections that were made stay as they are until the next run.",
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
  description: "Removes a template. Sections that were made stay as they are until the next run.",
  params: TemplateParams,
  response: Success,
  errors: ["forbidden", "not_found"],
});

const TokenCount = z.int().min(0);
const TokenLimit = z.int().min(1).max(1_000_000_000_000);

export const IntelligenceStatus = z
  .strictObject({
    model: z.string().nullable().meta({ description: "Name of the language model; null: none is set up." }),
    enabled: z.boolean().meta({ description: "The workspace's switch." }),
    max_tokens_per_day: TokenLimit.nullable().meta({
      description: "The workspace's limit; null: none of its own.",
    }),
    server_max_tokens_per_day: TokenLimit.nullable().meta({
      description: "The operator's limit for each workspace.",
    }),
    used_tokens_today: TokenCount.meta({
      description: "By UTC day; with what is put aside for requests under way.",
    }),
    requests_today: TokenCount,
    resets_datetime: Timestamp.meta({ description: "When the next day begins." }),
    recordings: z
      .strictObject({ pending: TokenCount, waiting: TokenCount, failed: TokenCount })
      .meta({ description: "How many recordings have a run that is not finished." }),
    last_error: z.string().nullable().meta({ description: "Why the latest of them waits or failed." }),
    message: z.string().meta({ description: "How things stand, in words." }),
  })
  .meta({ id: "IntelligenceStatus" });

export const getIntelligence = operation({
  ...templates,
  id: "getIntelligence",
  permission: "manage",
  method: "GET",
  path: "/_/api/v1/intelligence",
  summary: "Get Intelligence",
  description: "Whether a language model is set up and switched on, and what it has used today.",
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
    "Turns the language model on or off for the workspace, and limits its tokens. Switched off, runs under way stop before their next request, and go on once it is switched on.",
  body: z.object({
    enabled: z.boolean().optional(),
    max_tokens_per_day: z
      .int()
      .min(0)
      .max(1_000_000_000_000)
      .optional()
      .meta({ description: "By UTC day; 0: no limit of its own." }),
  }),
  response: IntelligenceStatus,
  errors: [...changeErrors],
});

export const RecordingIntelligence = z
  .strictObject({
    status: z.enum(["none", "pending", "running", "waiting", "done", "failed"]).meta({
      description:
        "none: never asked for; pending, running: under way; waiting: goes on by itself at next_attempt_datetime; failed: message says why.",
    }),
    message: z.string().meta({ description: "How it stands, in words." }),
    last_error: z.string().nullable(),
    notes: z.array(z.string()).meta({ description: "What could not be made although the rest could." }),
    attempts: z.int().min(0).meta({ description: "Failures since a request last succeeded." }),
    next_attempt_datetime: Timestamp.nullable(),
    requested_datetime: Timestamp.nullable(),
    finished_datetime: Timestamp.nullable(),
    model: z.string().nullable(),
    used_tokens: TokenCount.meta({ description: "Of the present or last run." }),
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
    "How far the language model is with a recording, and why it is not further. Whoever sees the recording may.",
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
    "Has summary, action items and sections made anew; what is there stays until then. Action items that stay the same keep their status. The recording's recorders, admins and workspace tokens may.",
  params: RecordingParams,
  response: RecordingIntelligence,
  errors: ["forbidden", "not_found", "wrong_state"],
});

export const ActionItemDetail = z
  .strictObject({
    id: Uuid,
    status: z.enum(["pending", "completed"]),
    timestamp: Milliseconds.meta({ description: "Milliseconds at which it was mentioned." }),
    text: z.string(),
    quote: z.string().meta({ description: "What was said, as the transcript has it." }),
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
    "The action items of a recording in the order in which they were mentioned. Whoever sees the recording may.",
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
    "Ticks an action item, or changes its text or assignee; what is left out stays. The recording's recorders, admins and workspace tokens may; whom it is assigned to may tick it.",
  params: RecordingParams.extend({ item_id: Uuid }),
  body: z.object({
    status: z.enum(["pending", "completed"]).optional(),
    text: z.string().trim().min(1, "must not be blank").max(1000).optional(),
    assignee_id: z
      .union([Uuid, z.literal("")])
      .optional()
      .meta({ description: "Id of a participant; an empty text: nobody." }),
  }),
  response: ActionItemDetail,
  errors: [...changeErrors, "not_found"],
});
