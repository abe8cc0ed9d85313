import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { FastifyBaseLogger } from "fastify";
import { enqueueMail } from "../accounts/one-time-links/mailer.ts";
import type { Config } from "../platform/config/config.ts";
import type { Encryptor } from "../platform/crypto/encryptor.ts";
import { isBackupRunning } from "../platform/db/backup-lock.ts";
import type { Database } from "../platform/db/database.ts";
import type { JobQueue } from "../platform/jobs/queue.ts";

const [hourMs, dayMs] = [3_600_000, 86_400_000];

/** When to try again after a failure. */
const retryAfterMs = hourMs;

/** A backup older than this is overdue. */
const overdueAfterMs = 2 * dayMs;

/** How long an email about a failure is worth sending. */
const mailValidMs = dayMs;

/** Admins who get it at most. */
const maxRecipients = 20;

/** The last time at or before now at which a backup is due, in the time zone of this process. */
export function lastDueTime(now: Date, atMinute: number): Date {
  const due = new Date(now);
  due.setHours(0, atMinute, 0, 0);
  if (due > now) due.setDate(due.getDate() - 1);
  return due;
}

/** The next time after now at which one is due. */
export function nextDueTime(now: Date, atMinute: number): Date {
  const due = lastDueTime(now, atMinute);
  due.setDate(due.getDate() + 1);
  return due;
}

interface ScheduleDependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly encryptor: Encryptor;
  readonly config: Config;
  readonly log: FastifyBaseLogger;
}

/** Backups by schedule, in a worker. */
export interface BackupSchedule {
  /** Starts the backup that is due, if any. Runs it in a process of its own, at low priority. */
  check(): Promise<void>;
  /** Ends a running backup; the next one uses what it copied. */
  stop(): Promise<void>;
}

/** Several workers may check at the same time: the lock of backups lets one run. */
export function createBackupSchedule(deps: ScheduleDependencies): BackupSchedule {
  const { db, config, log } = deps;
  let running: { readonly done: Promise<void>; kill(): void } | null = null;
  let isStopping = false;
  let warnedAt = Number.NEGATIVE_INFINITY;
  let retryAt = Number.NEGATIVE_INFINITY;

  async function warnIfOverdue(): Promise<void> {
    if (performance.now() - warnedAt < hourMs) return;
    const state = await readBackupState(db);
    if (!state.isOverdue) return;
    warnedAt = performance.now();
    log.error(
      { lastBackup: state.lastSucceeded?.toISOString() ?? null, error: state.lastError },
      "backups are overdue: none has succeeded for two days; see `parley backup` and PARLEY_BACKUP_TO",
    );
  }

  return {
    async check() {
      if (config.backup.destination === null || running !== null || isStopping) return;
      if (performance.now() < retryAt) return;
      const due = lastDueTime(new Date(), config.backup.atMinute);
      if (await shouldStart(db, due)) {
        const child = runCommand(due, log);
        running = {
          kill: child.kill,
          done: child.done
            .then(async (error) => {
              if (error === null || isStopping) return;
              retryAt = performance.now() + retryAfterMs;
              await reportFailure(deps, due, error);
            })
            .catch((error: Error) => log.error({ err: error }, "could not report a failed backup"))
            .finally(() => {
              running = null;
            }),
        };
      }
      await warnIfOverdue();
    },
    async stop() {
      isStopping = true;
      running?.kill();
      await running?.done;
    },
  };
}

async function shouldStart(db: Database, due: Date): Promise<boolean> {
  const { rows } = await db.pool.query<{ state: string; started_at: Date }>(
    "select state, started_at from backup_runs where kind = 'backup' and scheduled_for = $1",
    [due],
  );
  const [run] = rows;
  if (run?.state === "succeeded" || (await isBackupRunning(db.pool))) return false;
  if (run === undefined) return true;
  return run.state === "running" || Date.now() - run.started_at.getTime() > retryAfterMs;
}

const command = fileURLToPath(new URL("../../cli/main.ts", import.meta.url));

/** @returns why it failed; null: it succeeded. */
function runCommand(due: Date, log: FastifyBaseLogger): { done: Promise<string | null>; kill(): void } {
  log.info({ due: due.toISOString() }, "starting the scheduled backup");
  const child = spawn(
    "nice",
    ["-n", "10", process.execPath, command, "backup", "scheduled", due.toISOString()],
    {
      stdio: ["ignore", "ignore", "pipe"],
    },
  );
  let output = "";
  child.stderr.on("data", (chunk: Buffer) => {
    output = `${output}${chunk}`.slice(-2000);
  });
  const { promise: done, resolve } = Promise.withResolvers<string | null>();
  child.once("error", (error) => resolve(error.message));
  child.once("close", (code, signal) => {
    if (code === 0) log.info({ due: due.toISOString() }, "the scheduled backup has finished");
    resolve(code === 0 ? null : output.trim() || `it ended with ${signal ?? `exit code ${code}`}`);
  });
  return { done, kill: () => void child.kill("SIGTERM") };
}

/** In the log each time; by mail to the admins once a day. */
async function reportFailure(
  { db, jobs, encryptor, config, log }: ScheduleDependencies,
  due: Date,
  error: string,
): Promise<void> {
  log.error({ due: due.toISOString(), error }, "the scheduled backup failed; it is tried again in an hour");
  if (config.smtp === null) return;
  const { rows: claimed } = await db.pool.query(
    `update installation set backup_failure_mailed_at = now()
     where backup_failure_mailed_at is null or backup_failure_mailed_at < now() - interval '23 hours' returning 1`,
  );
  if (claimed.length === 0) return;
  const admins = await db.kysely
    .selectFrom("users")
    .select("email")
    .where("role", "=", "admin")
    .where("deactivated_at", "is", null)
    .where("invited_at", "is", null)
    .orderBy("created_at")
    .limit(maxRecipients)
    .execute();
  await db.kysely.transaction().execute(async (tx) => {
    for (const { email } of admins)
      await enqueueMail(
        tx,
        { jobs, encryptor },
        {
          to: email,
          subject: "Parley: the backup failed",
          text: `The backup of ${config.baseUrl} that was due at ${due.toISOString()} failed:\n\n${error}\n\nIt is tried again every hour. The server's log has the details.\n`,
          expiresAtMs: Date.now() + mailValidMs,
        },
      );
  });
  jobs.wake();
}

/** How backups are doing, for the log, metrics and the System page. */
export interface BackupState {
  readonly lastSucceeded: Date | null;
  readonly lastVerified: Date | null;
  /** Why the last run failed; null: it did not. */
  readonly lastError: string | null;
  /** No backup has succeeded for two days, although the installation is older. */
  readonly isOverdue: boolean;
}

/** Reads it from the runs in the database. */
export async function readBackupState({ pool }: Pick<Database, "pool">): Promise<BackupState> {
  const { rows } = await pool.query<{
    succeeded: Date | null;
    verified: Date | null;
    error: string | null;
    installed: Date | null;
  }>({
    name: "backup_state",
    text: `select
        (select max(finished_at) from backup_runs where kind = 'backup' and state = 'succeeded') as succeeded,
        (select max(finished_at) from backup_runs where kind = 'verify' and state = 'succeeded') as verified,
        (select case when state = 'failed' then error end from backup_runs order by started_at desc limit 1) as error,
        (select min(applied_at) from schema_migrations) as installed`,
  });
  const [row] = rows;
  const since = row?.succeeded ?? row?.installed ?? new Date();
  return {
    lastSucceeded: row?.succeeded ?? null,
    lastVerified: row?.verified ?? null,
    lastError: row?.error ?? null,
    isOverdue: Date.now() - since.getTime() > overdueAfterMs,
  };
}
