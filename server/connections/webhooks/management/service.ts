import { randomUUID } from "node:crypto";
import { because } from "../../../../contract/causes/causes.ts";
import type { Violation } from "../../../../contract/errors.ts";
import { sentences } from "../../../../contract/sentences.ts";
import { parseTimestamp } from "../../../../shared/times/timestamp.ts";
import { type AuditActor, recordAudit } from "../../../platform/audit/record.ts";
import type { Principal } from "../../../platform/auth/principal.ts";
import type { Encryptor } from "../../../platform/crypto/encryptor.ts";
import type { Database } from "../../../platform/db/database.ts";
import { transactWithRetry } from "../../../platform/db/retry.ts";
import { invalidInput, ProblemError } from "../../../platform/http/errors/problem.ts";
import type { JobQueue } from "../../../platform/jobs/queue.ts";
import { holdAccess, holdAccessOf, isSameAccess } from "../api/access.ts";
import { disabledReason, isOn } from "../api/present.ts";
import type { HookRow } from "../api/queries.ts";
import { hookNotFound } from "../api/routes.ts";
import { keptDays } from "../deliveries/history.ts";
import { type ReplayKind, type ReplayRange, replay } from "../deliveries/replay.ts";
import { insertTestDelivery, requeueDelivery } from "../deliveries/requeue.ts";
import { newSecret } from "../transport/signing.ts";
import { disableHookRow, enableHookRow, lockHook, replaceSecret } from "./queries.ts";

interface Dependencies {
  readonly db: Database;
  readonly jobs: Pick<JobQueue, "wake">;
}

export function deliveryNotFound(deliveryId: string): ProblemError {
  return new ProblemError("not_found", `this hook has no delivery ${deliveryId}; they are kept for 30 days`);
}

/** @throws ProblemError `wrong_state` for a disabled hook, to which nothing would be sent. */
function checkEnabled(hook: HookRow): void {
  if (isOn(hook, new Date())) return;
  throw new ProblemError("wrong_state", because("hook_disabled", { reason: disabledReason(hook) }));
}

/** Why a delivery can't be sent again. */
const refusals = {
  suppressed: "the delivery is `withheld`: its subject was deleted, or the hook's owner can no longer see it",
  deleted: "the delivery can't be sent: its event and payload were deleted with its subject",
} as const;

/** Sends one delivery again, with a fresh schedule; it keeps its webhook-id and its bytes. */
export async function resend(
  { db, jobs }: Dependencies,
  hook: HookRow,
  delivery: { readonly message_id: string },
): Promise<void> {
  checkEnabled(hook);
  await db.kysely.transaction().execute(async (tx) => {
    const outcome = await requeueDelivery(tx, hook.id, delivery.message_id);
    if (outcome !== "done") throw new ProblemError("wrong_state", refusals[outcome]);
  });
  jobs.wake();
}

/**
 * Reads the range of a replay.
 * @throws ProblemError `invalid_input` if it begins before the oldest kept event, or is empty.
 */
export function readRange(input: { since: string; until?: string | undefined }, now: Date): ReplayRange {
  const since = parseTimestamp(input.since) ?? now;
  const until = input.until === undefined ? now : (parseTimestamp(input.until) ?? now);
  const violations: Violation[] = [];
  if (since.getTime() < now.getTime() - keptDays * 86_400_000) {
    violations.push({
      pointer: "/since",
      detail: `is too long ago: events and deliveries are kept for ${keptDays} days`,
    });
  }
  if (until <= since) {
    violations.push(
      input.until === undefined
        ? { pointer: "/since", detail: "is in the future" }
        : { pointer: "/until", detail: "must be later than since" },
    );
  }
  if (violations.length > 0) throw invalidInput(violations);
  return { since, until };
}

/** Sends a range of events again. @returns how many deliveries are due. */
export async function replayEvents(
  { db, jobs }: Dependencies,
  hook: HookRow,
  kind: ReplayKind,
  range: ReplayRange,
): Promise<number> {
  checkEnabled(hook);
  const count = await replay(db, hook.id, kind, range);
  jobs.wake();
  return count;
}

/** Sends a test event. @returns its webhook-id. */
export async function sendTest({ db, jobs }: Dependencies, hook: HookRow): Promise<string> {
  checkEnabled(hook);
  const messageId = randomUUID();
  const payload = JSON.stringify({ type: hook.hook_type, user_id: hook.created_by, data: { test: true } });
  await db.kysely.transaction().execute((tx) => insertTestDelivery(tx, hook.id, messageId, payload));
  jobs.wake();
  return messageId;
}

/** Replaces the hook's secret. @returns the new one, and when the old one ends; null: it has ended. */
export async function rotateSecret(
  { db, encryptor }: { readonly db: Database; readonly encryptor: Encryptor },
  hook: HookRow,
  overlapSec: number,
  actor: AuditActor,
): Promise<{ secret: string; until: Date | null }> {
  const secret = newSecret();
  const until = overlapSec === 0 ? null : new Date(Date.now() + overlapSec * 1000);
  const isDone = await db.kysely.transaction().execute(async (tx) => {
    if (!(await replaceSecret(tx, hook.id, encryptor.encrypt(secret), until))) return false;
    await recordAudit(tx, actor, {
      action: "hook_secret_rotated",
      subject: { type: "hook", id: hook.id },
      details: { overlap_sec: overlapSec },
    });
    return true;
  });
  if (!isDone) throw hookNotFound(hook.id);
  return { secret, until };
}

/**
 * Enables a hook, unless it is enabled already. A hook whose access has ended depends on the caller's from now on.
 * @throws ProblemError `wrong_state` when another user changed the hook at the same moment.
 */
export async function enable(
  { db, jobs }: Dependencies,
  hook: HookRow,
  principal: Principal,
  actor: AuditActor,
): Promise<void> {
  await transactWithRetry(db, async (tx) => {
    const own = await holdAccess(tx, principal);
    // Access is locked before the hook, as in a revocation, so that neither waits for the other.
    const isActive = await holdAccessOf(tx, hook);
    const locked = await lockHook(tx, hook.id);
    if (locked === undefined) throw hookNotFound(hook.id);
    if (isOn(locked, new Date())) return;
    if (!isSameAccess(locked, hook)) throw new ProblemError("wrong_state", because("hook_changed"));
    await enableHookRow(tx, hook.id, isActive ? locked : own);
    await recordAudit(tx, actor, {
      action: "hook_enabled",
      subject: { type: "hook", id: hook.id },
      details: { hook_type: hook.hook_type, taken_over: !isActive },
    });
  });
  jobs.wake();
}

/** Disables a hook; one that is disabled keeps its reason. */
export async function disable(
  { db }: { readonly db: Database },
  hook: HookRow,
  actor: AuditActor,
): Promise<void> {
  const reason = sentences.hook_by_owner;
  await db.kysely.transaction().execute(async (tx) => {
    if (!(await disableHookRow(tx, hook.id, reason))) return;
    await recordAudit(tx, actor, {
      action: "hook_disabled",
      subject: { type: "hook", id: hook.id },
      details: { reason, hook_type: hook.hook_type },
    });
  });
}
