import { sql } from "kysely";
import type { Executor } from "../../../platform/db/database.ts";
import { prepared } from "../../../platform/db/prepared.ts";
import { hasNoJob } from "../../../platform/jobs/queue.ts";
import { type UploadRow, uploadColumns } from "../queries.ts";

/** Statuses that only a job ends. */
export type WorkStatus = Extract<UploadRow["status"], "processing" | "promoting">;

/**
 * Records that a job starts an attempt.
 * @returns the upload; undefined when it has left the status.
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
    .returning(uploadColumns)
    .modifyEnd(prepared)
    .executeTakeFirst();
  return row;
}

/** Records the kind of error that ended an attempt. */
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

/**
 * Records that the media process was killed while it handled this upload's file. @returns how often in its current
 * status.
 */
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

/** Saves how much of an upload's conversion is done, from 0 to 1. */
export async function saveProgress(db: Executor, uploadId: string, progress: number): Promise<void> {
  await db
    .updateTable("uploads")
    .set({ work_progress: progress })
    .where("id", "=", uploadId)
    .where("status", "=", "promoting")
    .execute();
}

/** Uploads that have been in the status for longer than this without a job, oldest first. */
export async function findUploadsWithoutJob(
  db: Executor,
  status: WorkStatus,
  olderThanMs: number,
): Promise<UploadRow[]> {
  const rows = await db
    .selectFrom("uploads")
    .selectAll()
    .where("status", "=", status)
    .where("updated_at", "<", sql<Date>`now() - ${olderThanMs} * interval '1 millisecond'`)
    .where(
      status === "processing"
        ? hasNoJob("validate_upload", sql`uploads.id`)
        : sql<boolean>`${hasNoJob("promote_upload", sql`uploads.id`)} and ${hasNoJob("promote_media", sql`uploads.id`)}`,
    )
    .orderBy("updated_at")
    .limit(1000)
    .execute();
  return rows;
}

/** Uploads that this many attempts in this much time have not moved. Waiting for the first attempt does not count. */
export async function findStuckUploads(
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
