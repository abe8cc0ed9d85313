import { sql } from "kysely";
import type pg from "pg";
import type { Tx } from "../db/database.ts";

/**
 * Deliveries in batches (migrations 0024 and 0025): many first attempts of a hook that became due together are one row until
 * they are settled, and those that succeeded stay together. Each has its ids from the beginning, so it is the same
 * delivery whether it is in a batch or a row.
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

/** Unpacks what holds this delivery of a hook: where it waits first, as it may be settled meanwhile. */
export async function unpackDelivery(tx: Tx, hookId: string, messageId: string): Promise<void> {
  await sql`
    select parley_unpack_batches(array(
      select id from delivery_batches where hook_id = ${hookId} and ${messageId}::uuid = any(message_ids)))`.execute(
    tx,
  );
  await sql`
    select parley_unpack_delivered(array(
      select id from delivered_batches where hook_id = ${hookId} and ${messageId}::uuid = any(message_ids)))`.execute(
    tx,
  );
}

/** Unpacks all batches that a hook has now, and those delivered about events of a time, a part of them at once. */
export async function unpackHook(
  pool: pg.Pool,
  hookId: string,
  { since, until }: { readonly since: Date; readonly until: Date },
): Promise<void> {
  await unpackEach(
    pool,
    "parley_unpack_batches",
    "select id from delivery_batches where hook_id = $1 order by due_at, id",
    [hookId],
  );
  await unpackEach(
    pool,
    "parley_unpack_delivered",
    // By the ids of the events, as those of a month may be delivered and a minute of them asked for.
    `select b.id
     from (
       select min(e.id) as first, max(e.id) as last
       from hooks h join events e on e.workspace_id = h.workspace_id and e.type = h.hook_type
       where h.id = $1 and e.occurred_at >= $2 and e.occurred_at < $3
     ) wanted join delivered_batches b on b.first_event <= wanted.last and b.last_event >= wanted.first
     where b.hook_id = $1 order by b.id`,
    [hookId, since, until],
  );
}

async function unpackEach(
  pool: pg.Pool,
  unpack: "parley_unpack_batches" | "parley_unpack_delivered",
  find: string,
  values: unknown[],
): Promise<void> {
  const { rows } = await pool.query<{ id: string }>(find, values);
  for (let at = 0; at < rows.length; at += mostAtOnce)
    await pool.query(`select ${unpack}($1)`, [rows.slice(at, at + mostAtOnce).map(({ id }) => id)]);
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
