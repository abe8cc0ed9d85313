import type { z } from "zod";
import type {
  Delivery,
  DeliveryDetails,
  HookDetails,
} from "../../../../contract/webhooks/hook-management.ts";
import { disabledReason, isOn, presentHook } from "../api/present.ts";
import type { HookRow } from "../api/queries.ts";
import type { AttemptRow, DeliveryContentRow, DeliveryRow, HookActivity } from "./log-queries.ts";

/** A hook as the management API shows it. */
export function presentHookDetails(
  row: HookRow,
  activity: HookActivity | undefined,
  now: Date,
): z.input<typeof HookDetails> {
  const overlapEnd = row.previous_secret_until;
  return {
    ...presentHook(row),
    version: row.version,
    scope: row.scope,
    user_id: row.created_by,
    disabled_reason: isOn(row, now) ? null : disabledReason(row),
    disabled_datetime: isOn(row, now) ? null : toText(row.disabled_at ?? row.access_until),
    failing_since: toText(row.failing_since),
    paused_until: row.paused_until !== null && row.paused_until > now ? toText(row.paused_until) : null,
    previous_secret_until: overlapEnd !== null && overlapEnd > now ? toText(overlapEnd) : null,
    pending: activity?.pending ?? 0,
    last_attempt: activity?.started_at
      ? { datetime: activity.started_at.toISOString(), status: activity.status, error: activity.error }
      : null,
  };
}

export function presentDelivery(row: DeliveryRow): z.input<typeof Delivery> {
  return {
    id: row.message_id,
    event_type: row.event_type,
    subject_id: row.subject_id,
    state: row.state,
    attempts: row.attempts,
    created_datetime: row.created_at.toISOString(),
    due_datetime: row.state === "pending" ? row.due_at.toISOString() : null,
    settled_datetime: toText(row.settled_at),
    last_status: row.last_status,
    last_error: row.last_error,
  };
}

/**
 * A delivery with its content, which is shown only to users who can see its subject now: the log must not reveal what was
 * unshared since. Responses may repeat what was sent.
 */
export function presentDeliveryDetails(
  hook: Pick<HookRow, "hook_url">,
  row: DeliveryContentRow,
  attempts: readonly AttemptRow[],
): z.input<typeof DeliveryDetails> {
  const isShown = row.can_receive && row.may_read && row.state !== "withheld";
  return {
    ...presentDelivery(row),
    request: {
      url: hook.hook_url,
      headers: attempts.at(-1)?.request_headers ?? {},
      body: isShown ? row.payload : null,
    },
    attempts_log: attempts.map((attempt) => ({
      attempt: attempt.attempt,
      started_datetime: attempt.started_at.toISOString(),
      duration_ms: attempt.duration_ms,
      status: attempt.status,
      error: attempt.error,
      answer: isShown ? attempt.response : null,
    })),
  };
}

function toText(time: Date | null): string | null {
  return time === null ? null : time.toISOString();
}
