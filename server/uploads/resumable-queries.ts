import { sql } from "kysely";
import type { Executor } from "../db/database.ts";

/** How an attempt to renew a lease went. */
export type Renewal = "held" | "wanted" | "lost";

/**
 * Takes the lease of an upload when nobody holds it, or its holder has let it run out; otherwise notes that somebody
 * waits for it.
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

/** Keeps a lease for another while, and says whether somebody waits for it or it has passed to somebody else. */
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

/** Lets go of a lease; nothing happens when it has passed to somebody else. */
export async function releaseLease(db: Executor, uploadId: string, holder: string): Promise<void> {
  await db
    .deleteFrom("resumable_leases")
    .where("upload_id", "=", uploadId)
    .where("holder", "=", holder)
    .execute();
}

/** Whether somebody may be writing to an upload: its lease is held and has not run out. */
export async function isLeased(db: Executor, uploadId: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from resumable_leases
    where upload_id = ${uploadId} and expires_at >= clock_timestamp()`.execute(db);
  return rows.length > 0;
}

/** Notes that a file is sent from its beginning, and how long it will be; null: the sender does not know yet. */
export async function beginResumable(db: Executor, uploadId: string, length: number | null): Promise<void> {
  await db
    .updateTable("uploads")
    .set({ active_at: sql`now()`, resumable_length: length })
    .where("id", "=", uploadId)
    .execute();
}

/** Notes that what was sent in pieces is gone, as if it had never begun. */
export async function forgetResumable(db: Executor, uploadId: string): Promise<void> {
  await db
    .updateTable("uploads")
    .set({ active_at: null, resumable_length: null })
    .where("id", "=", uploadId)
    .execute();
}
