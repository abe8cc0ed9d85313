import { z } from "zod";
import { CursorInput, NextCursor, Timestamp, TimestampInput, Uuid } from "../common.ts";
import { operation } from "../operation.ts";
import { versionNames } from "../versions.ts";
import { AnyHookType, Hook } from "./hooks.ts";

/** Hook operations of the management API: health, deliveries, resend, replay, secrets. Source: design, "Hook delivery". */

export const HookDetails = Hook.omit({ secret: true })
  .extend({
    hook_type: AnyHookType,
    version: z.enum(versionNames).meta({ description: "The API version it was created with." }),
    scope: z.enum(["personal", "workspace"]),
    user_id: Uuid.meta({
      description:
        "The hook's owner: the user who created it, or who re-enabled it after the owner's access ended; for a workspace hook, the admin who issued the token.",
    }),
    disabled_reason: z.string().nullable().meta({ description: "Why it is disabled; null: it is enabled." }),
    disabled_datetime: Timestamp.nullable(),
    paused_until: Timestamp.nullable().meta({
      description: "Nothing is sent before this time, because the receiver sent `Retry-After`.",
    }),
    failing_since: Timestamp.nullable().meta({
      description:
        "Start of the current run of failed attempts; null if the last attempt succeeded or there was none.",
    }),
    previous_secret_until: Timestamp.nullable().meta({
      description: "Until then requests are also signed with the previous secret; null: they are not.",
    }),
    pending: z
      .int()
      .min(0)
      .meta({ description: "Number of deliveries waiting for their first or next attempt." }),
    last_attempt: z
      .strictObject({
        datetime: Timestamp,
        status: z.int().nullable().meta({ description: "Null: no response arrived." }),
        error: z.string().nullable().meta({ description: "Why it failed; null: it succeeded." }),
      })
      .nullable(),
  })
  .meta({ id: "HookDetails" });

export const deliveryStates = ["pending", "delivered", "exhausted", "gone", "withheld"] as const;

const DeliveryState = z.enum(deliveryStates).meta({
  description:
    "`pending`: waiting for its first or next attempt. `delivered`: the receiver returned 2xx. `exhausted`: every attempt failed. `gone`: the receiver returned 410. `withheld`: not sent or not retried, because the hook's owner can no longer see the subject or it was deleted.",
});

export const Delivery = z
  .strictObject({
    id: Uuid.meta({ description: "The `webhook-id` of its requests; the same for every attempt." }),
    event_type: AnyHookType,
    subject_id: Uuid.meta({
      description: "The recording, highlight, story or upload; for a test event, the hook itself.",
    }),
    state: DeliveryState,
    attempts: z.int().min(0),
    created_datetime: Timestamp,
    due_datetime: Timestamp.nullable().meta({
      description: "Time of the next attempt; null unless pending.",
    }),
    settled_datetime: Timestamp.nullable().meta({
      description: "When it left `pending`; null while pending.",
    }),
    last_status: z.int().nullable().meta({ description: "HTTP status of the last attempt's response." }),
    last_error: z.string().nullable().meta({ description: "Why the last attempt failed." }),
  })
  .meta({ id: "Delivery" });

export const DeliveryDetails = Delivery.extend({
  request: z
    .strictObject({
      url: z.string(),
      headers: z.record(z.string(), z.string()).meta({
        description: "The id, timestamp and signature headers of the last attempt; empty before the first.",
      }),
      body: z.string().nullable().meta({
        description:
          "The exact body that was sent; null before the first attempt, and if the hook's owner can no longer see the subject.",
      }),
    })
    .meta({ description: "The request of every attempt." }),
  attempts_log: z
    .array(
      z.strictObject({
        attempt: z.int().min(1),
        started_datetime: Timestamp,
        duration_ms: z.int().min(0),
        status: z.int().nullable().meta({ description: "Null: no response arrived." }),
        error: z.string().nullable().meta({ description: "Why it failed; null: it succeeded." }),
        answer: z.string().nullable().meta({ description: "The first 20 kB of the response body." }),
      }),
    )
    .meta({ description: "The last 100 attempts, in order." }),
}).meta({ id: "DeliveryDetails" });

export const HookParams = z.object({ hook_id: Uuid });
export const DeliveryParams = z.object({ hook_id: Uuid, delivery_id: Uuid });

/** Maximum overlap of two secrets: as long as deliveries are kept. */
const maxOverlapSec = 30 * 86_400;
export const defaultOverlapSec = 86_400;

export const listAllHooks = operation({
  id: "listAllHooks",
  tag: "Hooks",
  gate: "every_version",
  permission: "read",
  method: "GET",
  path: "/_/api/v1/hooks",
  summary: "List Hooks With Details",
  description:
    "Lists the hooks of the token's scope, of every API version, newest first, with their health; with `of=workspace` the workspace's hooks, for admins and workspace tokens.",
  query: z.object({
    of: z.enum(["token", "workspace"]).default("token").meta({
      description:
        "`workspace`: hooks created with workspace tokens. Admins manage them like their own, and see payloads of subjects they can see.",
    }),
  }),
  response: z.strictObject({ hooks: z.array(HookDetails) }),
  errors: ["invalid_input", "forbidden"],
});

export const getHook = operation({
  id: "getHook",
  tag: "Hooks",
  gate: "every_version",
  permission: "read",
  method: "GET",
  path: "/_/api/v1/hooks/:hook_id",
  summary: "Get Hook",
  description: "Returns a hook of any API version, with its health.",
  params: HookParams,
  response: HookDetails,
  errors: ["not_found"],
});

export const listDeliveries = operation({
  id: "listDeliveries",
  tag: "Hooks",
  gate: "every_version",
  permission: "read",
  method: "GET",
  path: "/_/api/v1/hooks/:hook_id/deliveries",
  summary: "List Deliveries",
  description: "Lists a hook's deliveries, sent and pending, newest first, paginated. Kept for 30 days.",
  params: HookParams,
  query: z.object({ state: DeliveryState.optional(), cursor: CursorInput.optional() }),
  response: z.strictObject({ deliveries: z.array(Delivery), cursor: NextCursor }),
  errors: ["invalid_input", "invalid_cursor", "not_found"],
});

export const getDelivery = operation({
  id: "getDelivery",
  tag: "Hooks",
  gate: "every_version",
  permission: "read",
  method: "GET",
  path: "/_/api/v1/hooks/:hook_id/deliveries/:delivery_id",
  summary: "Get Delivery",
  description: "Returns a delivery with its request and attempts.",
  params: DeliveryParams,
  response: DeliveryDetails,
  errors: ["not_found"],
});

export const resendDelivery = operation({
  id: "resendDelivery",
  tag: "Hooks",
  gate: "every_version",
  permission: "write",
  method: "POST",
  path: "/_/api/v1/hooks/:hook_id/deliveries/:delivery_id/resend",
  summary: "Resend Delivery",
  description:
    "Sends a delivery again immediately, in any state but `withheld`, and restarts its retry schedule. The `webhook-id` and the body stay the same. Returns 409 if the hook is disabled or the delivery is withheld.",
  params: DeliveryParams,
  response: Delivery,
  errors: ["not_found", "wrong_state"],
});

export const replayHook = operation({
  id: "replayHook",
  tag: "Hooks",
  gate: "every_version",
  permission: "write",
  method: "POST",
  path: "/_/api/v1/hooks/:hook_id/replay",
  summary: "Replay Events",
  description:
    "Sends the events of a time range again, in order. Earlier deliveries keep their `webhook-id`; withheld ones stay withheld. Returns 409 if the hook is disabled.",
  params: HookParams,
  body: z.strictObject({
    since: TimestampInput.meta({ description: "Events at this time or later; at most 30 days ago." }),
    until: TimestampInput.optional().meta({
      description: "Events before this time. Default: now.",
    }),
    which: z.enum(["failed", "undelivered", "all"]).default("failed").meta({
      description:
        "`failed`: deliveries that are `exhausted` or `gone`. `undelivered`: also events without a delivery, because the hook was disabled or did not exist yet. `all`: every event.",
    }),
  }),
  response: z.strictObject({
    count: z.int().min(0).meta({ description: "Number of deliveries that are now due." }),
  }),
  errors: ["invalid_json", "invalid_input", "body_too_large", "not_found", "wrong_state"],
});

export const testHook = operation({
  id: "testHook",
  tag: "Hooks",
  gate: "every_version",
  permission: "write",
  method: "POST",
  path: "/_/api/v1/hooks/:hook_id/test",
  summary: "Send Test Event",
  description:
    'Sends an event of the hook\'s type whose data is `{"test": true}`, signed and retried like any other. Returns 409 if the hook is disabled.',
  params: HookParams,
  response: Delivery,
  errors: ["not_found", "wrong_state"],
});

export const rotateHookSecret = operation({
  id: "rotateHookSecret",
  tag: "Hooks",
  gate: "every_version",
  permission: "write",
  method: "POST",
  path: "/_/api/v1/hooks/:hook_id/rotate-secret",
  summary: "Rotate Secret",
  description:
    "Replaces the hook's signing secret and returns the new one, which is not shown again. During the overlap, requests carry signatures of both secrets, so that the receiver can switch. An older previous secret expires immediately.",
  params: HookParams,
  body: z.strictObject({
    overlap_sec: z.int().min(0).max(maxOverlapSec).default(defaultOverlapSec).meta({
      description: "Seconds for which the old secret stays valid; 0: expires immediately.",
    }),
  }),
  response: z.strictObject({
    secret: z.string(),
    previous_secret_until: Timestamp.nullable().meta({ description: "Null: the old secret has expired." }),
  }),
  errors: ["invalid_json", "invalid_input", "body_too_large", "not_found"],
});

export const enableHook = operation({
  id: "enableHook",
  tag: "Hooks",
  gate: "every_version",
  permission: "write",
  method: "POST",
  path: "/_/api/v1/hooks/:hook_id/enable",
  summary: "Enable Hook",
  description:
    "Enables a disabled hook: pending deliveries and new events are sent. Use Replay Events for events since it was disabled. If the access that created the hook has ended (token revoked or expired, user deactivated or demoted, app deauthorized), the caller becomes the hook's owner, and the hook is disabled when the caller's access ends. Has no effect on an enabled hook.",
  params: HookParams,
  response: HookDetails,
  errors: ["forbidden", "not_found", "wrong_state"],
});

export const disableHook = operation({
  id: "disableHook",
  tag: "Hooks",
  gate: "every_version",
  permission: "write",
  method: "POST",
  path: "/_/api/v1/hooks/:hook_id/disable",
  summary: "Disable Hook",
  description:
    "Disables a hook: nothing is sent to it, and no deliveries are created while it is disabled. Has no effect on a disabled hook.",
  params: HookParams,
  response: HookDetails,
  errors: ["not_found"],
});
