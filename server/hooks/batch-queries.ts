import { sql } from "kysely";
import type pg from "pg";
import type { Tx } from "../db/database.ts";

/**
 * Deliveries in batches (migration 0024): many first attempts of a hook that became due together are one row until they
 * are settled. Each has its ids from the beginning, so it is the same delivery whether it is in a batch or a row.
 */

/** Batches unpacked in one statement: some twenty thousand deliveries. */
const mostAtOnce = 100;

/**
 * Unpacks batches of a hook and of the others with its address. Whose turn it is among several is seen of rows; a hook that
 * is alone keeps its batches.
 */
export async function unpackAround(pool: pg.Pool, hookId: string): Promise<void> {
  await pool.query(
    `select parley_unpack_batches(array(
       select b.id from delivery_batches b where b.hook_id in (
         select near.id from hooks h join hooks near on near.workspace_id = h.workspace_id and near.hook_url = h.hook_url
         where h.id = $1)
       and exists (
         select 1 from hooks h join hooks other on other.workspace_id = h.workspace_id and other.hook_url = h.hook_url
         where h.id = $1 and other.id <> h.id)
       order by b.id limit ${mostAtOnce}))`,
    [hookId],
  );
}

/** Unpacks what holds this delivery of a hook. */
export async function unpackDelivery(tx: Tx, hookId: string, messageId: string): Promise<void> {
  await sql`
    select parley_unpack_batches(array(
      select id from delivery_batches where hook_id = ${hookId} and ${messageId}::uuid = any(message_ids)))`.execute(
    tx,
  );
}

/** Unpacks all batches that a hook has now, a part at a time. */
export async function unpackHook(pool: pg.Pool, hookId: string): Promise<void> {
  const { rows } = await pool.query<{ id: string }>(
    "select id from delivery_batches where hook_id = $1 order by due_at, id",
    [hookId],
  );
  for (let at = 0; at < rows.length; at += mostAtOnce)
    await pool.query("select parley_unpack_batches($1)", [
      rows.slice(at, at + mostAtOnce).map(({ id }) => id),
    ]);
}

/** Unpacks what has waited for more than a day, such as for a hook that was switched off. */
export async function unpackOld(pool: pg.Pool): Promise<void> {
  for (;;) {
    const { rows } = await pool.query<{ id: string }>(
      `select id from delivery_batches where created_at < now() - interval '1 day' order by id limit ${mostAtOnce}`,
    );
    if (rows.length === 0) return;
    await pool.query("select parley_unpack_batches($1)", [rows.map(({ id }) => id)]);
  }
}
