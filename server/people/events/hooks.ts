import { type RawBuilder, sql } from "kysely";
import type { Executor, Tx } from "../../platform/db/database.ts";

/** How many enabled hooks depend on a user's account. */
export async function countEnabledHooks(db: Executor, userId: string): Promise<number> {
  const row = await db
    .selectFrom("hooks")
    .select((eb) => eb.fn.countAll<string>().as("count"))
    .where("created_by", "=", userId)
    .where("disabled_at", "is", null)
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

/**
 * Deletes hooks; a trigger deletes their deliveries. These are locked before their hooks and in the order of ids, as
 * everywhere, so that no two transactions wait for each other.
 * @param which a condition on `hooks`. @returns how many there were.
 */
export async function deleteHooksWhere(tx: Tx, which: RawBuilder<unknown>): Promise<number> {
  await sql`
    select id from deliveries where hook_id in (select id from hooks where ${which})
    order by id for update`.execute(tx);
  const { numAffectedRows } = await sql`delete from hooks where ${which}`.execute(tx);
  return Number(numAffectedRows ?? 0n);
}

/** Deletes the personal hooks of a user, with their deliveries. */
export async function deletePersonalHooks(tx: Tx, userId: string): Promise<void> {
  await deleteHooksWhere(tx, sql`created_by = ${userId} and scope = 'personal'`);
}
