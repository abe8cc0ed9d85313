import { sql } from "kysely";
import type pg from "pg";
import type { Executor, Tx } from "../../platform/db/database.ts";
import type { EndsEarly } from "../../platform/db/json-columns.ts";
import { begunRecording } from "./lifecycle/activity.ts";
import type { FileOwner } from "./lifecycle/upload-file.ts";
import type { UploadRow } from "./queries.ts";

/** An upload by its id alone, for the routes that receive its file: the signed link carries the permission. */
export async function findUploadById(db: Executor, uploadId: string): Promise<UploadRow | undefined> {
  const row = await db.selectFrom("uploads").selectAll().where("id", "=", uploadId).executeTakeFirst();
  return row;
}

/** Longest recording in seconds that the workspace's plan allows; null if the plan sets no limit. */
export async function findPlanMaxDurationSec(db: Executor, workspaceId: string): Promise<number | null> {
  const row = await db
    .selectFrom("workspaces")
    .select("max_duration_sec")
    .where("id", "=", workspaceId)
    .executeTakeFirst();
  return row?.max_duration_sec ?? null;
}

/**
 * Takes the awaiting uploads whose file is due to be checked for, and schedules the next check after a sixtieth of the
 * upload's age, so that a file is noticed soon and one that never arrives costs little.
 */
export async function takeDueArrivals(
  db: Executor,
  limit: number,
  minDelayMs: number,
): Promise<Pick<UploadRow, "id">[]> {
  const { rows } = await sql<Pick<UploadRow, "id">>`
    update uploads set next_check_at = now() + least(
      greatest((now() - created_at) / 60, ${minDelayMs} * interval '1 millisecond'), interval '10 minutes')
    where id = any(array(
      select id from uploads where status = 'awaiting' and next_check_at <= now()
      order by next_check_at limit ${limit} for update skip locked))
    returning id`.execute(db);
  return rows;
}

/** When the next upload is to be checked for its file. */
export async function msUntilArrivalCheck(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ ms: number | null }>({
    name: "ms_until_arrival_check",
    text: `select extract(epoch from min(next_check_at) - clock_timestamp())::float8 * 1000 as ms
      from uploads where status = 'awaiting'`,
  });
  return rows[0]?.ms ?? Number.POSITIVE_INFINITY;
}

/**
 * Uploads still without a file after the expiry of the URL and the grace period, oldest first. An upload with recent
 * activity is still being sent.
 * @param recordingGraceMs for recordings made in the browser of which a part may have arrived.
 */
export async function findExpiredUploads(
  db: Executor,
  graceMs: number,
  recordingGraceMs: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom("uploads")
    .select("id")
    .where("status", "=", "awaiting")
    .where(
      sql<boolean>`greatest(url_expires_at, active_at, put_active_at)
        < now() - case when ${begunRecording} then ${recordingGraceMs}::float8 else ${graceMs}::float8 end
          * interval '1 millisecond'`,
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

/** Records activity of a resumable upload, and the length it announces. */
export async function noteResumable(db: Executor, uploadId: string, length: number | null): Promise<void> {
  await db
    .updateTable("uploads")
    .set({ active_at: sql`now()`, ...(length === null ? {} : { resumable_length: length }) })
    .where("id", "=", uploadId)
    .execute();
}

/** Records that a whole file is being sent. */
export async function notePut(db: Executor, uploadId: string): Promise<void> {
  await db
    .updateTable("uploads")
    .set({ put_active_at: sql`now()` })
    .where("id", "=", uploadId)
    .where("status", "=", "awaiting")
    .execute();
}

/** The uploads among these ids, with the fields that decide about their files. */
export async function findFileOwners(db: Executor, ids: readonly string[]): Promise<Map<string, FileOwner>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom("uploads")
    .select(["id", "status", "one_step", "url_expires_at"])
    .where("id", "in", ids)
    .execute();
  return new Map((rows as FileOwner[]).map((row) => [row.id, row]));
}

/** The ids among these of recordings that exist or that an upload is about to create. */
export async function findRecordingsWithObjects(db: Executor, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const { rows } = await sql<{ id: string }>`
    select id from recordings where id = any(${ids}::uuid[])
    union all
    select planned_recording_id from uploads
    where planned_recording_id = any(${ids}::uuid[]) and status = 'promoting'`.execute(db);
  return new Set(rows.map((row) => row.id));
}

/** The ids among these that this database knows as a recording's, past or present. */
export async function findKnownRecordings(db: Executor, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const { rows } = await sql<{ id: string }>`
    select id from recordings where id = any(${ids}::uuid[])
    union
    select planned_recording_id from uploads where planned_recording_id = any(${ids}::uuid[])`.execute(db);
  return new Set(rows.map((row) => row.id));
}

/** The ids among these of clips whose files are needed. */
export async function findClips(db: Executor, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const { rows } = await sql<{ id: string }>`
    select id from clips where id = any(${[...new Set(ids)]}::uuid[])`.execute(db);
  return new Set(rows.map((row) => row.id));
}

/** A finished recording's file, for downloads. */
export interface NewRecordingMedia {
  readonly recording_id: string;
  readonly format: "mp4" | "mp3";
  readonly has_storyboard: boolean;
  /** The speakers whose sound is in the channels of speech.webm; null: there is no such file. */
  readonly speaker_tracks?: string[] | null;
  /** The file was cut off. */
  readonly ends_early: EndsEarly | null;
}

export async function insertRecordingMedia(tx: Tx, media: NewRecordingMedia): Promise<void> {
  await tx
    .insertInto("recording_media")
    .values({ ...media, ends_early: media.ends_early === null ? null : JSON.stringify(media.ends_early) })
    .execute();
}
