import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { FastifyBaseLogger } from "fastify";
import { sql } from "kysely";
import { z } from "zod";
import { notify, operators } from "../../people/events/notify.ts";
import type { Config } from "../../platform/config/config.ts";
import { isBackupRunning } from "../../platform/db/backup-lock.ts";
import type { Database } from "../../platform/db/database.ts";
import { defineRecurringJob } from "../../platform/jobs/define.ts";
import type { JobQueue } from "../../platform/jobs/queue.ts";
import { recordFailure } from "./runs.ts";

const [hourMs, dayMs] = [3_600_000, 86_400_000];

/** When to try again after a failure. */
const retryAfterMs = hourMs;

/** A backup older than this is overdue. */
const overdueAfterMs = 2 * dayMs;

/** How often admins are notified of failures at most. */
const notifyEvery = "23 hours";

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
  readonly config: Config;
  readonly log: FastifyBaseLogger;
}

/**
 * Starts the backup that is due, if any, in a process of its own at low priority. A worker that stops ends it; the next one
 * uses what it copied. The runs in the database say what has been done, so that a restart with other settings starts it.
 */
export const runScheduledBackupKind = defineRecurringJob({
  name: "run_scheduled_backup",
  label: (i18n) => i18n.t("Run scheduled backup"),
  every: "sweep",
  timeout: "14 d",
  // A restored copy would write to the place of the original's backups.
  guard: "original",
  isEnabled: ({ backup }) => backup.destination !== null,
  async handler(deps) {
    const { db, config, log, signal } = deps;
    const { destination, atMinute } = config.backup;
    const due = lastDueTime(new Date(), atMinute);
    if (destination === null || !(await shouldStart(db, due))) return;
    const error = await runCommand(due, log, signal);
    signal.throwIfAborted();
    if (error === null) return;
    await recordFailure(db.pool, { destination, scheduledFor: due }, error);
    await reportFailure(deps, due, error);
  },
});

/** Also while a backup runs, which may hang. */
export const warnOfOverdueBackupsKind = defineRecurringJob({
  name: "warn_of_overdue_backups",
  label: (i18n) => i18n.t("Warn of overdue backups"),
  every: "sweep",
  guard: "original",
  schema: z.object({ warnedAt: z.number().optional() }),
  isEnabled: ({ backup }) => backup.destination !== null,
  async handler(deps, { warnedAt = 0 }) {
    if (Date.now() - warnedAt < hourMs) return {};
    const { isOverdue, lastSucceeded, lastError } = await readBackupState(deps.db);
    if (!isOverdue) return {};
    const last = lastSucceeded?.toISOString() ?? null;
    deps.log.error(
      { lastBackup: last, error: lastError },
      "backups are overdue: none has succeeded for two days; see `parley backup` and PARLEY_BACKUP_TO",
    );
    await notifyAdmins(deps, {
      problem: "overdue_backups",
      title: "Backups are overdue",
      text: `No backup of ${deps.config.baseUrl} has succeeded for two days. The last one: ${last ?? "none"}.${lastError === null ? "" : `\n\nThe last error: ${lastError}`}\n\nRun \`parley status\` to see the state of backups, and \`parley backup\` to back up now. The log of the workers has the details.\n`,
    });
    return { state: { warnedAt: Date.now() } };
  },
});

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

const command = fileURLToPath(new URL("../../../cli/main.ts", import.meta.url));

/** @returns why it failed; null: it succeeded. */
function runCommand(due: Date, log: FastifyBaseLogger, signal: AbortSignal): Promise<string | null> {
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
    if (code === 0) log.info({ due: due.toISOString() }, "the process of the scheduled backup has finished");
    const message = output.trim().replace(/^parley: /, "");
    resolve(code === 0 ? null : message || `it ended with ${signal ?? `exit code ${code}`}`);
  });
  const kill = () => void child.kill("SIGTERM");
  signal.addEventListener("abort", kill);
  return done.finally(() => signal.removeEventListener("abort", kill));
}

/** In the log each time; to the operator's admins once a day. */
async function reportFailure(deps: ScheduleDependencies, due: Date, error: string): Promise<void> {
  const { what, next, problem } = await describeFailure(deps.db, due);
  deps.log.error({ due: due.toISOString(), error }, `${what}; ${next}`);
  await notifyAdmins(deps, {
    problem,
    title: `${what.charAt(0).toUpperCase()}${what.slice(1)}`,
    text: `At ${deps.config.baseUrl}, ${what}. It was due at ${due.toISOString()}.\n\n${error}\n\nWhat happens next: ${next}. The log of the workers has the details.\n`,
  });
}

/** Which step of a scheduled backup failed, by what was recorded. */
async function describeFailure(
  { pool }: Database,
  due: Date,
): Promise<{ what: string; next: string; problem: string }> {
  const { rows } = await pool.query<{ kind: string; state: string }>(
    "select kind, state from backup_runs where scheduled_for = $1",
    [due],
  );
  const has = (kind: string, state: string): boolean =>
    rows.some((row) => row.kind === kind && row.state === state);
  if (!has("backup", "succeeded"))
    return {
      what: "the scheduled backup failed",
      next: "it is tried again in an hour",
      problem: "backup",
    };
  if (has("verify", "succeeded") || !rows.some(({ kind }) => kind === "verify"))
    return {
      what: "old backups could not be removed",
      next: "the backup itself is complete, and the next one tries to remove them again",
      problem: "removal_of_backups",
    };
  return {
    what: "the verification of the backup failed",
    next: "the next scheduled backup is verified again; until then, don't rely on this one",
    problem: "verification",
  };
}

/** At most once a day: the admins of the operator's workspace, since errors name what other workspaces must not see. */
async function notifyAdmins(
  { db, jobs, log }: ScheduleDependencies,
  data: Readonly<Record<"problem" | "title" | "text", string>>,
): Promise<void> {
  await db.kysely.transaction().execute(async (tx) => {
    const { numUpdatedRows } = await tx
      .updateTable("installation")
      .set({ backup_failure_mailed_at: sql`now()` })
      .where(
        sql<boolean>`coalesce(backup_failure_mailed_at < now() - interval '${sql.raw(notifyEvery)}', true)`,
      )
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return;
    const { operator_workspace_id: operator } = await tx
      .selectFrom("installation")
      .select("operator_workspace_id")
      .executeTakeFirstOrThrow();
    if (operator === null)
      return log.warn("no one is notified: name a workspace with `parley workspace operator`");
    await notify(tx, {
      kind: "backup_failed",
      key: `backup:${new Date().toISOString()}`,
      to: operators,
      actorId: null,
      data,
    });
  });
  jobs.wake();
}

/** How backups are doing, for the log, metrics and the System page. */
export interface BackupState {
  readonly lastSucceeded: Date | null;
  readonly lastVerified: Date | null;
  /** Why the last backup, or the last verification, failed; null: neither did. */
  readonly lastError: string | null;
  /** How many files the last backup lacks, because they were missing or damaged in the file store. */
  readonly missingFiles: number;
  /** The keys of the first of them. */
  readonly firstMissing: readonly string[];
  /** No backup has succeeded for two days, although the installation is older. */
  readonly isOverdue: boolean;
}

/** Reads it from the runs in the database. */
export async function readBackupState({ pool }: Pick<Database, "pool">): Promise<BackupState> {
  const { rows } = await pool.query<{
    succeeded: Date | null;
    verified: Date | null;
    error: string | null;
    missing: number | null;
    first_missing: readonly string[] | null;
    installed: Date | null;
  }>({
    name: "backup_state",
    text: `select
        (select max(finished_at) from backup_runs where kind = 'backup' and state = 'succeeded') as succeeded,
        (select max(finished_at) from backup_runs where kind = 'verify' and state = 'succeeded') as verified,
        (select error from (
            select distinct on (kind) kind, state, error from backup_runs where state <> 'running'
            order by kind, started_at desc) last
          where state = 'failed' order by kind limit 1) as error,
        last.missing_files as missing, last.first_missing,
        (select min(applied_at) from schema_migrations) as installed
      from (select 1) one left join (
        select missing_files, first_missing from backup_runs where kind = 'backup' and state = 'succeeded'
        order by finished_at desc limit 1) last on true`,
  });
  const [row] = rows;
  const since = row?.succeeded ?? row?.installed ?? new Date();
  return {
    lastSucceeded: row?.succeeded ?? null,
    lastVerified: row?.verified ?? null,
    lastError: row?.error ?? null,
    missingFiles: row?.missing ?? 0,
    firstMissing: row?.first_missing ?? [],
    isOverdue: Date.now() - since.getTime() > overdueAfterMs,
  };
}
