import { randomUUID } from "node:crypto";
import { type AuditActor, recordAudit } from "../audit/record.ts";
import type { Database } from "../db/database.ts";
import { ProblemError } from "../http/problem.ts";
import type { JobQueue } from "../jobs/queue.ts";
import type { Sealer } from "../links/sealer.ts";
import {
  disableHookRow,
  enableHookRow,
  insertTestDelivery,
  markDue,
  replaceSecret,
  resetDelivery,
} from "./management-queries.ts";
import { type ReplayKind, type ReplayRange, replay } from "./management-replay.ts";
import type { HookRow } from "./queries.ts";
import { hookNotFound } from "./routes.ts";
import { newSecret } from "./signing.ts";

interface Dependencies {
  readonly db: Database;
  readonly jobs: Pick<JobQueue, "wake">;
}

/** What a caller reads who asks for a delivery that this hook does not have, or has no more. */
export function deliveryNotFound(deliveryId: string): ProblemError {
  return new ProblemError("not_found", `this hook has no delivery ${deliveryId}; they are kept for 30 days`);
}

/** @throws ProblemError `wrong_state`: nothing is sent to a hook that is off, so asking for it would only seem to work. */
function checkEnabled(hook: HookRow): void {
  if (hook.disabled_at === null) return;
  throw new ProblemError(
    "wrong_state",
    `the hook is disabled (${hook.disabled_reason ?? "no reason is known"}); enable it first`,
  );
}

/** Why a delivery can't be sent again. */
const refusals = {
  withheld: "the delivery is withheld: the hook's owner may not see its subject any more, or it was deleted",
  "nothing left":
    "nothing is left of the delivery to be sent: its event and its payload are gone, as its subject was deleted",
} as const;

/** Sends one delivery again, with a fresh schedule; it keeps its webhook-id and its bytes. */
export async function resend(
  { db, jobs }: Dependencies,
  hook: HookRow,
  delivery: { readonly message_id: string },
): Promise<void> {
  checkEnabled(hook);
  await db.kysely.transaction().execute(async (tx) => {
    const outcome = await resetDelivery(tx, hook.id, delivery.message_id);
    if (outcome !== "done") throw new ProblemError("wrong_state", refusals[outcome]);
    await markDue(tx, hook.id);
  });
  jobs.wake();
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

/** Sends an event that tells of nothing. @returns its webhook-id. */
export async function sendTest({ db, jobs }: Dependencies, hook: HookRow): Promise<string> {
  checkEnabled(hook);
  const messageId = randomUUID();
  const payload = JSON.stringify({ type: hook.hook_type, user_id: hook.created_by, data: { test: true } });
  await db.kysely.transaction().execute(async (tx) => {
    await insertTestDelivery(tx, hook, messageId, payload);
    await markDue(tx, hook.id);
  });
  jobs.wake();
  return messageId;
}

/** Gives the hook a new secret. @returns it, and until when the old one stays good; null: it has ended. */
export async function rotateSecret(
  { db, sealer }: { readonly db: Database; readonly sealer: Sealer },
  hook: HookRow,
  overlapSec: number,
  actor: AuditActor,
): Promise<{ secret: string; until: Date | null }> {
  const secret = newSecret();
  const until = overlapSec === 0 ? null : new Date(Date.now() + overlapSec * 1000);
  const isDone = await db.kysely.transaction().execute(async (tx) => {
    if (!(await replaceSecret(tx, hook.id, sealer.seal(secret), until))) return false;
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

/** Switches a hook on; one that is on stays as it is. */
export async function enable({ db, jobs }: Dependencies, hook: HookRow): Promise<void> {
  await db.kysely.transaction().execute((tx) => enableHookRow(tx, hook.id));
  jobs.wake();
}

/** Switches a hook off; one that is off stays as it is, with its reason. */
export async function disable({ db }: { readonly db: Database }, hook: HookRow): Promise<void> {
  await db.kysely.transaction().execute((tx) => disableHookRow(tx, hook.id, "switched off by its owner"));
}
