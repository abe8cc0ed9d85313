import { sql } from "kysely";
import type { Executor } from "../db/database.ts";
import type { UploadRow } from "./queries.ts";

/** Statuses that only a job ends. */
export type WorkStatus = Extract<UploadRow["status"], "processing" | "promoting">;

/**
 * Notes that a job begins an attempt to end a status.
 * @returns the upload; undefined when it is not in that status any more.
 */
export async function beginAttempt(
  db: Executor,
  uploadId: string,
  status: WorkStatus,
): Promise<UploadRow | undefined> {
  const row = await db
    .updateTable("uploads")
    .set({
      work_started_at: sql`coalesce(work_started_at, now())`,
      work_attempts: sql`work_attempts + 1`,
    })
    .where("id", "=", uploadId)
    .where("status", "=", status)
    .returningAll()
    .executeTakeFirst();
  return row as unknown as UploadRow | undefined;
}

/** Notes in what kind of error an attempt ended. */
export async function noteFailedAttempt(
  db: Executor,
  uploadId: string,
  status: WorkStatus,
  kind: string,
): Promise<void> {
  await db
    .updateTable("uploads")
    .set({ work_error: kind })
    .where("id", "=", uploadId)
    .where("status", "=", status)
    .execute();
}

/** Notes that the media program was killed at this upload's file. @returns how often that was, in its status. */
export async function countKill(db: Executor, uploadId: string, status: WorkStatus): Promise<number> {
  const row = await db
    .updateTable("uploads")
    .set({ work_kills: sql`work_kills + 1` })
    .where("id", "=", uploadId)
    .where("status", "=", status)
    .returning("work_kills")
    .executeTakeFirst();
  return row?.work_kills ?? 0;
}

/** Uploads that have been in a status that a job should end for longer than this, the oldest first. */
export async function findLingering(
  db: Executor,
  status: WorkStatus,
  olderThanMs: number,
): Promise<UploadRow[]> {
  const rows = await db
    .selectFrom("uploads")
    .selectAll()
    .where("status", "=", status)
    .where("updated_at", "<", sql<Date>`now() - ${olderThanMs} * interval '1 millisecond'`)
    .orderBy("updated_at")
    .limit(1000)
    .execute();
  return rows as unknown as UploadRow[];
}

/** Uploads that so many attempts in so long a time have not moved on. Waiting for a first attempt does not count. */
export async function findHopeless(
  db: Executor,
  status: WorkStatus,
  { afterMs, attempts }: { afterMs: number; attempts: number },
): Promise<string[]> {
  const rows = await db
    .selectFrom("uploads")
    .select("id")
    .where("status", "=", status)
    .where("work_started_at", "<", sql<Date>`now() - ${afterMs} * interval '1 millisecond'`)
    .where("work_attempts", ">=", attempts)
    .orderBy("work_started_at")
    .limit(1000)
    .execute();
  return rows.map((row) => row.id);
}
