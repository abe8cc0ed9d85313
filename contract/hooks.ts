import { z } from "zod";
import { Success, Timestamp, Uuid } from "./common.ts";
import { HighlightInclude } from "./highlights.ts";
import { operation } from "./operation.ts";
import { RecordingInclude } from "./recordings.ts";
import { UploadInclude } from "./uploads.ts";
import type { Gate } from "./versions.ts";

/** Every hook type with the gate that opens it and the include it takes. Source: contract.md, "Events". */
export const hookTypes = {
  recording_added: { gate: "every_version", include: RecordingInclude },
  recording_updated: { gate: "every_version", include: RecordingInclude },
  recording_deleted: { gate: "every_version", include: null },
  highlight_added: { gate: "every_version", include: HighlightInclude },
  highlight_updated: { gate: "every_version", include: HighlightInclude },
  highlight_deleted: { gate: "every_version", include: null },
  story_added: { gate: "every_version", include: null },
  story_updated: { gate: "every_version", include: null },
  story_deleted: { gate: "every_version", include: null },
  upload_added: { gate: "upload_hooks", include: UploadInclude },
  upload_updated: { gate: "upload_hooks", include: UploadInclude },
  upload_status: { gate: "upload_status_hook", include: null },
} as const satisfies Record<string, { gate: Gate; include: z.ZodObject | null }>;

export type HookType = keyof typeof hookTypes;
export const HookTypeName = z.enum(Object.keys(hookTypes) as [HookType, ...HookType[]]);

export const Hook = z
  .strictObject({
    id: Uuid,
    enabled: z.boolean(),
    hook_url: z.string().meta({ description: "Where the service posts." }),
    hook_type: HookTypeName,
    include: z.record(z.string(), z.unknown()),
    inserted_at: Timestamp,
    secret: z.string().optional().meta({ description: "Signing secret; only in the answer to Create Hook." }),
  })
  .meta({ id: "Hook" });

export const createHook = operation({
  id: "createHook",
  tag: "Hooks",
  gate: "every_version",
  permission: "write",
  method: "POST",
  path: "/_/public-api/v2/hooks/create",
  summary: "Create Hook",
  description: "Registers an address for events of one type, once it has answered a test request with 2xx.",
  body: z.object({
    hook_url: z.string().max(2000),
    hook_type: HookTypeName,
    include: z.record(z.string(), z.unknown()).optional(),
  }),
  response: Hook,
  errors: ["invalid_json", "invalid_input", "body_too_large", "hook_unreachable", "wrong_state"],
});

export const listHooks = operation({
  id: "listHooks",
  tag: "Hooks",
  gate: "every_version",
  permission: "read",
  method: "POST",
  path: "/_/public-api/v2/hooks",
  summary: "List Hooks",
  description: "The hooks of the token's scope.",
  body: z.object({
    filter: z
      .object({ hook_type: HookTypeName.optional(), state: z.enum(["enabled", "disabled"]).optional() })
      .meta({ id: "HookFilter" })
      .optional(),
  }),
  response: z.strictObject({ hooks: z.array(Hook) }),
  errors: ["invalid_json", "invalid_input", "body_too_large"],
});

export const deleteHook = operation({
  id: "deleteHook",
  tag: "Hooks",
  gate: "every_version",
  permission: "write",
  method: "DELETE",
  path: "/_/public-api/v2/hooks/:hook_id",
  summary: "Delete Hook",
  description: "Removes a hook; nothing more is sent to it.",
  params: z.object({ hook_id: Uuid }),
  response: Success,
  errors: ["not_found"],
});
