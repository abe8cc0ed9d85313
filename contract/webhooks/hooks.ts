import { z } from "zod";
import { ignoredIncludeWarning, Success, Timestamp, Uuid } from "../common.ts";
import { operation } from "../operation.ts";
import { HighlightInclude } from "../recordings/highlights.ts";
import { RecordingInclude } from "../recordings/recordings.ts";
import { UploadInclude } from "../uploads/uploads.ts";
import { type Gate, isOpen, type VersionName } from "../versions.ts";

/** Every hook type with its version gate and include schema. Source: contract.md, "Events". */
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
  // Parley's own: contract.md does not show all types of 2026-10-01.
  transcription_updated: { gate: "transcription_hook", include: null },
} as const satisfies Record<string, { gate: Gate; include: z.ZodObject | null }>;

export type HookType = keyof typeof hookTypes;
const names = Object.keys(hookTypes) as [HookType, ...HookType[]];

export function hookTypesIn(version: VersionName): HookType[] {
  return names.filter((name) => isOpen(hookTypes[name].gate, version));
}

/** Narrows a string to a hook type of any version. */
export function isHookType(name: string): name is HookType {
  return Object.hasOwn(hookTypes, name);
}

/** A hook type in responses of versioned operations; each version's OpenAPI document lists only its own types. */
export const HookTypeName = z.enum(names);

/** A hook type in requests. The route validates it, because the allowed types depend on the version. */
export const HookTypeInput = z.string().max(100);

/**
 * A hook type in the management API, which is unversioned and shows hooks of every version. The OpenAPI documents list no
 * values for it.
 */
export const AnyHookType = z.enum(names).meta({ description: "A hook type of any API version." });

/** The extra data of a hook's events; the OpenAPI documents list the include schemas of their version. */
export const HookInclude = z.record(z.string(), z.unknown());

export const Hook = z
  .strictObject({
    id: Uuid,
    enabled: z.boolean(),
    hook_url: z.string().meta({
      description: "URL that receives the events, without the user name and password it was created with.",
    }),
    hook_type: HookTypeName,
    include: HookInclude,
    inserted_at: Timestamp,
    secret: z
      .string()
      .optional()
      .meta({ description: "Signing secret; only in the response of Create Hook." }),
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
  description:
    "Registers a URL for events of one type. The service first sends it a test request, which must return 2xx.",
  body: z.object({
    hook_url: z.string().max(2000).meta({
      description:
        "The URL to post to. A user name and password in it (https://user:password@host/) are stored encrypted, sent as Basic authentication and never shown again.",
    }),
    hook_type: HookTypeInput,
    include: HookInclude.optional(),
  }),
  response: Hook,
  responseHeaders: { Warning: ignoredIncludeWarning },
  errors: ["invalid_json", "invalid_input", "body_too_large", "hook_unreachable", "quota_exceeded"],
});

export const listHooks = operation({
  id: "listHooks",
  tag: "Hooks",
  gate: "every_version",
  permission: "read",
  method: "POST",
  path: "/_/public-api/v2/hooks",
  summary: "List Hooks",
  description: "Lists the hooks of the token's scope.",
  body: z.object({
    filter: z
      .object({ hook_type: HookTypeInput.optional(), state: z.enum(["enabled", "disabled"]).optional() })
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
  description: "Deletes a hook. Nothing more is sent to it.",
  params: z.object({ hook_id: Uuid }),
  response: Success,
  errors: ["not_found"],
});
