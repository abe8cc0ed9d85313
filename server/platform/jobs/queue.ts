import { AsyncLocalStorage } from "node:async_hooks";
import type { FastifyBaseLogger } from "fastify";
import { type RawBuilder, sql } from "kysely";
import type pg from "pg";
import { type Db, fromKysely, PgBoss } from "pg-boss";
import type { Database, Tx } from "../db/database.ts";
import { DatabaseTooNewError } from "../db/oldest-version.ts";
import { type Admission, type ClaimedJob, claimFairly, fairFetchIndex } from "./fair-fetch.ts";
import { findOwner } from "./owners.ts";
import type { DueCheck } from "./sleep.ts";

/** Every kind of job with its data. */
export interface JobData {
  promote_upload: { readonly uploadId: string };
  validate_upload: { readonly uploadId: string };
  promote_media: { readonly uploadId: string };
  join_upload_parts: { readonly uploadId: string };
  transcribe_recording: { readonly recordingId: string };
  fetch_import: { readonly uploadId: string };
  analyze_recording: { readonly recordingId: string };
  /** Mail as JSON, encrypted: it may contain a sign-in link. */
  send_mail: { readonly encrypted: string };
  request_password_reset: { readonly email: string; readonly ip: string; readonly userAgent: string };
  /** The recording is looked up by the job; `actor` is the requester, for the audit log. */
  request_access: { readonly wantedId: string; readonly actor: object };
  erase_personal_data: { readonly erasureId: string };
  render_clip: { readonly clipId: string };
  render_companions: { readonly recordingId: string };
  install_model: { readonly installId: string };
  import_recordings: { readonly runId: string };
  import_connection_event: { readonly connectionEventId: string };
}
export type JobName = keyof JobData;
const jobNames: readonly JobName[] = [
  "promote_upload",
  "validate_upload",
  "promote_media",
  "join_upload_parts",
  "transcribe_recording",
  "fetch_import",
  "analyze_recording",
  "send_mail",
  "request_password_reset",
  "request_access",
  "erase_personal_data",
  "render_clip",
  "render_companions",
  "install_model",
  "import_recordings",
  "import_connection_event",
];

/** The job queue. */
export interface JobQueue {
  /**
   * Enqueues a job with the transaction: it exists exactly when the transaction commits.
   * @param key at most one job with this key waits or runs. One that was stopped starts again.
   */
  enqueue<N extends JobName>(tx: Tx, name: N, data: JobData[N], key: string): Promise<void>;
  /** Claims the next job, see `claimFairly`. */
  claim(name: JobName, admission: Admission): Promise<ClaimedJob | undefined>;
  /**
   * Counts the deaths of processes whose jobs have had no heartbeat for too long, and stops jobs with too many. The others
   * are left to pg-boss, which returns them to the queue.
   */
  stopDeadlyJobs(): Promise<StoppedJob[]>;
  /** Hints to this process's pump that there is work; called after the commit. Other processes find it by polling. */
  wake(): void;
  /** Registers a listener for these hints. */
  onWake(listener: () => void): void;
  readonly boss: PgBoss;
  close(): Promise<void>;
}

/**
 * A worker that is silent for this long is considered dead and its job is given to another. The queue allows no less
 * than 10 s.
 */
export const heartbeatSeconds = 10;

/** How often to check for jobs of dead workers: they are found after the heartbeat plus this at most. */
export const superviseIntervalMs = 2000;

/**
 * Jobs are retried indefinitely, since nothing acknowledged may be lost; a job that can never succeed fails its subject
 * instead.
 */
const retryLimit = 1_000_000;

/**
 * Deaths of its process after which a job is stopped, so that one that takes all memory doesn't end the server again and
 * again. An attempt that had not run for `earlySeconds` counts as a third: kills from outside mostly hit such, which
 * are the innocent ones.
 */
const maxDeaths = 2;
const earlySeconds = 2;

const stoppedReason =
  "the process ended twice while this job ran, as for lack of memory; look for the cause in the log, then retry the job";

/**
 * A job that runs for longer is considered stuck and restarted. Longer than any job may take: rendering takes ten hours
 * at most (media/render), plus fetching and storing the files.
 */
export const jobExpirySeconds = 12 * 3600;

const queueOptions = {
  retryLimit,
  retryDelay: 1,
  retryBackoff: true,
  retryDelayMax: 10,
  heartbeatSeconds,
  expireInSeconds: jobExpirySeconds,
  // pg-boss deletes nothing by age: a clock that jumps must not cost a job. See deleteFinishedJobs.
  retentionSeconds: 60 * 365 * 86_400,
  deleteAfterSeconds: 0,
} as const;

function bossOptions(pool: pg.Pool) {
  const db: Db = { executeSql: (text, values) => pool.query(text, values as unknown[]) };
  return { db, schema: "pgboss" } as const;
}

/** Creates or upgrades the queue's tables and queues. Where several processes start together, one at a time may do this. */
export async function migrateJobs(pool: pg.Pool): Promise<void> {
  const boss = new PgBoss({ ...bossOptions(pool), supervise: false, schedule: false });
  boss.on("error", () => {}); // Relevant errors are thrown by start and createQueue.
  await boss.start();
  try {
    for (const name of jobNames) {
      await boss.createQueue(name, { policy: "exclusive", ...queueOptions });
      // A queue of an older version keeps its other options.
      await boss.updateQueue(name, queueOptions);
    }
    await pool.query(fairFetchIndex);
  } finally {
    await boss.stop({ graceful: false });
  }
}

/**
 * Opens the queue.
 * @throws DatabaseTooNewError when its tables are of another version of pg-boss.
 */
export async function openJobQueue(options: {
  pool: pg.Pool;
  onError: (error: Error) => void;
}): Promise<JobQueue> {
  const listeners: (() => void)[] = [];
  // What a request wakes is no part of the request, also not of its trace.
  const outsideOfRequests = AsyncLocalStorage.snapshot();
  const boss = new PgBoss({
    ...bossOptions(options.pool),
    migrate: false,
    schedule: false,
    // The pump does it, while it is awake.
    supervise: false,
    monitorIntervalSeconds: superviseIntervalMs / 1000,
  });
  boss.on("error", options.onError);
  await boss.start().catch((error: Error) => {
    if (!/requires migrations/.test(error.message)) throw error;
    throw new DatabaseTooNewError(
      "the job queue in the database is of another version of Parley; install the newest version that has used it",
      { cause: error },
    );
  });
  return {
    boss,
    async enqueue(tx, name, data, key) {
      const owner = await findOwner(tx, data);
      const created = await boss.send(name, data, {
        singletonKey: key,
        db: fromKysely(tx),
        ...(owner === null ? {} : { group: { id: owner } }),
      });
      if (created === null) await restartStoppedJob(tx, name, key);
      await sql`select parley_work_added()`.execute(tx);
    },
    claim: (name, admission) => claimFairly(options.pool, name, admission),
    async stopDeadlyJobs() {
      const { rows } = await options.pool.query<DeadJob>(countExpired);
      return stoppedOf(rows);
    },
    wake() {
      outsideOfRequests(() => {
        for (const listener of listeners) listener();
      });
    },
    onWake(listener) {
      listeners.push(listener);
    },
    close: () => boss.stop({ graceful: false }),
  };
}

/** A condition: no job of this kind waits or runs for the id. Its form lets pg-boss's unique index of keys serve it. */
export function hasNoJob(name: JobName, id: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`not exists (
    select 1 from pgboss.job j where j.name = ${name} and coalesce(j.singleton_key, '') = ${id}::text
      and j.state <= 'active' and j.policy = 'exclusive')`;
}

/** Whether a job of this kind waits, runs or is stopped for the id. For sweeps: `enqueue` also restarts a stopped job. */
export async function hasJob(tx: Tx, name: JobName, id: string): Promise<boolean> {
  const { rows } = await sql<{ has_none: boolean }>`select ${hasNoJob(name, sql`${id}`)} as has_none`.execute(
    tx,
  );
  return rows[0]?.has_none === false;
}

/** Deletes jobs that ended more than an hour ago. */
export async function deleteFinishedJobs(pool: pg.Pool): Promise<void> {
  await pool.query(
    "delete from pgboss.job where state > 'active' and completed_on < now() - interval '1 hour'",
  );
}

/** When a job of these kinds is due, or due to be taken from a dead worker. */
export function msUntilJobDue(names: readonly JobName[]): DueCheck {
  return async (client) => {
    const { rows } = await client.query<{ ms: number | null }>({
      name: "ms_until_job_due",
      // By the index of the policy, which all queues have.
      text: `select extract(epoch from min(case when state = 'active'
            then coalesce(heartbeat_on, started_on) + $2 * interval '1 second' else start_after end)
          - clock_timestamp())::float8 * 1000 as ms
        from pgboss.job
        where name = any($1::text[]) and policy = 'exclusive' and state <= 'active' and not blocked`,
      values: [names, heartbeatSeconds],
    });
    return rows[0]?.ms ?? Number.POSITIVE_INFINITY;
  };
}

/** Whether a job with this key runs, and its worker is alive. */
export async function isAtWork(tx: Tx, name: JobName, key: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from pgboss.job
    where name = ${name} and singleton_key = ${key} and state = 'active'
      and heartbeat_on + ${heartbeatSeconds} * interval '1 second' >= clock_timestamp()`.execute(tx);
  return rows.length > 0;
}

/** A job that was stopped because its process died twice while it ran. */
export interface StoppedJob {
  readonly name: JobName;
  readonly key: string;
}

type DeadJob = StoppedJob & { readonly is_stopped: boolean };

function stoppedOf(dead: readonly DeadJob[]): StoppedJob[] {
  return dead.filter((job) => job.is_stopped).map(({ name, key }) => ({ name, key }));
}

/**
 * Counts the death of the process that ran a job, in thirds and once for each attempt, and stops those with too many. A
 * stopped job keeps its key, so that no sweep starts it again, and is listed as failed.
 * @param isDead of which jobs that run.
 */
const countDeaths = (isDead: string): string => `
  with died as (
    select name, id,
      case when (data #>> '{deaths,attempt}')::integer = retry_count then data
        else data || jsonb_build_object('deaths', jsonb_build_object('attempt', retry_count, 'thirds',
          coalesce((data #>> '{deaths,thirds}')::integer, 0)
            + case when heartbeat_on - started_on < interval '${earlySeconds} seconds' then 1 else 3 end)) end as data
    from pgboss.job where policy = 'exclusive' and state = 'active' and ${isDead} for update
  ), counted as (
    select name, id, data, (data #>> '{deaths,thirds}')::integer >= ${3 * maxDeaths} as is_stopped from died
  )
  update pgboss.job j set data = c.data, blocked = is_stopped,
    state = case when is_stopped then 'retry'::pgboss.job_state else j.state end,
    output = case when is_stopped then jsonb_build_object('message', '${stoppedReason}') else j.output end
  from counted c where j.name = c.name and j.id = c.id
  returning j.name, j.singleton_key as key, is_stopped`;

const countExpired = countDeaths(`heartbeat_on + interval '${heartbeatSeconds} seconds' < now()`);

/** Lets a stopped job run again, because someone asked for it. @returns whether there was one. */
export async function restartStoppedJob(tx: Tx, name: JobName, key: string): Promise<boolean> {
  const { rows } = await sql`
    update pgboss.job set blocked = false, start_after = now(), output = null, data = data - 'deaths'
    where name = ${name} and singleton_key = ${key} and policy = 'exclusive' and state < 'active' and blocked
    returning id`.execute(tx);
  return rows.length > 0;
}

/**
 * Returns every job that is marked as running to the queue, as if it had never been taken, and stops those that have
 * ended their process too often. Only for a process that knows it is the only worker, such as the holder of the embedded
 * database at its start: then no job has to wait for a dead worker's heartbeat to expire.
 */
export async function releaseAbandonedJobs(db: Database, queue: JobQueue): Promise<StoppedJob[]> {
  return db.kysely.transaction().execute(async (tx) => {
    const options = { db: fromKysely(tx) };
    const counted = await sql<DeadJob>`${sql.raw(countDeaths("true"))}`.execute(tx);
    // The next attempt has the same number.
    const { rows } = await sql<{
      id: string;
      name: JobName;
      data: object;
      singleton_key: string;
      group_id: string | null;
    }>`
      select id, name, data #- '{deaths,attempt}' as data, singleton_key, group_id from pgboss.job
      where state = 'active' and name = any(${jobNames}::text[])`.execute(tx);
    for (const { id, name, data, singleton_key, group_id } of rows) {
      await queue.boss.deleteJob(name, id, options);
      await queue.boss.send(name, data, {
        ...options,
        singletonKey: singleton_key,
        ...(group_id === null ? {} : { group: { id: group_id } }),
      });
    }
    return stoppedOf(counted.rows);
  });
}

/** Says in the log which jobs were stopped. */
export function logStoppedJobs(log: Pick<FastifyBaseLogger, "error">, stopped: readonly StoppedJob[]): void {
  for (const { name, key } of stopped)
    log.error({ job: name, key }, `job stopped: ${stoppedReason}; see parley jobs list`);
}
