import type { FastifyBaseLogger } from "fastify";
import { createBackup, type Source, withBackupLock } from "./create.ts";
import { BackupDamagedError } from "./errors.ts";
import { openBackupFolder } from "./folder.ts";
import { pruneBackups } from "./prune.ts";
import { finishRun, startRun } from "./runs.ts";
import { connectForCopy } from "./snapshot.ts";
import { verifyBackup } from "./verify.ts";

/** How often a backup is verified. */
const verifyEvery = "6 days 12 hours";

/** What a worker's process runs at the time: a backup, the removal of old ones, and once a week a verification. */
export async function runScheduledBackup(
  source: Source,
  destination: string,
  scheduledFor: Date,
  log: FastifyBaseLogger,
): Promise<void> {
  const folder = await openBackupFolder(destination, source.config, "write");
  try {
    const { manifest: written } = await createBackup(source, folder, () => {}, scheduledFor);
    if (written.damaged.length > 0)
      log.error(
        { count: written.damaged.length, first: written.damaged[0] },
        "files were missing or damaged when they were backed up; see `parley files verify`",
      );
    await withBackupLock(source.settings, () => pruneBackups(folder, source.config.backup.keep));
    const { rows } = await source.db.pool.query(
      `select 1 from backup_runs where kind = 'verify' and state = 'succeeded'
         and started_at > now() - interval '${verifyEvery}' limit 1`,
    );
    if (rows.length > 0) return;
    const client = await connectForCopy(source.settings);
    try {
      const run = await startRun(client, { kind: "verify", destination, scheduledFor });
      const { manifest, problems } = await verifyBackup(folder, null, source.config.dataDir, log);
      if (problems.length === 0) return await finishRun(client, run, { backupId: manifest.id });
      const error = new BackupDamagedError(`the backup ${manifest.id} is damaged: ${problems.join("; ")}`);
      await finishRun(client, run, { error });
      throw error;
    } finally {
      await client.end();
    }
  } finally {
    await folder.close();
  }
}
