import { sql } from "kysely";
import type { Tx } from "./database.ts";
import { prepared } from "./prepared.ts";

/**
 * Makes requests that count against the same quota wait for each other until their transactions end, so that two
 * concurrent ones can't both get the last slot. Take it before counting.
 */
export async function lockQuota(tx: Tx, quota: string, owner: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`quota:${quota}:${owner}`}, 0)) ${prepared}`.execute(
    tx,
  );
}
