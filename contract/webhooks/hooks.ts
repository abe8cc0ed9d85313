import { z } from "zod";
import { ignoredIncludeWarning, Success, Timestamp, Uuid } from "../common.ts";
import { operation } from "../operation.ts";
import { HighlightInclude } from "../recordings/highlights.ts";
import { RecordingInclude } from "../recordings/recordings.ts";
import { UploadInclude } from "../uploads/uploads.ts";
import { type HookType, hookTypeNames, hookTypes } from "./hook-types.ts";

const includes = { recording: RecordingInclude, highlight: HighlightInclude, upload: UploadInclude };

/** The schema of what hooks of a type can include; null: nothing. */
export function includeOf(type: HookType): z.ZodObject | null {
  const { include } = hookTypes[type];
  return include === null ? null : includes[include];
}

/** A hook type in responses of versioned operations; each version's OpenAPI document lists only its own types. */
export const HookTypeName = z.enum(hookTypeNames);

/** A hook type in requests. The route validates it, because the allowed types depend on the version. */
export const HookTypeInput = z.string().max(100);

/**
 * A hook type in the management API, which is unversioned and shows hooks of every version. The OpenAPI documents list no
 * values for it.
 */
export const AnyHookType = z.enum(hookTypeNames).meta({ description: "A hook type of any API version." });

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
