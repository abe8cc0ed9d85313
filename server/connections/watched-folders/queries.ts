import { createHash } from "node:crypto";
import { type RawBuilder, type Selectable, sql } from "kysely";
import type { Executor } from "../../platform/db/database.ts";
import type { WatchedFiles } from "../../platform/db/types.ts";

/** What is known about a file of a watched folder; it stands for all files of its recording. */
export type WatchedFile = Selectable<WatchedFiles>;

/** How long a file is a worker's that no longer responds. */
const leaseSeconds = 15;

/** Files of a workspace that are converted at a time, which bounds the storage that uploads take. */
const maxPending = 16;

/** The key of a file. */
function hashPath(folder: string, path: string): Buffer {
  return createHash("sha256").update(`${folder}\n${path}`).digest();
}

/** A file as it was just found. */
export interface Sighting {
  readonly path: string;
  readonly mark: Buffer;
  readonly hasErrorFile: boolean;
}

/**
 * Saves what was found in a folder. A file is ready once it has not changed for a while; one that failed, or whose
 * source had to stay, is tried again when it has changed, or when the file with the error was removed.
 * @param settleMs how long a file must not have changed.
 * @param listedMs how long ago the folder was listed.
 */
export async function saveSightings(
  db: Executor,
  workspaceId: string,
  folder: string,
  sightings: readonly Sighting[],
  { settleMs, listedMs }: { readonly settleMs: number; readonly listedMs: number },
): Promise<void> {
  const found = sightings.map(({ path, mark, hasErrorFile }) => ({
    path_hash: hashPath(folder, path).toString("hex"),
    path,
    mark: mark.toString("hex"),
    has_error_file: hasErrorFile,
  }));
  const age = (ms: number) => sql`clock_timestamp() - ${ms} * interval '1 millisecond'`;
  // Files that a worker has are compared by it; after that, a listing may be older than what it did.
  const isNew = sql`w.state in ('done', 'failed') and w.updated_at < ${age(listedMs + settleMs)}
    and (w.mark <> excluded.mark or (w.has_error_file and not excluded.has_error_file))`;
  await sql`
    insert into watched_files as w (workspace_id, path_hash, folder, path, mark, has_error_file)
    select ${workspaceId}, decode(path_hash, 'hex'), ${folder}, path, decode(mark, 'hex'), has_error_file
    from jsonb_to_recordset(${JSON.stringify(found)}::jsonb)
      as f (path_hash text, path text, mark text, has_error_file boolean)
    -- The conflict locks rows that stay as they are too, which writes to the disk for every known file at each pass.
    where not exists (
      select 1 from watched_files w
        cross join lateral (select decode(f.mark, 'hex') as mark, f.has_error_file) excluded
      where w.workspace_id = ${workspaceId} and w.path_hash = decode(f.path_hash, 'hex')
        and not (w.state = 'waiting' or (${isNew})))
    on conflict (workspace_id, path_hash) do update set
      path = excluded.path,
      mark = excluded.mark,
      seen_at = clock_timestamp(),
      updated_at = clock_timestamp(),
      changed_at = case when w.mark = excluded.mark then w.changed_at else clock_timestamp() end,
      upload_id = case when w.mark = excluded.mark then w.upload_id end,
      attempts = 0,
      error = null,
      next_at = clock_timestamp(),
      state = case
        when w.mark = excluded.mark and w.state = 'waiting' and w.changed_at <= ${age(settleMs)} then 'ready'
        else 'waiting' end
    where w.state = 'waiting' or (${isNew})`.execute(db);
  await sql`
    update watched_files set seen_at = clock_timestamp()
    where workspace_id = ${workspaceId} and state = 'failed' and seen_at < clock_timestamp() - interval '1 day'
      and path_hash = any(array(
        select decode(hash, 'hex') from jsonb_array_elements_text(${JSON.stringify(found.map((one) => one.path_hash))}::jsonb) hash))`.execute(
    db,
  );
}

/** Forgets files of a folder that were renamed or removed before they were imported. */
export async function forgetUnseen(db: Executor, folder: string): Promise<void> {
  await sql`
    delete from watched_files
    where folder = ${folder} and state in ('waiting', 'failed')
      and (seen_at < clock_timestamp() - interval '7 days'
        or (state = 'failed' and ${isSkipped} and seen_at < clock_timestamp() - interval '2 days'))`.execute(
    db,
  );
}

/**
 * Takes the next file that is due: no other worker gets it until the lease ends. Files whose upload is not a recording
 * yet are due now and then, to see what has become of it; they come first, because they make room for others.
 */
export async function claimFile(db: Executor, folders: readonly string[]): Promise<WatchedFile | undefined> {
  const isDue = sql<boolean>`next_at <= clock_timestamp() and folder = any(${folders}::text[])`;
  const pending = await claimWhere(db, sql`state = 'pending' and ${isDue}`);
  return (
    pending ??
    claimWhere(
      db,
      sql`state = 'ready' and ${isDue} and workspace_id not in (
        select p.workspace_id from watched_files p where p.state = 'pending' and p.error is null
        group by p.workspace_id having count(*) >= ${maxPending})`,
    )
  );
}

async function claimWhere(db: Executor, condition: RawBuilder<unknown>): Promise<WatchedFile | undefined> {
  const { rows } = await sql<WatchedFile>`
    update watched_files w
    set next_at = clock_timestamp() + ${leaseSeconds} * interval '1 second', attempts = w.attempts + 1
    from (
      select workspace_id, path_hash from watched_files
      where ${condition} order by next_at limit 1 for update skip locked) due
    where w.workspace_id = due.workspace_id and w.path_hash = due.path_hash
    returning w.*`.execute(db);
  return rows[0];
}

/** Begins the error of a file that waits because a quota is used up. */
const quotaExceeded = "Quota exceeded: ";

/** The error of a file that waits for this reason. */
export function quotaError(reason: string): string {
  return `${quotaExceeded}${reason}`;
}

/** Begins the error of a file that is not a recording, which counts apart from those that failed. */
const notARecording = "Not a recording: ";

/** The error of such a file. @param content what it is. */
export function skippedError(content: string): string {
  return `${notARecording}${content}`;
}

/** A condition for files that failed: this one is not a recording. */
export const isSkipped = sql<boolean>`coalesce(starts_with(error, ${sql.lit(notARecording)}), false)`;

/** How many files of a folder are not recordings, and the first of them. */
export async function findSkipped(
  db: Executor,
  folder: string,
  limit: number,
): Promise<{ readonly count: number; readonly files: readonly { path: string; content: string }[] }> {
  const { rows } = await sql<{ path: string; content: string; count: number }>`
    select path, substr(error, ${notARecording.length + 1}) as content, count(*) over ()::integer as count
    from watched_files where folder = ${folder} and state = 'failed' and ${isSkipped} and path is not null
    order by path collate "C" limit ${limit}`.execute(db);
  return { count: rows[0]?.count ?? 0, files: rows };
}

/** Whether a file waits because a quota is used up. */
export function waitsForQuota({ error }: Pick<WatchedFile, "error">): boolean {
  return error?.startsWith(quotaExceeded) ?? false;
}

/** Whether files of a folder wait because a quota is used up. */
export async function isAnyOverQuota(db: Executor, folder: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from watched_files
    where folder = ${folder} and state = 'ready' and starts_with(error, ${quotaExceeded}) limit 1`.execute(
    db,
  );
  return rows.length > 0;
}

/** Keeps a file while a worker is busy with it. */
export async function extendLease(db: Executor, key: WatchedFile): Promise<void> {
  await sql`
    update watched_files set next_at = clock_timestamp() + ${leaseSeconds} * interval '1 second'
    where workspace_id = ${key.workspace_id} and path_hash = ${key.path_hash}
      and state = ${key.state}`.execute(db);
}

/** Saves the upload of a file that a worker has: another attempt must know it before it reads the content. */
export async function saveUpload(db: Executor, file: WatchedFile, uploadId: string): Promise<void> {
  await db
    .updateTable("watched_files")
    .set({ upload_id: uploadId })
    .where("workspace_id", "=", file.workspace_id)
    .where("path_hash", "=", file.path_hash)
    .where("state", "=", file.state)
    .where("mark", "=", file.mark)
    .execute();
}

/** Fields that change with the state. */
interface Change {
  readonly uploadId?: string | null;
  readonly contentHash?: Buffer;
  /** Names of the files whose content the upload has. */
  readonly stored?: readonly string[];
  /** Counts again from this number. */
  readonly attempts?: number;
  readonly error?: string | null;
  readonly hasErrorFile?: boolean;
  /** When it is looked at again. */
  readonly afterMs?: number;
}

/** Saves what became of a file, unless it has changed meanwhile: then it is looked at from the start. */
export async function saveState(
  db: Executor,
  file: WatchedFile,
  state: WatchedFile["state"],
  change: Change = {},
): Promise<void> {
  await db
    .updateTable("watched_files")
    .set({
      state,
      updated_at: sql`clock_timestamp()`,
      next_at: sql`clock_timestamp() + ${change.afterMs ?? 0} * interval '1 millisecond'`,
      ...(state === file.state ? {} : { attempts: 0 }),
      ...(state === "waiting" ? { changed_at: sql<Date>`clock_timestamp()` } : {}),
      ...(change.attempts === undefined ? {} : { attempts: change.attempts }),
      // Names of files may be personal data.
      ...(state === "done" ? { path: null, stored: null, error: null } : {}),
      ...(change.stored === undefined ? {} : { stored: [...change.stored] }),
      ...(change.uploadId === undefined ? {} : { upload_id: change.uploadId }),
      ...(change.contentHash === undefined ? {} : { content_hash: change.contentHash }),
      ...(change.error === undefined || state === "done"
        ? {}
        : { error: change.error?.slice(0, 2000) ?? null }),
      ...(change.hasErrorFile === undefined ? {} : { has_error_file: change.hasErrorFile }),
    })
    .where("workspace_id", "=", file.workspace_id)
    .where("path_hash", "=", file.path_hash)
    .where("state", "=", file.state)
    .where("mark", "=", file.mark)
    .execute();
}

/** Forgets a file that is gone. */
export async function forgetFile(db: Executor, file: WatchedFile): Promise<void> {
  await db
    .deleteFrom("watched_files")
    .where("workspace_id", "=", file.workspace_id)
    .where("path_hash", "=", file.path_hash)
    .where("state", "=", file.state)
    .where("mark", "=", file.mark)
    .execute();
}

/** Whether this content became a recording of this owner before, even if that was deleted since. */
export async function isKnownContent(
  db: Executor,
  workspaceId: string,
  contentHash: Buffer,
): Promise<boolean> {
  // The previous version, which may still run during an upgrade, knows only the files themselves.
  const { rows } = await sql`
    select 1 from watched_contents where workspace_id = ${workspaceId} and content_hash = ${contentHash}
    union all
    select 1 from watched_files
    where workspace_id = ${workspaceId} and content_hash = ${contentHash} and state = 'done'
    limit 1`.execute(db);
  return rows.length > 0;
}

/** Saves that this content became a recording of this owner. */
export async function saveKnownContent(
  db: Executor,
  workspaceId: string,
  contentHash: Buffer,
): Promise<void> {
  await db
    .insertInto("watched_contents")
    .values({ workspace_id: workspaceId, content_hash: contentHash })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** The language that a workspace speaks; null: not set. */
export async function findSpokenLanguage(db: Executor, workspaceId: string): Promise<string | null> {
  const row = await db
    .selectFrom("workspaces")
    .select("spoken_language")
    .where("id", "=", workspaceId)
    .executeTakeFirst();
  return row?.spoken_language ?? null;
}

/** The upload of a user, by the id that its source has, that became a recording. */
export async function findRecordedUpload(
  db: Executor,
  ownerId: string,
  externalId: string,
): Promise<string | null> {
  const row = await db
    .selectFrom("uploads")
    .select("id")
    .where("created_by", "=", ownerId)
    .where("scope", "=", "personal")
    .where("external_id", "=", externalId)
    .where("status", "=", "success")
    .executeTakeFirst();
  return row?.id ?? null;
}

/** The recording that an upload became; null: it was deleted, or is in the trash. */
export async function findLiveRecording(db: Executor, uploadId: string): Promise<string | null> {
  const row = await db
    .selectFrom("uploads as u")
    .innerJoin("recordings as r", "r.id", "u.recording_id")
    .leftJoin("trashed_recordings as t", "t.recording_id", "r.id")
    .select("r.id")
    .where("u.id", "=", uploadId)
    .where("t.recording_id", "is", null)
    .executeTakeFirst();
  return row?.id ?? null;
}

/** An upload of a user by the id that its source has. */
export async function findUploadOf(
  db: Executor,
  ownerId: string,
  externalId: string,
): Promise<{ readonly id: string; readonly status: string } | undefined> {
  return db
    .selectFrom("uploads")
    .select(["id", "status"])
    .where("created_by", "=", ownerId)
    .where("scope", "=", "personal")
    .where("external_id", "=", externalId)
    .executeTakeFirst();
}
