import type { FastifyBaseLogger } from "fastify";
import { describeDamage } from "./check.ts";
import { BackupRunningError, describeResult, type Source, withBackupLock, writeBackup } from "./create.ts";
import { BackupDamagedError } from "./errors.ts";
import { type BackupFolder, openBackupFolder } from "./folder.ts";
import { pruneBackups } from "./prune.ts";
import { recordRun } from "./runs.ts";
import { connectForCopy } from "./snapshot.ts";
import { verifyBackup } from "./verify.ts";

/** How often a backup is verified. */
const verifyEvery = "6 days 12 hours";

/** A backup that a worker's process runs. */
interface ScheduledRun {
  readonly destination: string;
  readonly scheduledFor: Date;
}

/**
 * What a worker's process runs at the time: a backup, the removal of old ones, and once a week a verification. Does nothing
 * while another backup runs: the worker checks again a minute later.
 */
export async function runScheduledBackup(
  source: Source,
  run: ScheduledRun,
  log: FastifyBaseLogger,
): Promise<void> {
  const opened: BackupFolder[] = [];
  const open = async (): Promise<BackupFolder> => {
    const folder = await openBackupFolder(run.destination, source.config, "write");
    opened.push(folder);
    return folder;
  };
  try {
    const { folder, unpruned } = await backUpAndPrune(source, run, open, log);
    // Old backups that can't be removed must not keep the new one from being verified.
    await verifyIfDue(source, run, folder, log).catch((error: Error) => {
      throw unpruned === null ? error : new Error(`${error.message}; ${unpruned.message}`);
    });
    if (unpruned !== null) throw unpruned;
  } catch (error) {
    if (!(error instanceof BackupRunningError)) throw error;
  } finally {
    for (const folder of opened) await folder.close();
  }
}

/** @returns with the error if old backups could not be removed. */
function backUpAndPrune(
  source: Source,
  run: ScheduledRun,
  open: () => Promise<BackupFolder>,
  log: FastifyBaseLogger,
): Promise<{ readonly folder: BackupFolder; readonly unpruned: Error | null }> {
  return withBackupLock(source.settings, async (lock) => {
    // Recorded before the folder is opened: a folder that can't be opened is a failed backup, too.
    const { folder, result } = await recordRun(
      lock,
      { kind: "backup", ...run },
      async () => {
        const folder = await open();
        return { folder, result: await writeBackup(source, folder, lock) };
      },
      ({ result }) => describeResult(result),
    );
    const { damaged } = result.manifest;
    if (damaged.length > 0)
      log.error(
        { count: damaged.length, first: damaged[0] },
        "files were missing or damaged when they were backed up; see `parley files verify`",
      );
    const unpruned = await pruneBackups(folder, source.config.backup).then(
      () => null,
      (error: Error) => error,
    );
    return { folder, unpruned };
  });
}

async function verifyIfDue(
  { db, settings, config }: Source,
  run: ScheduledRun,
  folder: BackupFolder,
  log: FastifyBaseLogger,
): Promise<void> {
  const { rows } = await db.pool.query<{ is_recent: boolean }>(
    `select state = 'succeeded' and started_at > now() - interval '${verifyEvery}' as is_recent
     from backup_runs where kind = 'verify' and state <> 'running' order by started_at desc limit 1`,
  );
  if (rows[0]?.is_recent) return;
  const client = await connectForCopy(settings);
  try {
    await recordRun(
      client,
      { kind: "verify", ...run },
      async () => {
        const result = await verifyBackup(folder, null, config.dataDir, log);
        if (result.problems.length > 0) throw new BackupDamagedError(describeDamage(result));
        return result.manifest;
      },
      ({ id }) => ({ backupId: id }),
    );
  } finally {
    await client.end();
  }
}
