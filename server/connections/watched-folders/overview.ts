import { type RawBuilder, sql } from "kysely";
import { sentences } from "../../../contract/sentences.ts";
import type { Database, Executor } from "../../platform/db/database.ts";
import { isSkipped } from "./queries.ts";

/** Failed files that the System page lists of a folder, the latest first. */
const maxFailedShown = 20;

/** Folders that no worker has listed for so long were removed from PARLEY_WATCH_DIRS. */
const forgottenAfter = "7 days";

/** A file that could not be imported. */
interface FailedFile {
  readonly id: string;
  readonly path: string | null;
  readonly error: string;
  readonly failed_at: Date;
  readonly workspace_id: string;
  readonly workspace_name: string;
}

/** What has become of the files of a watched folder. */
export interface FolderOverview {
  readonly folder: string;
  readonly scanned_at: Date | null;
  readonly problem: string | null;
  readonly waiting: number;
  readonly pending: number;
  readonly done: number;
  readonly failed: number;
  /** Files that are not recordings. */
  readonly skipped: number;
  /** Why files wait; null: for their turn. */
  readonly delay: string | null;
  readonly failed_files: readonly FailedFile[];
}

/**
 * Saves that a folder was listed to its end, at most twice a minute unless something changes.
 * @param problem why it, or a folder in it, can't be imported.
 */
export async function saveScan(db: Executor, folder: string, problem: string | null): Promise<void> {
  const text = problem?.slice(0, 2000) ?? null;
  await sql`
    insert into watched_folders (folder, problem)
    select ${folder}, ${text}::text where not exists (
      select 1 from watched_folders where folder = ${folder} and problem is not distinct from ${text}::text
        and scanned_at > clock_timestamp() - interval '30 seconds')
    on conflict (folder) do update set scanned_at = clock_timestamp(), problem = excluded.problem`.execute(
    db,
  );
}

/**
 * The watched folders, by name.
 * @param watched the folders that are watched now; others are listed for a while.
 * @param maxFailed failed files that are listed of a folder.
 */
export async function readWatchedFolders(
  db: Database,
  watched: readonly string[],
  maxFailed = maxFailedShown,
): Promise<FolderOverview[]> {
  const { rows } = await sql<Omit<FolderOverview, "failed_files">>`
    with folders as (
      select folder from watched_folders
      where scanned_at > now() - interval '${sql.raw(forgottenAfter)}' or folder = any(${watched}::text[])
      union select unnest(${watched}::text[])
    ), counts as (
      select folder, state, ${isSkipped} as is_skipped, count(*)::integer as files from watched_files
      where folder in (select folder from folders) group by folder, state, is_skipped
    )
    select f.folder, s.scanned_at, s.problem,
      coalesce(sum(c.files) filter (where c.state in ('waiting', 'ready')), 0)::integer as waiting,
      coalesce(sum(c.files) filter (where c.state = 'pending'), 0)::integer as pending,
      coalesce(sum(c.files) filter (where c.state = 'done'), 0)::integer as done,
      coalesce(sum(c.files) filter (where c.state = 'failed' and not c.is_skipped), 0)::integer as failed,
      coalesce(sum(c.files) filter (where c.state = 'failed' and c.is_skipped), 0)::integer as skipped,
      (select w.error from watched_files w
        where w.folder = f.folder and w.state in ('ready', 'pending') and w.error is not null limit 1) as delay
    from folders f left join watched_folders s on s.folder = f.folder left join counts c on c.folder = f.folder
    group by f.folder, s.scanned_at, s.problem order by f.folder`.execute(db.kysely);
  const found: FolderOverview[] = [];
  for (const row of rows)
    found.push({
      ...row,
      failed_files: row.failed === 0 ? [] : await findFailed(db.kysely, row.folder, maxFailed),
    });
  return found;
}

async function findFailed(db: Executor, folder: string, limit: number): Promise<FailedFile[]> {
  const { rows } = await sql<FailedFile>`
    select w.workspace_id || '-' || encode(w.path_hash, 'hex') as id, w.path,
      coalesce(w.error, ${sentences.watch_unknown}) as error, w.updated_at as failed_at, w.workspace_id,
      o.name as workspace_name
    from watched_files w join workspaces o on o.id = w.workspace_id
    where w.folder = ${folder} and w.state = 'failed' and not ${isSkipped}
    order by w.updated_at desc limit ${limit}`.execute(db);
  return rows;
}

/** The folder of a failed file, by the id of `failed_files`; null: there is no such file. */
export async function findFolderOfFailed(db: Executor, id: string): Promise<string | null> {
  const { rows } = await sql<{ folder: string }>`
    select folder from watched_files where state = 'failed' and ${hasId(id)}`.execute(db);
  return rows[0]?.folder ?? null;
}

/** A condition, which the primary key serves: a file has this id. */
function hasId(id: string): RawBuilder<boolean> {
  const [, workspaceId, hash] =
    /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-([0-9a-f]{64})$/.exec(id) ?? [];
  if (workspaceId === undefined || hash === undefined) return sql<boolean>`false`;
  return sql<boolean>`(workspace_id = ${workspaceId} and path_hash = decode(${hash}, 'hex'))`;
}

/** Has failed files imported again at the next check of their folder. @returns the workspace of each file. */
export async function retryFailed(db: Executor, folder: string, id: string | null): Promise<string[]> {
  const { rows } = await sql<{ workspace_id: string }>`
    update watched_files set state = 'waiting', attempts = 0, error = null, updated_at = clock_timestamp(),
      seen_at = clock_timestamp()
    where folder = ${folder} and state = 'failed'
      and ${id === null ? sql<boolean>`not ${isSkipped}` : hasId(id)}
    returning workspace_id`.execute(db);
  return rows.map((row) => row.workspace_id);
}
