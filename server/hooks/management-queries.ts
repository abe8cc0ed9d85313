import { sql } from "kysely";
import type { Tx } from "../db/database.ts";
import { unpackDelivery } from "./batch-queries.ts";
import type { DeliveryState } from "./log-queries.ts";
import type { HookRow } from "./queries.ts";

/** What keeps a delivery from being sent again: it is withheld, or of what it told nothing is left. */
export type ResetOutcome = "done" | "withheld" | "nothing left";

/** Makes a delivery due now, with a fresh schedule, if there is something to send. */
export async function resetDelivery(tx: Tx, hookId: string, messageId: string): Promise<ResetOutcome> {
  await unpackDelivery(tx, hookId, messageId);
  const { rows } = await sql<{ id: string; state: DeliveryState; has_content: boolean }>`
    select id, state, payload is not null or exists (select 1 from events e where e.id = deliveries.event_id) as has_content
    from deliveries where message_id = ${messageId} and hook_id = ${hookId} for update`.execute(tx);
  const [delivery] = rows;
  if (delivery === undefined || delivery.state === "withheld") return "withheld";
  if (!delivery.has_content) return "nothing left";
  await sql`
    update deliveries set state = 'pending', due_at = now(), attempts_before = attempts, settled_at = null
    where id = ${delivery.id}`.execute(tx);
  return "done";
}

/** Holds a hook against deletion, which takes its deliveries along, until the end of the transaction. */
export async function holdHook(tx: Tx, hookId: string): Promise<void> {
  await sql`select 1 from hooks where id = ${hookId} for key share`.execute(tx);
}

/** Adds a delivery that belongs to no event, ready to be sent. */
export async function insertTestDelivery(
  tx: Tx,
  hook: Pick<HookRow, "id">,
  messageId: string,
  payload: string,
): Promise<void> {
  await sql`
    insert into deliveries (message_id, hook_id, event_type, subject_id, payload)
    select ${messageId}, id, hook_type, id, ${payload} from hooks where id = ${hook.id} for key share`.execute(
    tx,
  );
}

/**
 * Has the hook looked at, also one whose receiver has asked for rest: somebody wants it now. After the change of deliveries and in its transaction: whoever lets go of the hook meanwhile
 * waits for the row and then sees them, or is done before and finds its mark replaced. The order, deliveries before
 * their hook, is that of fan-out and of settling, so none of them waits for another in a circle.
 */
export async function markDue(tx: Tx, hookId: string): Promise<void> {
  await sql`update hooks set next_due_at = least(next_due_at, now()), paused_until = null where id = ${hookId}`.execute(
    tx,
  );
}

/**
 * Ends the work of whoever sends to the hook by what it read before, soon: a worker that finds its hold gone begins
 * nothing more. Until that is certain, nobody else takes the hook.
 */
const recallWorker = sql`leased_by = null,
  leased_until = case when leased_until > now() then now() + interval '10 s' end`;

/** Switches a hook off. @returns whether it was on. */
export async function disableHookRow(tx: Tx, hookId: string, reason: string): Promise<boolean> {
  const { rows } = await sql`
    update hooks set disabled_at = now(), disabled_reason = ${reason}, ${recallWorker}
    where id = ${hookId} and disabled_at is null returning id`.execute(tx);
  return rows.length > 0;
}

/** Switches a hook on, as if it had never failed. @returns whether it was off. */
export async function enableHookRow(tx: Tx, hookId: string): Promise<boolean> {
  const { rows } = await sql`
    select id from hooks where id = ${hookId} and disabled_at is not null for no key update`.execute(tx);
  if (rows.length === 0) return false;
  // A statement of its own, to see what was settled until the lock was had.
  await sql`
    update hooks set disabled_at = null, disabled_reason = null, failing_since = null, paused_until = null,
      -- Of an app that is gone, it is now the person's own.
      oauth_grant_id = (select g.id from oauth_grants g where g.id = hooks.oauth_grant_id),
      next_due_at = parley_next_due(${hookId})
    where id = ${hookId}`.execute(tx);
  return true;
}

/** Replaces the secret. @param until how long the old one stays good; null: it ends now. */
export async function replaceSecret(
  tx: Tx,
  hookId: string,
  secret: Buffer,
  until: Date | null,
): Promise<boolean> {
  const { rows } = await sql`
    update hooks set secret = ${secret}, previous_secret = ${until === null ? sql`null` : sql.ref("secret")},
      previous_secret_until = ${until}, ${recallWorker}
    where id = ${hookId} returning id`.execute(tx);
  return rows.length > 0;
}
