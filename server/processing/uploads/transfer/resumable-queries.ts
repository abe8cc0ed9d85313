import { sql } from "kysely";
import type { Executor } from "../../../platform/db/database.ts";

/** The result of renewing a lease. */
export type Renewal = "held" | "wanted" | "lost";

/**
 * Takes the lease of an upload when it is free or expired; otherwise records that a request waits for it.
 * @returns whether it was taken.
 */
export async function takeLease(
  db: Executor,
  uploadId: string,
  holder: string,
  leaseMs: number,
): Promise<boolean> {
  const { rows } = await sql`
    insert into resumable_leases (upload_id, holder, expires_at)
    values (${uploadId}, ${holder}, clock_timestamp() + ${leaseMs} * interval '1 millisecond')
    on conflict (upload_id) do update
      set holder = excluded.holder, expires_at = excluded.expires_at, wanted = false
      where resumable_leases.expires_at < clock_timestamp()
    returning 1`.execute(db);
  if (rows.length > 0) return true;
  await sql`
    update resumable_leases set wanted = true where upload_id = ${uploadId} and not wanted`.execute(db);
  return false;
}

/** Extends a lease, and returns whether another request waits for it or has taken it. */
export async function renewLease(
  db: Executor,
  uploadId: string,
  holder: string,
  leaseMs: number,
): Promise<Renewal> {
  const { rows } = await sql<{ wanted: boolean }>`
    update resumable_leases set expires_at = clock_timestamp() + ${leaseMs} * interval '1 millisecond'
    where upload_id = ${uploadId} and holder = ${holder}
    returning wanted`.execute(db);
  if (rows[0] === undefined) return "lost";
  return rows[0].wanted ? "wanted" : "held";
}

/** Releases a lease; does nothing when another request holds it. */
export async function releaseLease(db: Executor, uploadId: string, holder: string): Promise<void> {
  await db
    .deleteFrom("resumable_leases")
    .where("upload_id", "=", uploadId)
    .where("holder", "=", holder)
    .execute();
}

/** Whether a request may be writing to an upload: its lease is held and has not expired. */
export async function isLeased(db: Executor, uploadId: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from resumable_leases
    where upload_id = ${uploadId} and expires_at >= clock_timestamp()`.execute(db);
  return rows.length > 0;
}

/** Records that a file is sent from its beginning, and its length; null: not known yet. */
export async function beginResumable(db: Executor, uploadId: string, length: number | null): Promise<void> {
  await db
    .updateTable("uploads")
    .set({ active_at: sql`now()`, resumable_length: length })
    .where("id", "=", uploadId)
    .execute();
}

/**
 * Records that no more bytes follow than have arrived, unless the sender was active recently.
 * @returns whether it was recorded.
 */
export async function endResumable(
  db: Executor,
  uploadId: string,
  length: number,
  graceMs: number,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("uploads")
    .set({ resumable_length: length })
    .where("id", "=", uploadId)
    .where("status", "=", "awaiting")
    .where(sql<boolean>`active_at < now() - ${graceMs} * interval '1 millisecond'`)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Records that the pieces are gone, as if the upload had never begun. */
export async function forgetResumable(db: Executor, uploadId: string): Promise<void> {
  await db
    .updateTable("uploads")
    .set({ active_at: null, resumable_length: null })
    .where("id", "=", uploadId)
    .execute();
}
