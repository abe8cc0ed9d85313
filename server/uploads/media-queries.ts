import { sql } from "kysely";
import type { Executor, Tx } from "../db/database.ts";
import type { UploadRow } from "./queries.ts";
import type { FileOwner } from "./upload-file.ts";

/** An upload as the routes that take its file find it: by its id alone, since the link says who may. */
export async function findUploadById(db: Executor, uploadId: string): Promise<UploadRow | undefined> {
  const row = await db.selectFrom("uploads").selectAll().where("id", "=", uploadId).executeTakeFirst();
  return row as unknown as UploadRow | undefined;
}

/** Longest recording in seconds that the plan of a workspace allows; null when it says nothing. */
export async function findPlanMaxDurationSec(db: Executor, workspaceId: string): Promise<number | null> {
  const row = await db
    .selectFrom("workspaces")
    .select("max_duration_sec")
    .where("id", "=", workspaceId)
    .executeTakeFirst();
  return row?.max_duration_sec ?? null;
}

/**
 * Takes the awaiting uploads whose file is due to be looked for, and puts off the next look: a sixtieth of the age,
 * so that a file is noticed soon, and one that never comes costs little.
 */
export async function takeDueArrivals(
  db: Executor,
  limit: number,
  soonestMs: number,
): Promise<Pick<UploadRow, "id">[]> {
  const { rows } = await sql<Pick<UploadRow, "id">>`
    update uploads set next_check_at = now() + least(
      greatest((now() - created_at) / 60, ${soonestMs} * interval '1 millisecond'), interval '10 minutes')
    where id = any(array(
      select id from uploads where status = 'awaiting' and next_check_at <= now()
      order by next_check_at limit ${limit} for update skip locked))
    returning id`.execute(db);
  return rows;
}

/**
 * Uploads that have waited for their file past the expiry of the URL and the grace after it, the longest first. One
 * whose sender has been heard of since is still being sent.
 */
export async function findExpiredUploads(db: Executor, graceMs: number): Promise<string[]> {
  const rows = await db
    .selectFrom("uploads")
    .select("id")
    .where("status", "=", "awaiting")
    .where(
      sql<boolean>`greatest(url_expires_at, active_at, put_active_at) < now() - ${graceMs} * interval '1 millisecond'`,
    )
    .orderBy("url_expires_at")
    .limit(1000)
    .execute();
  return rows.map((row) => row.id);
}

/** Staged uploads whose file has expired. */
export async function findExpiredMedia(db: Executor): Promise<string[]> {
  const rows = await db
    .selectFrom("uploads")
    .select("id")
    .where("status", "=", "staged")
    .where("media_expires_at", "<=", sql<Date>`now()`)
    .orderBy("media_expires_at")
    .limit(1000)
    .execute();
  return rows.map((row) => row.id);
}

/** Notes that a resuming sender was heard of, and how long it says the file is. */
export async function noteResumable(db: Executor, uploadId: string, length: number | null): Promise<void> {
  await db
    .updateTable("uploads")
    .set({ active_at: sql`now()`, ...(length === null ? {} : { resumable_length: length }) })
    .where("id", "=", uploadId)
    .execute();
}

/** Notes that the sender of a whole file is there. */
export async function notePut(db: Executor, uploadId: string): Promise<void> {
  await db
    .updateTable("uploads")
    .set({ put_active_at: sql`now()` })
    .where("id", "=", uploadId)
    .where("status", "=", "awaiting")
    .execute();
}

/** Of these ids, those of uploads, with what decides about their files. */
export async function findFileOwners(db: Executor, ids: readonly string[]): Promise<Map<string, FileOwner>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom("uploads")
    .select(["id", "status", "one_step", "url_expires_at"])
    .where("id", "in", ids)
    .execute();
  return new Map((rows as FileOwner[]).map((row) => [row.id, row]));
}

/** Of these ids, those of recordings that exist or that an upload is about to become. */
export async function findRecordingsWithObjects(db: Executor, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const { rows } = await sql<{ id: string }>`
    select id from recordings where id = any(${ids}::uuid[])
    union all
    select planned_recording_id from uploads
    where planned_recording_id = any(${ids}::uuid[]) and status = 'promoting'`.execute(db);
  return new Set(rows.map((row) => row.id));
}

/** Of these ids, those that this database knows as a recording's, whatever became of it. */
export async function findKnownRecordings(db: Executor, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const { rows } = await sql<{ id: string }>`
    select id from recordings where id = any(${ids}::uuid[])
    union
    select planned_recording_id from uploads where planned_recording_id = any(${ids}::uuid[])`.execute(db);
  return new Set(rows.map((row) => row.id));
}

/** Of these ids, those of clips whose files are needed. */
export async function findClips(db: Executor, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const { rows } = await sql<{ id: string }>`
    select id from clip_files where id = any(${[...new Set(ids)]}::uuid[])`.execute(db);
  return new Set(rows.map((row) => row.id));
}

/** What a finished recording's file is, for its downloads. */
export interface NewRecordingMedia {
  readonly recording_id: string;
  readonly format: "mp4" | "mp3";
  readonly has_storyboard: boolean;
}

export async function insertRecordingMedia(tx: Tx, media: NewRecordingMedia): Promise<void> {
  await tx.insertInto("recording_media").values(media).execute();
}
