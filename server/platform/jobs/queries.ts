import { sql } from "kysely";
import type pg from "pg";
import type { Executor, Tx } from "../db/database.ts";

/** A job that this process has claimed. `runId` names the attempt when it is completed or failed. */
export interface ClaimedJob {
  readonly name: string;
  readonly key: string;
  readonly data: object;
  readonly attempts: number;
  readonly runId: string;
}

type Attempt = Pick<ClaimedJob, "name" | "key" | "runId">;

/**
 * Whose job may start: anyone's, only that of a user who has none of this kind running, or only that of a workspace that
 * has none running.
 */
export type Admission = "anyone" | "idle_person" | "idle_workspace";

/** A worker that is silent for this long is considered dead, and its jobs are given to another. */
export const heartbeatSeconds = 10;

/**
 * Deaths of its process after which a job is stopped, so that one that takes all memory doesn't end the server again and
 * again. An attempt that had not run for `earlySeconds` counts as a third: kills from outside mostly hit such, which
 * are the innocent ones.
 */
const maxDeaths = 2;
const earlySeconds = 2;

export const stoppedReason =
  "the process ended twice while this job ran, as for lack of memory; look for the cause in the log, then retry the job";

/**
 * Claims one due job of a kind, chosen fairly: of the waiting workspaces, the one with the fewest running jobs, then the
 * one whose last start was longest ago; within it the same by user; of that user the oldest job. Running jobs of all
 * processes count. The cost grows with the number of waiting users, not with the number of their jobs.
 * @returns undefined when no job waits that may start.
 */
export async function claimJob(
  pool: pg.Pool,
  name: string,
  admission: Admission,
): Promise<ClaimedJob | undefined> {
  const { rows } = await pool.query<ClaimedJob>({
    name: "claim_job",
    text: `
      with recursive waiting (owner) as (
        -- One index lookup for each user who waits.
        (select owner from jobs where name = $1 and run_id is null and not is_stopped order by owner limit 1)
        union all
        select (select j.owner from jobs j
          where j.name = $1 and j.run_id is null and not j.is_stopped and j.owner > w.owner order by j.owner limit 1)
        from waiting w where w.owner is not null
      ), candidates as materialized (
        select w.owner, split_part(w.owner, '/', 1) as workspace, head.key, head.created_at
        from waiting w cross join lateral (
          select j.key, j.created_at from jobs j
          where j.name = $1 and j.run_id is null and not j.is_stopped and j.owner = w.owner and j.due_at <= now()
          order by j.created_at limit 1
        ) head
        where w.owner is not null
      ), people as materialized (
        select owner, count(*) as jobs from jobs where name = $1 and run_id is not null group by 1
      ), workspaces as materialized (
        select split_part(owner, '/', 1) as workspace, sum(jobs) as jobs from people group by 1
      ), next as materialized (
        select j.name, j.key from candidates c
          join jobs j on j.name = $1 and j.key = c.key and j.run_id is null
          left join people p on p.owner = c.owner
          left join workspaces w on w.workspace = c.workspace
          left join job_turns person_turn on person_turn.queue = $1 and person_turn.owner = c.owner
          left join job_turns workspace_turn on workspace_turn.queue = $1 and workspace_turn.owner = c.workspace
        where $2 = 'anyone' or (p.jobs is null and ($2 = 'idle_person' or w.jobs is null))
        order by coalesce(w.jobs, 0), workspace_turn.started_at nulls first,
          coalesce(p.jobs, 0), person_turn.started_at nulls first, c.created_at
        limit 1 for update of j skip locked
      ), claimed as (
        update jobs j set run_id = gen_random_uuid(), started_at = now(), heartbeat_at = now(), attempts = attempts + 1
        from next where j.name = next.name and j.key = next.key
        returning j.name, j.key, j.data, j.attempts, j.run_id as "runId", j.owner
      ), turns as (
        insert into job_turns (queue, owner, started_at)
        select $1, turn.owner, clock_timestamp()
        from claimed c cross join lateral (values (split_part(c.owner, '/', 1)), (c.owner)) turn (owner)
        where c.owner <> ''
        on conflict (queue, owner) do update set started_at = excluded.started_at
      )
      select name, key, data, attempts, "runId" from claimed`,
    values: [name, admission],
  });
  return rows[0];
}

/** Claims a recurring job, if it is due. There is one of each. */
export async function claimRecurringJob(pool: pg.Pool, name: string): Promise<ClaimedJob | undefined> {
  const { rows } = await pool.query<ClaimedJob>({
    name: "claim_recurring_job",
    text: `update jobs set run_id = gen_random_uuid(), started_at = now(), heartbeat_at = now(), attempts = attempts + 1
      where name = $1 and key = '' and run_id is null and not is_stopped and due_at <= now()
      returning name, key, data, attempts, run_id as "runId"`,
    values: [name],
  });
  return rows[0];
}

/** Of these kinds, those with a job that is due; the one that has been due for the longest first. */
export async function findDueNames(pool: pg.Pool, names: readonly string[]): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>({
    name: "find_due_jobs",
    text: `select n.name from unnest($1::text[]) n (name) cross join lateral (
        select due_at from jobs j where j.name = n.name and j.run_id is null and not j.is_stopped
        order by due_at limit 1) head
      where head.due_at <= now() order by head.due_at`,
    values: [names],
  });
  return rows.map(({ name }) => name);
}

/** Milliseconds until a job of these kinds is due, or due to be taken from a dead worker. */
export async function findMsUntilDue(client: pg.ClientBase, names: readonly string[]): Promise<number> {
  const { rows } = await client.query<{ ms: number | null }>({
    name: "ms_until_job_due",
    text: `select extract(epoch from least(
          (select min(head.due_at) from unnest($1::text[]) n (name) cross join lateral (
            select due_at from jobs j where j.name = n.name and j.run_id is null and not j.is_stopped
            order by due_at limit 1) head),
          (select min(heartbeat_at) + $2 * interval '1 second' from jobs
            where run_id is not null and name = any($1::text[])))
        - clock_timestamp())::float8 * 1000 as ms`,
    values: [names, heartbeatSeconds],
  });
  return rows[0]?.ms ?? Number.POSITIVE_INFINITY;
}

/** Deletes a job that has succeeded; one that was requested while it ran (`requestAgain` in queue.ts) waits as new. */
export async function completeJob(pool: pg.Pool, { name, key, runId }: Attempt): Promise<void> {
  const values = [name, key, runId];
  const { rowCount } = await pool.query({
    name: "complete_job",
    text: "delete from jobs where name = $1 and key = $2 and run_id = $3 and due_at <= started_at",
    values,
  });
  if (rowCount !== 0) return;
  // A statement of its own, which also sees a request that the deletion has waited for.
  await pool.query({
    name: "repeat_job",
    text: `update jobs set run_id = null, attempts = 0, deaths = 0, error = null
      where name = $1 and key = $2 and run_id = $3`,
    values,
  });
}

/** Ends a run of a recurring job that has succeeded. @param state what to keep for the next run. */
export async function postponeJob(
  pool: pg.Pool,
  { name, key, runId }: Attempt,
  afterMs: number,
  state: object,
): Promise<void> {
  await pool.query({
    name: "postpone_job",
    text: `update jobs set run_id = null, attempts = 0, deaths = 0, error = null, data = $4,
        due_at = now() + $5 * interval '1 millisecond', ended_at = now()
      where name = $1 and key = $2 and run_id = $3`,
    values: [name, key, runId, state, afterMs],
  });
}

/**
 * Returns a job that has failed to the queue.
 * @param afterMs when to try it again; null: it is stopped.
 */
export async function failJob(
  pool: pg.Pool,
  { name, key, runId }: Attempt,
  error: string,
  afterMs: number | null,
): Promise<void> {
  await pool.query(
    `update jobs set run_id = null, error = $4, is_stopped = $5::float8 is null,
       due_at = now() + coalesce($5::float8, 0) * interval '1 millisecond', ended_at = now()
     where name = $1 and key = $2 and run_id = $3`,
    [name, key, runId, error, afterMs],
  );
}

/** Returns a job to the queue as if it had not been taken, because its worker stops. */
export async function releaseJob(pool: pg.Pool, { name, key, runId }: Attempt): Promise<void> {
  await pool.query(
    `update jobs set run_id = null, attempts = attempts - 1, due_at = now()
     where name = $1 and key = $2 and run_id = $3`,
    [name, key, runId],
  );
}

/**
 * Says that these attempts are running, except those of jobs that a transaction holds, such as a request to run one again:
 * they must not keep the others from saying so.
 * @returns the attempts that are left, for `beatLater()`.
 */
export async function beat(pool: pg.Pool, runIds: readonly string[]): Promise<string[]> {
  const { rows } = await pool.query<{ run_id: string }>(
    `update jobs j set heartbeat_at = now()
     from (select name, key from jobs where run_id = any($1::uuid[]) for update skip locked) free
     where j.name = free.name and j.key = free.key
     returning j.run_id`,
    [runIds],
  );
  const said = new Set(rows.map(({ run_id }) => run_id));
  return runIds.filter((runId) => !said.has(runId));
}

/** Says that these attempts are running as soon as the transactions that hold their jobs have ended. */
export async function beatLater(pool: pg.Pool, runIds: readonly string[]): Promise<void> {
  await pool.query("update jobs set heartbeat_at = now() where run_id = any($1::uuid[])", [runIds]);
}

/** Adds the recurring jobs that the queue doesn't have yet; those it has run no later than by their present interval. */
export async function addRecurringJobs(
  pool: pg.Pool,
  jobs: readonly { readonly name: string; readonly afterMs: number }[],
): Promise<void> {
  await pool.query(
    `insert into jobs as j (name, key) select name, '' from unnest($1::text[]) name on conflict do nothing`,
    [jobs.map(({ name }) => name)],
  );
  await pool.query(
    `update jobs j set due_at = now() + n.after * interval '1 millisecond'
     from unnest($1::text[], $2::float8[]) n (name, after)
     where j.name = n.name and j.key = '' and j.run_id is null and j.due_at > now() + n.after * interval '1 millisecond'`,
    [jobs.map(({ name }) => name), jobs.map(({ afterMs }) => afterMs)],
  );
}

/** Recurring jobs that ended while the clock was ahead would wait until that time has really come. */
export async function correctFutureRuns(pool: pg.Pool): Promise<void> {
  await pool.query({
    name: "correct_future_runs",
    text: `update jobs set due_at = now(), ended_at = now()
      where key = '' and run_id is null and ended_at > now() + interval '5 minutes'`,
  });
}

/** A job that was stopped because its process died twice while it ran. */
export interface StoppedJob {
  readonly name: string;
  readonly key: string;
}

/**
 * Returns the jobs of dead processes to the queue and counts the deaths, in thirds; a job with too many is stopped. It
 * keeps its key, so that no sweep starts it again, and is listed as failed.
 * @param whose `silent`: jobs without a heartbeat for too long; `all`: every job that is marked as running.
 * @returns the stopped jobs.
 */
export async function takeFromTheDead(db: Executor, whose: "silent" | "all"): Promise<StoppedJob[]> {
  const isDead =
    whose === "all"
      ? sql<boolean>`run_id is not null`
      : sql<boolean>`run_id is not null and heartbeat_at + ${heartbeatSeconds} * interval '1 second' < now()`;
  const { rows } = await sql<StoppedJob & { is_stopped: boolean }>`
    with died as (
      select name, key, deaths + case
          when heartbeat_at - started_at < ${earlySeconds} * interval '1 second' then 1 else 3 end as deaths
      from jobs where ${isDead} for update skip locked
    )
    update jobs j set run_id = null, deaths = d.deaths, is_stopped = d.deaths >= ${3 * maxDeaths}::integer,
      attempts = case when ${whose === "all"} and d.deaths < ${3 * maxDeaths}::integer then attempts - 1 else attempts end,
      due_at = now(),
      error = case when d.deaths >= ${3 * maxDeaths}::integer then ${stoppedReason}
        when ${whose === "all"} then error else 'the process that ran it ended or stopped responding' end
    from died d where j.name = d.name and j.key = d.key
    returning j.name, j.key, j.is_stopped`.execute(db);
  return rows.filter(({ is_stopped }) => is_stopped).map(({ name, key }) => ({ name, key }));
}

/** Takes over what waits in the queue of an earlier version, whose processes may still add to it. */
export async function takeEarlierJobs(pool: pg.Pool): Promise<void> {
  await pool.query("select parley_take_earlier_jobs()");
}

/** Has a failed job run now, also one that was stopped. @returns whether there is one in the queue. */
export async function makeDue(tx: Tx, name: string, key: string): Promise<boolean> {
  const { rows } = await sql`
    update jobs set due_at = now(), is_stopped = false, deaths = case when is_stopped then 0 else deaths end
    where name = ${name} and key = ${key} and run_id is null and error is not null returning name`.execute(
    tx,
  );
  await sql`select parley_work_added()`.execute(tx);
  return rows.length > 0;
}

/** Lets a stopped job run again, because someone asked for it. @returns whether there was one. */
export async function restartStoppedJob(tx: Tx, name: string, key: string): Promise<boolean> {
  const { rows } = await sql`
    update jobs set is_stopped = false, due_at = now(), error = null, deaths = 0
    where name = ${name} and key = ${key} and is_stopped returning name`.execute(tx);
  return rows.length > 0;
}

/** Corrects times in the future of waiting jobs, left by a clock that was ahead for a while. */
export async function correctFutureJobs(pool: pg.Pool): Promise<void> {
  await pool.query(
    `update jobs set due_at = now()
     where key <> '' and run_id is null and not is_stopped and due_at > now() + interval '1 hour'`,
  );
  await pool.query(
    `update jobs set heartbeat_at = now(), started_at = least(started_at, now()), due_at = least(due_at, now())
     where run_id is not null and heartbeat_at > now() + interval '5 minutes'`,
  );
  await pool.query("delete from job_turns where started_at > now() + interval '5 minutes'");
}

/** Deletes turns that no longer matter: a user without a turn for a day goes first anyway. */
export async function deleteOldTurns(pool: pg.Pool): Promise<void> {
  await pool.query("delete from job_turns where started_at < now() - interval '1 day'");
}
