import { sql } from "kysely";
import type pg from "pg";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Executor, Tx } from "../../platform/db/database.ts";
import type { Queryable } from "../../platform/db/replica.ts";
import type { Position } from "../../platform/http/page.ts";
import type { SuspendedLink } from "../public-link-records/suspend.ts";
import type { StoryPosition } from "../recordings/delete/remove-from-stories.ts";
import { isRecorder, rightInSql } from "../recordings/rights.ts";
import type { KeptImport } from "./imports.ts";

/** What moving a recording to the trash removed and restoring it puts back. */
export interface Removed {
  readonly links: readonly SuspendedLink[];
  readonly positions: readonly StoryPosition[];
  /** Missing for those that an earlier version moved to the trash. */
  readonly imports?: readonly KeptImport[];
}

/** How many days deleted recordings of a workspace stay in the trash; 0: none. */
export async function findTrashDays(tx: Tx, workspaceId: string): Promise<number> {
  const { trash_days } = await tx
    .selectFrom("workspaces")
    .select("trash_days")
    .where("id", "=", workspaceId)
    .executeTakeFirstOrThrow();
  return trash_days;
}

/** Inserts a recording, which the caller has locked. @returns when it will be deleted permanently. */
export async function insertTrashed(
  tx: Tx,
  row: {
    readonly workspaceId: string;
    readonly recordingId: string;
    readonly trashedBy: string | null;
    readonly principals: readonly string[];
    readonly removed: Removed;
    readonly days: number;
  },
): Promise<Date> {
  const { rows } = await sql<{ purge_at: Date }>`
    insert into trashed_recordings (workspace_id, recording_id, trashed_by, principals, removed)
    values (${row.workspaceId}, ${row.recordingId}, ${row.trashedBy}, ${[...row.principals]}::uuid[],
      ${JSON.stringify(row.removed)}::jsonb)
    returning trashed_at + make_interval(days => ${row.days}) as purge_at`.execute(tx);
  return (rows[0] as { purge_at: Date }).purge_at;
}

/** A recording in the trash, with what decides whether a principal may restore it. */
export interface TrashedRow {
  readonly id: string;
  readonly removed: Removed;
  readonly is_visible: boolean;
  readonly is_recorder: boolean;
}

/** Locks a recording of the principal's workspace that is in the trash. */
export async function lockTrashed(
  tx: Tx,
  principal: Principal,
  recordingId: string,
): Promise<TrashedRow | undefined> {
  // First the recording, as every change does; a second statement sees what happened while waiting for it.
  await sql`
    select 1 from recordings where id = ${recordingId} and workspace_id = ${principal.workspaceId}
    for update`.execute(tx);
  const { rows } = await sql<TrashedRow>`
    select t.recording_id as id, t.removed, t.principals && ${principal.sees}::uuid[] as is_visible,
      exists (select 1 from recording_recorders rr
        where rr.recording_id = t.recording_id and rr.user_id = ${principal.userId}) as is_recorder
    from trashed_recordings t
    where t.workspace_id = ${principal.workspaceId} and t.recording_id = ${recordingId}`.execute(tx);
  return rows[0];
}

/** Locks a recording in the trash of any workspace, for the operator. */
export async function lockAnyTrashed(
  tx: Tx,
  recordingId: string,
): Promise<{ readonly workspace_id: string; readonly removed: Removed } | undefined> {
  await sql`select 1 from recordings where id = ${recordingId} for update`.execute(tx);
  const { rows } = await sql<{ workspace_id: string; removed: Removed }>`
    select workspace_id, removed from trashed_recordings where recording_id = ${recordingId}`.execute(tx);
  return rows[0];
}

/** The recordings in the trash of all workspaces or one, last deleted first. */
export async function findAllTrashed(
  db: Executor,
  workspaceId: string | null,
  limit: number,
): Promise<
  {
    readonly id: string;
    readonly workspace_id: string;
    readonly title: string;
    readonly deleted_datetime: Date;
    readonly purge_datetime: Date;
  }[]
> {
  const { rows } = await sql<Awaited<ReturnType<typeof findAllTrashed>>[number]>`
    select r.id, r.workspace_id, r.title, t.trashed_at as deleted_datetime,
      t.trashed_at + make_interval(days => w.trash_days) as purge_datetime
    from trashed_recordings t
      join recordings r on r.id = t.recording_id join workspaces w on w.id = t.workspace_id
    where ${workspaceId}::uuid is null or t.workspace_id = ${workspaceId}::uuid
    order by t.trashed_at desc, t.recording_id desc limit ${limit}`.execute(db);
  return rows;
}

/** Takes a recording, which the caller has locked, out of the trash. */
export async function deleteTrashed(tx: Tx, recordingId: string): Promise<void> {
  await tx.deleteFrom("trashed_recordings").where("recording_id", "=", recordingId).execute();
}

export interface ListedTrash {
  readonly id: string;
  readonly title: string;
  readonly media_type: "audio" | "transcript" | "video";
  readonly start_datetime: Date;
  readonly duration_ms: number;
  readonly trashed_at: Date;
  readonly purge_at: Date;
  readonly deleted_by: { readonly id: string; readonly name: string } | null;
  readonly is_held: boolean;
}

/** SQL condition on `trashed_recordings t`: the principal can restore it. Its text is the same for every principal. */
function restorable(principal: Principal): {
  readonly condition: string;
  /** Adds a value of the query. @returns its placeholder. */
  readonly bind: (value: unknown) => string;
  readonly values: unknown[];
} {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const ids = { recording: "t.recording_id", user: bind(principal.userId) };
  const condition = `t.workspace_id = ${bind(principal.workspaceId)} and t.principals && ${bind(principal.sees)}::uuid[]
    and ${rightInSql(principal, "delete", { bind, isRecorder: isRecorder(ids) })}`;
  return { condition, bind, values };
}

/** Recordings in the trash that the principal can restore, last deleted first; or the one with an id. */
export async function listTrashed(
  pool: pg.Pool,
  principal: Principal,
  { after, limit }: { readonly after: Position | null; readonly limit: number },
  recordingId: string | null = null,
): Promise<ListedTrash[]> {
  const { condition, bind, values } = restorable(principal);
  const [at, id] = [bind(after?.at ?? null), bind(after?.id ?? null)];
  const only = bind(recordingId);
  const { rows } = await pool.query<ListedTrash>({
    name: "list_trashed",
    text: `select r.id, r.title, r.media_type, r.start_datetime, r.duration_ms, t.trashed_at,
        t.trashed_at + make_interval(days => w.trash_days) as purge_at,
        (select json_build_object('id', u.id, 'name', u.name) from users u where u.id = t.trashed_by) as deleted_by,
        exists (select 1 from legal_holds h where h.recording_id = r.id) as is_held
      from trashed_recordings t
        join recordings r on r.id = t.recording_id join workspaces w on w.id = t.workspace_id
      where ${condition}
        and (${at}::timestamptz is null or (t.trashed_at, t.recording_id) < (${at}, ${id}::uuid))
        and (${only}::uuid is null or t.recording_id = ${only})
      order by t.trashed_at desc, t.recording_id desc limit ${bind(limit)}`,
    values,
  });
  return rows;
}

/** How many recordings the principal can restore, and the bytes of their files; reads all of them. */
export async function measureTrash(
  source: Queryable,
  principal: Principal,
): Promise<{ readonly recordings: number; readonly bytes: number }> {
  const { condition, values } = restorable(principal);
  const { rows } = await source.query<{ recordings: number; bytes: number }>({
    name: "measure_trash",
    text: `select count(*)::integer as recordings, coalesce(sum(f.bytes), 0)::float8 as bytes
      from trashed_recordings t cross join lateral (
        select sum(s.bytes) as bytes from stored_files s where s.recording_id = t.recording_id) f
      where ${condition}`,
    values,
  });
  return rows[0] ?? { recordings: 0, bytes: 0 };
}

/** Recordings that the principal can delete permanently, first deleted first. @param before when they were deleted. */
export async function findPurgeable(
  pool: pg.Pool,
  principal: Principal,
  before: Date | null,
  limit: number,
): Promise<string[]> {
  const { condition, bind, values } = restorable(principal);
  const until = bind(before);
  const { rows } = await pool.query<{ id: string }>({
    name: "find_purgeable",
    text: `select t.recording_id as id from trashed_recordings t
      where ${condition} and (${until}::timestamptz is null or t.trashed_at < ${until})
        and not exists (select 1 from legal_holds h where h.recording_id = t.recording_id)
      order by t.trashed_at, t.recording_id limit ${bind(limit)}`,
    values,
  });
  return rows.map(({ id }) => id);
}

const isDue = sql<boolean>`(t.trashed_at <= now() - make_interval(days => w.trash_days)
  and not exists (select 1 from legal_holds h where h.recording_id = t.recording_id))`;

/** Recordings whose time in the trash is over and that are not on legal hold. */
export async function findDue(
  db: Executor,
  limit: number,
): Promise<{ readonly recording_id: string; readonly workspace_id: string }[]> {
  const { rows } = await sql<{ recording_id: string; workspace_id: string }>`
    select t.recording_id, t.workspace_id
    from trashed_recordings t join workspaces w on w.id = t.workspace_id
    where ${isDue} order by t.trashed_at limit ${limit}`.execute(db);
  return rows;
}

/** Locks a recording whose time in the trash is over. @returns whether it still is. */
export async function lockDue(tx: Tx, recordingId: string): Promise<boolean> {
  await sql`select 1 from recordings where id = ${recordingId} for update`.execute(tx);
  const { rows } = await sql`
    select 1 from trashed_recordings t join workspaces w on w.id = t.workspace_id
    where t.recording_id = ${recordingId} and ${isDue}`.execute(tx);
  return rows.length > 0;
}
