import { z } from "zod";
import { CursorInput, NextCursor, Timestamp, TimestampInput, Uuid } from "./common.ts";
import { Hook, HookTypeName } from "./hooks.ts";
import { operation } from "./operation.ts";
import { versionNames } from "./versions.ts";

/** What the management API tells and repairs about hooks, beyond the contract. Source: design, "Hook delivery". */

export const HookDetails = Hook.omit({ secret: true })
  .extend({
    version: z.enum(versionNames).meta({ description: "The API version it was made under." }),
    scope: z.enum(["personal", "workspace"]),
    user_id: Uuid.meta({
      description: "Who made it; for one of the workspace the admin who issued the token it was made with.",
    }),
    disabled_reason: z.string().nullable().meta({ description: "Why it is off; null: it is on." }),
    disabled_datetime: Timestamp.nullable(),
    paused_until: Timestamp.nullable().meta({
      description: "Until when the receiver has asked for rest by `Retry-After`; nothing is sent before.",
    }),
    failing_since: Timestamp.nullable().meta({
      description: "Since when every attempt has failed; null: the last one succeeded, or there was none.",
    }),
    previous_secret_until: Timestamp.nullable().meta({
      description: "Until when requests are signed with the secret before as well; null: they are not.",
    }),
    pending: z.int().min(0).meta({ description: "Deliveries that wait for their first or next attempt." }),
    last_attempt: z
      .strictObject({
        datetime: Timestamp,
        status: z.int().nullable().meta({ description: "Null: no answer came." }),
        error: z.string().nullable().meta({ description: "Why it failed; null: it succeeded." }),
      })
      .nullable(),
  })
  .meta({ id: "HookDetails" });

export const deliveryStates = ["pending", "delivered", "exhausted", "gone", "withheld"] as const;

const DeliveryState = z.enum(deliveryStates).meta({
  description:
    "`pending`: waits for its first or next attempt. `delivered`: the receiver took it. `exhausted`: every attempt failed. `gone`: the receiver answered 410. `withheld`: never sent, or not again, since the hook's owner may not see the subject any more, or it was deleted.",
});

export const Delivery = z
  .strictObject({
    id: Uuid.meta({ description: "The `webhook-id` of its requests, the same for every attempt." }),
    event_type: HookTypeName,
    subject_id: Uuid.meta({
      description: "The recording, highlight, story or upload; of a test event the hook itself.",
    }),
    state: DeliveryState,
    attempts: z.int().min(0),
    created_datetime: Timestamp,
    due_datetime: Timestamp.nullable().meta({ description: "When it is tried next; null unless pending." }),
    settled_datetime: Timestamp.nullable().meta({ description: "Null while it is pending." }),
    last_status: z.int().nullable().meta({ description: "What the last attempt was answered with." }),
    last_error: z.string().nullable().meta({ description: "Why the last attempt failed." }),
  })
  .meta({ id: "Delivery" });

export const DeliveryDetails = Delivery.extend({
  request: z
    .strictObject({
      url: z.string(),
      headers: z.record(z.string(), z.string()).meta({
        description: "Id, time and signature of the last attempt; empty before the first.",
      }),
      body: z.string().nullable().meta({
        description:
          "What was sent, byte for byte; null before the first attempt, and when the hook's owner may not see the subject any more.",
      }),
    })
    .meta({ description: "What every attempt sends." }),
  attempts_log: z
    .array(
      z.strictObject({
        attempt: z.int().min(1),
        started_datetime: Timestamp,
        duration_ms: z.int().min(0),
        status: z.int().nullable().meta({ description: "Null: no answer came." }),
        error: z.string().nullable().meta({ description: "Why it failed; null: it succeeded." }),
        answer: z.string().nullable().meta({ description: "The first 20 kB of what came back." }),
      }),
    )
    .meta({ description: "The last 100 attempts, in order." }),
}).meta({ id: "DeliveryDetails" });

export const HookParams = z.object({ hook_id: Uuid });
export const DeliveryParams = z.object({ hook_id: Uuid, delivery_id: Uuid });

/** Longest overlap of two secrets, as long as deliveries are kept. */
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
    "The hooks of the token's scope, of every version, newest first, and how they fare; with `of=workspace` those of the workspace, for admins as well as workspace tokens.",
  query: z.object({
    of: z.enum(["token", "workspace"]).default("token").meta({
      description:
        "`workspace`: hooks made with workspace tokens. Admins look after them as after their own; what was sent is shown to them as far as they see its subject.",
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
  description: "One hook, of whatever version, and how it fares.",
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
  description: "What was or is to be sent to a hook, newest first, a page at a time. Kept for 30 days.",
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
  description: "One delivery with its request and every attempt.",
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
    "Sends a delivery again at once, whatever became of it, with a fresh schedule of retries. Same `webhook-id`, same bytes. 409 while the hook is disabled, and for what is withheld.",
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
    "Sends events of a range of time again, in their order. What was sent before keeps its `webhook-id`; what is withheld stays so. 409 while the hook is disabled.",
  params: HookParams,
  body: z.object({
    since: TimestampInput.meta({ description: "Events from then on; at most 30 days back." }),
    until: TimestampInput.optional().meta({
      description: "Events before that time; left out: up to now.",
    }),
    which: z.enum(["failed", "undelivered", "all"]).default("failed").meta({
      description:
        "`failed`: what every attempt failed for, or was answered with 410. `undelivered`: also events that were never to be sent, because the hook was disabled or not made yet. `all`: every event, delivered or not.",
    }),
  }),
  response: z.strictObject({
    count: z.int().min(0).meta({ description: "How many deliveries are due now." }),
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
    'Sends an event of the hook\'s type whose data is `{"test": true}`, signed and retried like any other. 409 while the hook is disabled.',
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
    "Gives the hook a new signing secret, shown this once. For the time of the overlap requests carry signatures of both, so that the receiver can change over. The secret before the previous one ends at once.",
  params: HookParams,
  body: z.object({
    overlap_sec: z.int().min(0).max(maxOverlapSec).default(defaultOverlapSec).meta({
      description: "Seconds for which the old secret stays good; 0 ends it at once.",
    }),
  }),
  response: z.strictObject({
    secret: z.string(),
    previous_secret_until: Timestamp.nullable().meta({ description: "Null: the old one has ended." }),
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
    "Switches a hook on again: what waits for it is sent, and it hears of what happens from now on. Replay brings what happened while it was off. An enabled hook stays as it is.",
  params: HookParams,
  response: HookDetails,
  errors: ["not_found"],
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
    "Switches a hook off: nothing is sent to it, and nothing that happens meanwhile is kept for it. A disabled hook stays as it is.",
  params: HookParams,
  response: HookDetails,
  errors: ["not_found"],
});
