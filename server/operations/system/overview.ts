import type { z } from "zod";
import type { System } from "../../../contract/system.ts";
import { type FolderOverview, readWatchedFolders } from "../../connections/watched-folders/overview.ts";
import { findActivity, type HookActivity } from "../../connections/webhooks/management/log-queries.ts";
import { describeStatus } from "../../connections/webhooks/transport/response.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Database } from "../../platform/db/database.ts";
import { readQuarantine } from "../../platform/db/quarantine.ts";
import type { JobQueue } from "../../platform/jobs/queue.ts";
import type { I18n } from "../../platform/language/i18n.ts";
import type { ObjectStore } from "../../platform/storage/store.ts";
import { version } from "../../platform/version.ts";
import { type BackupState, nextDueTime, readBackupState } from "../backup/schedule.ts";
import { readChecklist } from "./checklist.ts";
import { findFailedUploads } from "./failed-uploads.ts";
import { readHealth } from "./health/read-health.ts";
import { countJobs, type FailedJobRow, findFailedJobs, summarizeFailures } from "./jobs/queries.ts";
import { jobId } from "./jobs/repair.ts";
import { findProcesses, type ProcessRow } from "./processes.ts";
import { readRotationProgress } from "./secrets/status.ts";
import { watchedNow } from "./watched-files.ts";

/** Failing hooks listed at most. */
const maxHooks = 50;

export type SystemState = z.input<typeof System>;

/** Collects the state of the installation, for the System page and `parley status`. @param i18n for the names of jobs. */
export async function readSystem(
  deps: {
    readonly db: Database;
    readonly jobs: JobQueue;
    readonly store: ObjectStore;
    readonly config: Config;
  },
  i18n: I18n,
): Promise<SystemState> {
  const { db, config } = deps;
  const kinds = deps.jobs.kinds;
  const enqueued = [...kinds.values()].filter(({ isRecurring }) => !isRecurring).map(({ name }) => name);
  const [failedJobs, failures, jobs, processes, backups, hooks, quarantine, failedUploads] =
    await Promise.all([
      findFailedJobs(db.kysely),
      summarizeFailures(db.kysely),
      countJobs(db.kysely, enqueued),
      findProcesses(db),
      readBackupState(db),
      readFailingHooks(db),
      readQuarantine(db),
      findFailedUploads(db.kysely),
    ]);
  const components = await readHealth(deps, { failures, processes, backups });
  return {
    version,
    healthy: components.every(({ state }) => state !== "failing"),
    quarantine: quarantine && { backup: quarantine.backup, since: quarantine.since.toISOString() },
    checklist: await readChecklist(db, config, { components, backups }),
    components,
    secret_rotation: await readRotationProgress(db.kysely),
    jobs: jobs.map(({ oldest_at, ...counts }) => ({
      ...counts,
      label: labelOf(kinds, counts.kind, i18n),
      oldest_datetime: toText(oldest_at),
    })),
    failed_jobs: failedJobs.map((row) => presentFailedJob(kinds, row, i18n)),
    failed_uploads: failedUploads,
    failing_hooks: hooks.listed,
    failing_hook_count: hooks.count,
    backups: presentBackups(config, backups),
    watched_folders: await readFolders(db, watchedNow(config, processes)),
    processes: processes.map(presentProcess),
  };
}

/** A failed job as the API and `parley jobs list` show it. */
export function presentFailedJob(
  kinds: JobQueue["kinds"],
  row: FailedJobRow,
  i18n: I18n,
): SystemState["failed_jobs"][number] {
  const kind = kinds.get(row.kind);
  const discard = kind === undefined || typeof kind.discard === "string" ? null : kind.discard;
  return {
    id: jobId(row),
    kind: row.kind,
    label: labelOf(kinds, row.kind, i18n),
    subject_type: kind?.subject ?? "installation",
    subject_id: row.key === "" ? null : row.key,
    workspace:
      row.workspace_id === null || row.workspace_name === null
        ? null
        : { id: row.workspace_id, name: row.workspace_name },
    attempts: row.attempts,
    error: row.error,
    next_attempt_datetime: toText(row.next_at),
    discard_effect: discard?.lost(i18n) ?? null,
    can_discard: discard !== null && (row.is_queued || row.next_at !== null),
  };
}

/** A kind that only another version of Parley has is named by its jobs. */
function labelOf(kinds: JobQueue["kinds"], name: string, i18n: I18n): string {
  return kinds.get(name)?.label(i18n) ?? name.replaceAll("_", " ");
}

function presentProcess(row: ProcessRow): SystemState["processes"][number] {
  return {
    id: row.id,
    role: row.role,
    host: row.host,
    pid: row.pid,
    version: row.version,
    started_datetime: row.started_at.toISOString(),
    heartbeat_datetime: row.heartbeat_at.toISOString(),
    responding: row.is_responding,
  };
}

/** The watched folders with their failed files. @param watched those that are watched now. */
export async function readFolders(
  db: Database,
  watched: ReadonlySet<string>,
  maxFailed?: number,
): Promise<SystemState["watched_folders"]> {
  const folders = await readWatchedFolders(db, [...watched], maxFailed);
  return folders.map((folder) => presentFolder(folder, watched.has(folder.folder)));
}

function presentFolder(
  { scanned_at, failed_files, ...folder }: FolderOverview,
  isWatched: boolean,
): SystemState["watched_folders"][number] {
  return {
    ...folder,
    watched: isWatched,
    last_scan_datetime: toText(scanned_at),
    failed_files: failed_files.map(({ failed_at, workspace_id: id, workspace_name: name, ...file }) => ({
      ...file,
      workspace: { id, name },
      failed_datetime: failed_at.toISOString(),
    })),
  };
}

function presentBackups({ backup }: Config, state: BackupState): SystemState["backups"] {
  const { destination, atMinute } = backup;
  return {
    destination,
    last_datetime: toText(state.lastSucceeded),
    next_datetime: destination === null ? null : nextDueTime(new Date(), atMinute).toISOString(),
    last_verified_datetime: toText(state.lastVerified),
    overdue: destination !== null && state.isOverdue,
    last_error: state.lastError,
    missing_files: state.missingFiles,
  };
}

interface FailingHookRow {
  readonly id: string;
  readonly hook_url: string;
  readonly hook_type: string;
  readonly failing_since: Date;
  readonly is_disabled: boolean;
  readonly workspace_id: string;
  readonly workspace_name: string;
  readonly count: number;
}

/**
 * Hooks whose last attempt failed. Only the host of their URLs, and no words of the response: the rest may be a secret of
 * their workspace.
 */
async function readFailingHooks({
  pool,
}: Database): Promise<{ count: number; listed: SystemState["failing_hooks"] }> {
  const { rows } = await pool.query<FailingHookRow>(
    `select h.id, h.hook_url, h.hook_type, h.failing_since, h.disabled_at is not null as is_disabled, w.id as workspace_id,
       w.name as workspace_name, (count(*) over ())::integer as count
     from hooks h join workspaces w on w.id = h.workspace_id
     where h.failing_since is not null order by h.failing_since, h.id limit ${maxHooks}`,
  );
  const activity = await findActivity(
    pool,
    rows.map(({ id }) => id),
  );
  return {
    count: rows[0]?.count ?? 0,
    listed: rows.map((row) => ({
      id: row.id,
      workspace: { id: row.workspace_id, name: row.workspace_name },
      host: new URL(row.hook_url).host,
      hook_type: row.hook_type,
      failing_since: row.failing_since.toISOString(),
      disabled: row.is_disabled,
      pending: activity.get(row.id)?.pending ?? 0,
      last_error: describeAttempt(activity.get(row.id)),
    })),
  };
}

/** A redirect's target is in the error of its attempt, which only the hook's workspace may see. */
function describeAttempt(activity: HookActivity | undefined): string | null {
  if (activity === undefined || activity.status === null) return activity?.error ?? null;
  return describeStatus(activity.status, null);
}

function toText(at: Date | null): string | null {
  return at?.toISOString() ?? null;
}
