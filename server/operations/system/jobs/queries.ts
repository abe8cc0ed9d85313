import { sql } from "kysely";
import type { Executor, Tx } from "../../../platform/db/database.ts";
import { hasNoJob } from "../../../platform/jobs/queue.ts";

/** How long work that has stopped after failing is listed; it can be retried afterwards where its recording is shown. */
const stoppedFor = "7 days";

/** Failed jobs listed at most. */
const maxFailedJobs = 100;

/** Rows of one kind that are counted exactly. */
const maxCounted = 100_000;

/** Models don't work on recordings in the trash, so nothing can be retried there. */
const notInTrash = (alias: "t" | "i") =>
  sql<boolean>`not exists (select 1 from trashed_recordings d where d.recording_id = ${sql.ref(alias)}.recording_id)`;

/**
 * The failed jobs, one statement for the list, the counts and the lookup. A job that throws returns to the queue with its
 * error; the jobs of models note a failure with the recording instead and end, until a sweep starts them again.
 */
const failedJobs = sql`(
  select j.name as kind, j.key, greatest(j.attempts, 1) as attempts,
    case when not j.is_stopped then j.due_at end as next_at, true as is_queued, j.error,
    nullif(split_part(j.owner, '/', 1), '')::uuid as workspace_id
  from jobs j
  where j.run_id is null and j.error is not null
  union all
  select 'transcribe_recording', t.recording_id::text, greatest(t.attempts, 1), t.next_at, false,
    coalesce(t.last_error, ''),
    r.workspace_id
  from (
    select *, coalesce(not_before, now()) as next_at from transcriptions
      where status in ('pending', 'running') and attempts > 0
    union all
    select *, null from transcriptions
      where status = 'failed' and canceled_at is null and updated_at > now() - interval '${sql.raw(stoppedFor)}'
  ) t join recordings r on r.id = t.recording_id
  where ${hasNoJob("transcribe_recording", sql`t.recording_id`)} and ${notInTrash("t")}
  union all
  select 'analyze_recording', i.recording_id::text, greatest(i.attempts, 1),
    case when i.status in ('pending', 'running') then coalesce(i.not_before, now()) else i.not_before end,
    false, coalesce(i.last_error, ''), r.workspace_id
  from intelligence_runs i join recordings r on r.id = i.recording_id
  where i.status <> 'done' and (i.attempts > 0 and i.status <> 'failed'
      or i.status = 'failed' and (i.not_before is not null or i.updated_at > now() - interval '${sql.raw(stoppedFor)}'))
    and ${hasNoJob("analyze_recording", sql`i.recording_id`)} and ${notInTrash("i")}
)`;

/** A job whose last attempt failed. */
export interface FailedJobRow {
  readonly kind: string;
  /** Id of its subject. */
  readonly key: string;
  readonly attempts: number;
  /** Null: it has stopped. */
  readonly next_at: Date | null;
  /** Whether the job itself is in the queue. Otherwise its recording says that it failed. */
  readonly is_queued: boolean;
  readonly error: string;
  readonly workspace_id: string | null;
  readonly workspace_name: string | null;
}

/** The failed jobs, those due first at the head. */
export async function findFailedJobs(db: Executor): Promise<FailedJobRow[]> {
  const { rows } = await sql<FailedJobRow>`
    select f.kind, f.key, f.attempts, f.next_at, f.is_queued, left(f.error, 1000) as error, w.id as workspace_id,
      w.name as workspace_name
    from ${failedJobs} f left join workspaces w on w.id = f.workspace_id
    order by f.next_at nulls last, f.kind, f.key limit ${maxFailedJobs}`.execute(db);
  return rows;
}

/** Kinds of which jobs have failed this often, with the error of the one that has failed most often. */
export async function summarizeRepeated(
  db: Executor,
  attempts: number,
): Promise<{ readonly kind: string; readonly count: number; readonly error: string }[]> {
  const { rows } = await sql<{ kind: string; count: number; error: string }>`
    select kind, count(*)::integer as count, left((array_agg(error order by attempts desc))[1], 1000) as error
    from (select kind, attempts, error from ${failedJobs} f where attempts >= ${attempts} limit ${maxCounted}) f
    group by kind order by kind`.execute(db);
  return rows;
}

/** What the failed jobs of one kind say about what they depend on. */
export interface FailureSummary {
  /** Jobs that will be tried again, and the error of the one that is due first. */
  readonly waiting: number;
  readonly waiting_error: string | null;
  /** Transcriptions that the speech model failed for good since it last succeeded, and the last error. */
  readonly stopped: number;
  readonly stopped_error: string | null;
}

/** What a kind without failed jobs has. */
export const noFailures: FailureSummary = {
  waiting: 0,
  waiting_error: null,
  stopped: 0,
  stopped_error: null,
};

/** Summarizes all failed jobs, however many, by kind. A kind without failed jobs is absent. */
export async function summarizeFailures(db: Executor): Promise<Map<string, FailureSummary>> {
  const { rows } = await sql<FailureSummary & { kind: string }>`
    select w.kind, w.waiting, left(w.waiting_error, 1000) as waiting_error, 0 as stopped, null as stopped_error
    from (
      select kind, count(*)::integer as waiting, (array_agg(error order by next_at))[1] as waiting_error
      from (select kind, error, next_at from ${failedJobs} f where next_at is not null limit ${maxCounted}) f
      group by kind) w
    union all
    select 'transcribe_recording', 0, null, count(*)::integer,
      left((array_agg(t.last_error order by t.updated_at desc))[1], 1000)
    from transcriptions t
    where t.status = 'failed' and t.failure_cause = 'model'
      and t.updated_at > now() - interval '${sql.raw(stoppedFor)}'
      and not exists (select 1 from transcriptions d
        where d.status = 'done' and d.written_version is not null and d.updated_at > t.updated_at)
    having count(*) > 0`.execute(db);
  const summaries = new Map<string, FailureSummary>();
  for (const { kind, ...one } of rows) {
    const other = summaries.get(kind) ?? noFailures;
    summaries.set(kind, {
      waiting: one.waiting + other.waiting,
      waiting_error: one.waiting_error ?? other.waiting_error,
      stopped: one.stopped + other.stopped,
      stopped_error: one.stopped_error ?? other.stopped_error,
    });
  }
  return summaries;
}

/** All failed jobs of a kind, or of every kind, by kind and subject. */
export async function findFailedKeys(
  db: Executor,
  kind: string | null,
): Promise<{ kind: string; key: string }[]> {
  const { rows } = await sql<{ kind: string; key: string }>`
    select kind, key from ${failedJobs} f where ${kind === null} or kind = ${kind} limit ${maxCounted}`.execute(
    db,
  );
  return rows;
}

/** A failed job by kind and subject. @returns its workspace; undefined when there is no such job. */
export async function findFailedJob(
  tx: Tx,
  kind: string,
  key: string,
): Promise<Pick<FailedJobRow, "workspace_id" | "next_at" | "is_queued"> | undefined> {
  const { rows } = await sql<Pick<FailedJobRow, "workspace_id" | "next_at" | "is_queued">>`
    select workspace_id, next_at, is_queued from ${failedJobs} f where kind = ${kind} and key = ${key} limit 1`.execute(
    tx,
  );
  return rows[0];
}

export interface JobCountRow {
  readonly kind: string;
  readonly waiting: number;
  readonly running: number;
  readonly failed: number;
  readonly oldest_at: Date | null;
}

/** How many jobs of each of these kinds wait, run and have failed. */
export async function countJobs(db: Executor, kinds: readonly string[]): Promise<JobCountRow[]> {
  const { rows } = await sql<JobCountRow>`
    with unfinished as (
      select name, run_id is not null as is_running, run_id is null and error is not null as is_failed, created_at
      from jobs
    ), failed as (
      select kind, count(*)::integer as failed from (select kind from ${failedJobs} f limit ${maxCounted}) f group by kind
    )
    select q.kind, coalesce(max(f.failed), 0) as failed,
      count(u.name) filter (where u.is_running)::integer as running,
      count(u.name) filter (where not u.is_running and not u.is_failed)::integer as waiting,
      min(u.created_at) as oldest_at
    from unnest(${kinds}::text[]) q (kind) left join unfinished u on u.name = q.kind
      left join failed f on f.kind = q.kind
    group by q.kind order by q.kind`.execute(db);
  return rows;
}
