import { randomUUIDv7 } from "node:crypto";
import { type Selectable, sql } from "kysely";
import { sentences } from "../../../../contract/sentences.ts";
import { notify } from "../../../people/events/notify.ts";
import type { Principal } from "../../../platform/auth/principal.ts";
import type { Database, Executor, Tx } from "../../../platform/db/database.ts";
import type { ImportRuns } from "../../../platform/db/types.ts";
import { hasNoJob, hasStoppedJob } from "../../../platform/jobs/queue.ts";
import type { UploadRow } from "../../../processing/uploads/queries.ts";
import { noticeOf } from "../file-notice.ts";
import { cleanText } from "../sources/clean-text.ts";

export type ImportRunRow = Selectable<ImportRuns>;

export interface NewRun {
  readonly workspaceId: string;
  readonly createdBy: string;
  readonly source: string;
  readonly origin: string;
  readonly token: Buffer | null;
  readonly isDryRun: boolean;
}

export async function insertRun(tx: Executor, run: NewRun): Promise<ImportRunRow> {
  return tx
    .insertInto("import_runs")
    .values({
      id: randomUUIDv7(),
      workspace_id: run.workspaceId,
      created_by: run.createdBy,
      source: run.source,
      origin: run.origin,
      token: run.token,
      is_dry_run: run.isDryRun,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function findRun(db: Executor, runId: string): Promise<ImportRunRow | undefined> {
  return db.selectFrom("import_runs").selectAll().where("id", "=", runId).executeTakeFirst();
}

/** Saves what was counted. */
export async function beginRun(db: Executor, runId: string, counts: Record<string, number>): Promise<void> {
  await db
    .updateTable("import_runs")
    .set({ counts: JSON.stringify(counts), state: "running", updated_at: sql`clock_timestamp()` })
    .where("id", "=", runId)
    .where("state", "in", ["pending", "running"])
    .execute();
}

/** Has a run wait; a run that has ended stays as it is. */
export async function postponeRun(db: Executor, runId: string, waitMs: number): Promise<void> {
  await sql`
    update import_runs set resume_at = clock_timestamp() + ${waitMs} * interval '1 millisecond'
    where id = ${runId} and state in ('pending', 'running')`.execute(db);
}

/** Takes runs whose wait is over. */
export async function takeDueRuns(tx: Tx): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    update import_runs set resume_at = null
    where resume_at <= clock_timestamp() and ${hasNoJob("import_recordings", sql`import_runs.id`)}
    returning id`.execute(tx);
  return rows.map(({ id }) => id);
}

/** Ends runs whose job was stopped because the server died twice while it ran. */
export async function failStoppedRuns(tx: Tx): Promise<void> {
  const { rows } = await sql<EndedRun>`
    update import_runs set state = 'failed', token = null, resume_at = null, finished_at = clock_timestamp(),
      error = 'the server ended twice while it ran this import; ask the operator for the cause before you start it again'
    where state in ('pending', 'running') and token is not null
      and ${hasStoppedJob("import_recordings", sql`import_runs.id`)}
    returning id, created_by, is_dry_run`.execute(tx);
  for (const run of rows) await notifyOfEnd(tx, run);
}

type EndedRun = Pick<ImportRunRow, "id" | "created_by" | "is_dry_run">;

/** Notifies the admin who started a run that it has ended; a dry run reports to where it was started. */
async function notifyOfEnd(tx: Tx, { id, created_by, is_dry_run }: EndedRun): Promise<void> {
  if (is_dry_run) return;
  await notify(tx, {
    kind: "import_ended",
    key: `import:${id}`,
    to: sql`select ${created_by}::uuid`,
    actorId: null,
    subjectId: id,
  });
}

/** Ends a run, removes its token, and notifies who started it, unless it was canceled. A run that has ended stays as it is. */
export async function endRun(
  tx: Tx,
  runId: string,
  state: "done" | "failed" | "canceled",
  error: string | null = null,
): Promise<boolean> {
  const row = await tx
    .updateTable("import_runs")
    .set({
      state,
      error,
      token: null,
      resume_at: null,
      updated_at: sql`clock_timestamp()`,
      finished_at: sql`clock_timestamp()`,
    })
    .where("id", "=", runId)
    .where("state", "in", ["pending", "running"])
    .returning(["id", "created_by", "is_dry_run"])
    .executeTakeFirst();
  if (row !== undefined && state !== "canceled") await notifyOfEnd(tx, row);
  return row !== undefined;
}

/** Ends runs of the same source whose command was killed; the caller has the lock that their process had. */
export async function endInterrupted(db: Executor, run: ImportRunRow): Promise<void> {
  await db
    .updateTable("import_runs")
    .set({ state: "failed", error: sentences.import_interrupted, finished_at: sql`clock_timestamp()` })
    .where("workspace_id", "=", run.workspace_id)
    .where("source", "=", run.source)
    .where("origin", "=", run.origin)
    .where("id", "<>", run.id)
    .where("token", "is", null)
    .where("state", "in", ["pending", "running"])
    .execute();
}

/** What is known about a recording of a source. */
interface ItemState {
  readonly state: "pending" | "done" | "failed";
  readonly run_id: string;
  /** Of its upload; null: there is none. */
  readonly upload_status: string | null;
  /** Of its upload, which an earlier version may have derived in another way. */
  readonly external_id: string | null;
}

export async function findItem(
  db: Executor,
  workspaceId: string,
  sourceKey: string,
  oldId: string,
): Promise<ItemState | undefined> {
  const { rows } = await sql<ItemState>`
    select i.state, i.run_id, u.status as upload_status, u.external_id
    from import_items i left join uploads u on u.id = i.upload_id
    where i.workspace_id = ${workspaceId} and i.source_key = ${sourceKey} and i.old_id = ${oldId}`.execute(
    db,
  );
  return rows[0];
}

/** Recordings that an earlier run has sent, and that are not recordings yet, count for this run. */
export async function adoptPending(db: Executor, run: ImportRunRow, sourceKey: string): Promise<void> {
  await sql`
    update import_items set run_id = ${run.id}
    where workspace_id = ${run.workspace_id} and source_key = ${sourceKey} and state = 'pending'`.execute(db);
}

interface ItemKey {
  readonly workspaceId: string;
  readonly sourceKey: string;
  readonly oldId: string;
  readonly runId: string;
}

/** Connects a recording of a source with its upload, which may be a recording already. */
export async function saveItem(
  db: Database,
  item: ItemKey,
  uploadId: string,
  omitted: Readonly<Record<string, number>>,
): Promise<void> {
  await db.kysely.transaction().execute(async (tx) => {
    // Either the promotion waits for this row, or this waits for the promotion and sees its result.
    await sql`select 1 from uploads where id = ${uploadId} for update`.execute(tx);
    await sql`
      insert into import_items (workspace_id, source_key, old_id, run_id, state, upload_id, recording_id, omitted)
      select ${item.workspaceId}, ${item.sourceKey}, ${item.oldId}, ${item.runId},
        case status when 'success' then 'done' else 'pending' end, id, recording_id, ${JSON.stringify(omitted)}::jsonb
      from uploads where id = ${uploadId}
      on conflict (workspace_id, source_key, old_id) do update set run_id = excluded.run_id, state = excluded.state,
        upload_id = excluded.upload_id, recording_id = excluded.recording_id, omitted = excluded.omitted,
        reason = null, updated_at = clock_timestamp()
      where import_items.state <> 'done'`.execute(tx);
  });
}

export async function failItem(db: Executor, item: ItemKey, reason: string): Promise<void> {
  await sql`
    insert into import_items (workspace_id, source_key, old_id, run_id, state, reason)
    values (${item.workspaceId}, ${item.sourceKey}, ${item.oldId}, ${item.runId}, 'failed', ${cleanText(reason.slice(0, 1000))})
    on conflict (workspace_id, source_key, old_id) do update set run_id = excluded.run_id, state = 'failed',
      reason = excluded.reason, updated_at = clock_timestamp()
    where import_items.state <> 'done'`.execute(db);
}

/**
 * Notes uploads of the run that have ended. Those that have succeeded were mostly noted by their promotion, but not by that
 * of a server of an earlier release.
 * @returns how many of its recordings are still to come.
 */
export async function refreshItems(db: Executor, runId: string): Promise<number> {
  await sql`
    update import_items i set updated_at = clock_timestamp(), recording_id = u.recording_id,
      state = case u.status when 'success' then 'done' else 'failed' end,
      reason = case when u.status = 'success' then null
        else coalesce(u.failure_reason, 'The upload was removed before it became a recording.') end
    from import_items p left join uploads u on u.id = p.upload_id
    where p.run_id = ${runId} and p.state = 'pending' and (u.id is null or u.status in ('failure', 'success'))
      and (i.workspace_id, i.source_key, i.old_id) = (p.workspace_id, p.source_key, p.old_id)`.execute(db);
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from import_items where run_id = ${runId} and state = 'pending'`.execute(
    db,
  );
  return rows[0]?.count ?? 0;
}

/** How many recordings of the run are done and failed, and what of them was left out. */
export interface RunResult {
  readonly done: number;
  readonly failed: number;
  readonly pending: number;
  readonly omitted: Readonly<Record<string, number>>;
}

/** In the counts of a dry run: how much would be left out, as `omitted` of recordings. */
export const omittedPrefix = "without_";

export async function findResult(db: Executor, runId: string): Promise<RunResult> {
  const { rows } = await sql<RunResult>`
    select count(*) filter (where state = 'done')::integer as done,
      count(*) filter (where state = 'failed')::integer as failed,
      count(*) filter (where state = 'pending')::integer as pending,
      coalesce((select json_object_agg(key, total) from (
        select o.key, sum(o.value::integer)::integer as total
        from import_items x, jsonb_each_text(x.omitted) o where x.run_id = ${runId} group by o.key
        union all
        select substr(c.key, ${omittedPrefix.length + 1}), c.value::integer
        from import_runs r, jsonb_each_text(r.counts) c
        where r.id = ${runId} and starts_with(c.key, ${omittedPrefix})) t), '{}') as omitted
    from import_items where run_id = ${runId}`.execute(db);
  return rows[0] ?? { done: 0, failed: 0, pending: 0, omitted: {} };
}

/** A recording in the report of a run. */
export interface ReportRow {
  readonly old_id: string;
  readonly state: "pending" | "done" | "failed";
  readonly recording_id: string | null;
  readonly reason: string | null;
  readonly omitted: Readonly<Record<string, number>>;
}

/** The recordings of a run that failed, or of which something was left out. */
export async function findReport(db: Executor, runId: string, limit: number): Promise<ReportRow[]> {
  const { rows } = await sql<ReportRow>`
    select old_id, state, recording_id, reason, omitted from import_items
    where run_id = ${runId} and (state = 'failed' or omitted <> '{}')
    order by state = 'failed' desc, old_id limit ${limit}`.execute(db);
  return rows;
}

/** What should be known about the files of a run's recordings, such as that one ends early. */
export async function findFileNotices(db: Executor, runId: string, limit: number): Promise<string[]> {
  const { rows } = await sql<Pick<UploadRow, "facts"> & { old_id: string }>`
    select i.old_id, u.facts from import_items i join uploads u on u.id = i.upload_id
    where i.run_id = ${runId} and i.state = 'done' and u.facts -> 'endsEarly' is not null
    order by i.old_id limit ${limit}`.execute(db);
  return rows.flatMap(({ old_id, facts }) => {
    const notice = noticeOf({ facts });
    return notice === null ? [] : [`${old_id}: ${notice}`];
  });
}

/**
 * The recording that was known by this id elsewhere, if the workspace resolves such ids and the principal can see it.
 */
export async function findByOldId(
  db: Executor,
  principal: Pick<Principal, "workspaceId" | "sees">,
  oldId: string,
): Promise<string | null> {
  const { rows } = await sql<{ id: string }>`
    select r.id
    from import_items i join workspaces w on w.id = i.workspace_id join recordings r on r.id = i.recording_id
    where i.workspace_id = ${principal.workspaceId} and i.old_id = ${oldId} and w.resolves_old_ids
      and exists (select 1 from recording_grants g
        where g.recording_id = r.id and g.principal_id = any(${principal.sees}::uuid[]))
    order by i.updated_at limit 1`.execute(db);
  return rows[0]?.id ?? null;
}

/** Locks a run of a workspace. */
export async function lockRun(tx: Tx, workspaceId: string, runId: string): Promise<ImportRunRow | undefined> {
  return tx
    .selectFrom("import_runs")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", runId)
    .forUpdate()
    .executeTakeFirst();
}

/** The latest runs of a workspace. */
export async function findRuns(db: Executor, workspaceId: string): Promise<ImportRunRow[]> {
  return db
    .selectFrom("import_runs")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(50)
    .execute();
}
