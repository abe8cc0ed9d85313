import { sql } from "kysely";
import type pg from "pg";
import { type Db, fromKysely, PgBoss } from "pg-boss";
import type { Database, Tx } from "../db/database.ts";

/** Every kind of job with its data. */
export interface JobData {
  promote_upload: { readonly uploadId: string };
  judge_upload: { readonly uploadId: string };
  promote_media: { readonly uploadId: string };
  finish_upload: { readonly uploadId: string };
  transcribe_recording: { readonly recordingId: string };
  fetch_import: { readonly uploadId: string };
  understand_recording: { readonly recordingId: string };
  /** Mail as JSON, encrypted: it may hold a link that signs a person in. */
  send_mail: { readonly sealed: string };
  request_password_reset: { readonly email: string; readonly ip: string; readonly userAgent: string };
  erase_person: { readonly erasureId: string };
  render_clip: { readonly clipId: string };
}
export type JobName = keyof JobData;
export const jobNames: readonly JobName[] = [
  "promote_upload",
  "judge_upload",
  "promote_media",
  "finish_upload",
  "transcribe_recording",
  "fetch_import",
  "understand_recording",
  "send_mail",
  "request_password_reset",
  "erase_person",
  "render_clip",
];

/** Where jobs are put in and taken out. */
export interface JobQueue {
  /**
   * Puts a job in with the transaction: it exists exactly when the transaction commits.
   * @param key at most one job with this key waits or runs.
   */
  enqueue<N extends JobName>(tx: Tx, name: N, data: JobData[N], key: string): Promise<void>;
  /** Hints to this process's pump that there is work; called after the commit. Other processes find it by polling. */
  wake(): void;
  /** Told of the hints. */
  onWake(listener: () => void): void;
  readonly boss: PgBoss;
  close(): Promise<void>;
}

/**
 * A worker that is silent for this long is taken for dead and its job given to another. The queue allows no less
 * than 10 s.
 */
export const heartbeatSeconds = 10;

/**
 * Jobs are tried again without end, since nothing acknowledged may be lost; a job that can't ever succeed says so
 * itself by failing its subject.
 */
const retryLimit = 1_000_000;

/**
 * A job that runs for longer is taken to hang, and started anew. Longer than any job may take: a file is rendered for
 * ten hours at most (media/render), and has to be fetched and stored.
 */
export const jobExpirySeconds = 12 * 3600;

const queueOptions = {
  retryLimit,
  retryDelay: 1,
  retryBackoff: true,
  retryDelayMax: 10,
  heartbeatSeconds,
  expireInSeconds: jobExpirySeconds,
  retentionSeconds: 365 * 86_400,
  deleteAfterSeconds: 3600,
} as const;

function bossOptions(pool: pg.Pool) {
  const db: Db = { executeSql: (text, values) => pool.query(text, values as unknown[]) };
  return { db, schema: "pgboss" } as const;
}

/** Makes or upgrades the queue's tables and queues. Safe to run by many processes at once. */
export async function migrateJobs(pool: pg.Pool): Promise<void> {
  const boss = new PgBoss({ ...bossOptions(pool), supervise: false, schedule: false });
  boss.on("error", () => {}); // Errors that matter here are thrown by start and createQueue.
  await boss.start();
  try {
    for (const name of jobNames) {
      await boss.createQueue(name, { policy: "exclusive", ...queueOptions });
      // One that an older version made keeps its options otherwise.
      await boss.updateQueue(name, queueOptions);
    }
  } finally {
    await boss.stop({ graceful: false });
  }
}

/**
 * Opens the queue.
 * @param options.supervise workers look after jobs whose worker died; API processes only put jobs in.
 */
export async function openJobQueue(options: {
  pool: pg.Pool;
  supervise: boolean;
  onError: (error: Error) => void;
}): Promise<JobQueue> {
  const listeners: (() => void)[] = [];
  const boss = new PgBoss({
    ...bossOptions(options.pool),
    migrate: false,
    schedule: false,
    supervise: options.supervise,
    // How fast a dead worker's job is found: at most the heartbeat plus these.
    superviseIntervalSeconds: 2,
    monitorIntervalSeconds: 2,
  });
  boss.on("error", options.onError);
  await boss.start();
  return {
    boss,
    async enqueue(tx, name, data, key) {
      await boss.send(name, data, { singletonKey: key, db: fromKysely(tx) });
    },
    wake() {
      for (const listener of listeners) listener();
    },
    onWake(listener) {
      listeners.push(listener);
    },
    close: () => boss.stop({ graceful: false }),
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

/**
 * Puts every job that is marked as running back into the queue, as if it had never been taken. Only for a process
 * that knows it is the only worker, such as the holder of the embedded database at its start: then nobody has to wait
 * for a dead worker's heartbeat to run out.
 */
export async function releaseAbandonedJobs(db: Database, queue: JobQueue): Promise<void> {
  await db.kysely.transaction().execute(async (tx) => {
    const options = { db: fromKysely(tx) };
    const { rows } = await sql<{ id: string; name: JobName; data: object; singleton_key: string }>`
      select id, name, data, singleton_key from pgboss.job
      where state = 'active' and name = any(${jobNames}::text[])`.execute(tx);
    for (const { id, name, data, singleton_key } of rows) {
      await queue.boss.deleteJob(name, id, options);
      await queue.boss.send(name, data, { ...options, singletonKey: singleton_key });
    }
  });
}
