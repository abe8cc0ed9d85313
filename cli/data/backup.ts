import { Command, InvalidArgumentError } from "commander";
import { hasDatabase, openConfiguredDatabase } from "../../server/open.ts";
import { describeDamage } from "../../server/operations/backup/check.ts";
import { createBackup, readInstallationId, withBackupLock } from "../../server/operations/backup/create.ts";
import { BackupDamagedError, BackupError } from "../../server/operations/backup/errors.ts";
import {
  type BackupFolder,
  isSameDestination,
  openBackupFolder,
} from "../../server/operations/backup/folder.ts";
import {
  claimFolder,
  findBackup,
  listBackups,
  readManifest,
  readOwner,
  tableBytesOf,
} from "../../server/operations/backup/manifest.ts";
import { pruneBackups } from "../../server/operations/backup/prune.ts";
import { recordVerification, type Verification } from "../../server/operations/backup/runs.ts";
import { runScheduledBackup } from "../../server/operations/backup/scheduled-run.ts";
import { verifyBackup } from "../../server/operations/backup/verify.ts";
import { refuseMoved } from "../../server/operations/move/moved.ts";
import { type Config, ConfigError } from "../../server/platform/config/config.ts";
import { type KeepRule, keepRule } from "../../server/platform/config/values.ts";
import { readSchema } from "../../server/platform/db/migrate.ts";
import { counted } from "../../shared/counted.ts";
import { describeBytes } from "../support/describe-bytes.ts";
import { describe } from "../support/describe-error.ts";
import { incompleteStatus } from "../support/exit-status.ts";
import { reportProgress } from "../support/report-progress.ts";
import { readToolConfig, toolLog, withOpenDatabase } from "../support/with-database.ts";
import { readWholeConfig, withStore } from "../support/with-store.ts";

interface Options {
  json?: boolean;
  at?: string;
}

interface PruneCommandOptions extends Options {
  keep: KeepRule;
  removeDamaged?: boolean;
}

const destinationHelp = "a folder, or s3://bucket/prefix (endpoint and credentials as for files in S3)";

/** `parley backup DEST` and its subcommands. */
export function backupCommand(command: Command): Command {
  const list = new Command("list")
    .description("list the backups of a folder or bucket")
    .argument("<destination>", destinationHelp)
    .option("--json", "print a line of JSON for each backup")
    .action((destination: string, options: Options) =>
      withFolder(destination, "read", (folder) => listAll(folder, options)),
    );
  const verify = new Command("verify")
    .description(
      "prove that a backup can be restored: read every file, restore the database into a temporary one",
    )
    .argument("<destination>", destinationHelp)
    .option("--at <id>", "the backup to verify instead of the newest")
    .option("--json", "print progress and result as lines of JSON")
    .action((destination: string, options: Options) =>
      withFolder(destination, "read", (folder, config) => verifyOne(folder, config, options)),
    );
  const prune = new Command("prune")
    .description("remove old backups and the files that only they need")
    .argument("<destination>", destinationHelp)
    .requiredOption(
      "--keep <rule>",
      "how many days, weeks and months to keep, such as 7d,4w,12m",
      readKeepRule,
    )
    .option(
      "--remove-damaged",
      "also remove backups whose manifest or list of files is damaged, which can't be restored",
    )
    .option("--json", "print the result as JSON")
    .action((destination: string, options: PruneCommandOptions) =>
      withFolder(destination, "read", (folder, config) => pruneOld(folder, config, options)),
    );
  const scheduled = new Command("scheduled")
    .description("what a worker runs at PARLEY_BACKUP_AT: back up, prune, and verify once a week")
    .argument("<time>", "the time it is due, in ISO 8601")
    .action((time: string) => runScheduled(new Date(time)));
  return (
    command
      .argument("<destination>", destinationHelp)
      .option("--json", "print progress and result as lines of JSON")
      .action((destination: string, options: Options) =>
        withFolder(destination, "write", (folder, config) => backUp(folder, config, options)),
      )
      // Otherwise it would take the options of its subcommands for its own.
      .enablePositionalOptions()
      .addCommand(list)
      .addCommand(verify)
      .addCommand(prune)
      .addCommand(scheduled, { hidden: true })
  );
}

async function withFolder(
  destination: string,
  purpose: "read" | "write",
  work: (folder: BackupFolder, config: Config) => Promise<void>,
): Promise<void> {
  const given = readToolConfig();
  // Backups of the installation are encrypted with its passphrase; others may be read where there is none.
  const config =
    purpose === "write"
      ? await withStore(async (_db, _store, all) => all, given)
      : await readWholeConfig(given);
  const folder = await openBackupFolder(destination, config, purpose);
  try {
    await work(folder, config);
  } finally {
    await folder.close();
  }
}

async function backUp(folder: BackupFolder, config: Config, options: Options): Promise<void> {
  const report = reportProgress(options);
  const { manifest, bytes, copiedBytes } = await withStore(
    (db, store, _config, settings) => createBackup({ db, store, settings, config }, folder, report.update),
    config,
  ).finally(report.done);
  const result = {
    id: manifest.id,
    bytes,
    copied_bytes: copiedBytes,
    files: manifest.objects.count,
    damaged: manifest.damaged,
  };
  if (options.json) printLine({ phase: "done", ...result });
  else {
    process.stdout.write(`${manifest.id}\n`);
    console.error(
      `backed up ${counted(manifest.objects.count, "file")} and the database, ${describeBytes(bytes)}; ${describeBytes(copiedBytes)} of it is new`,
    );
  }
  reportMissing(manifest.damaged, "is missing or damaged in the file store; see `parley files verify`");
  if (!folder.isEncrypted && !options.json)
    console.error(
      "the backup is not encrypted and contains the secret; keep it where nobody else can read it",
    );
}

/** Lists the files that a backup lacks, which makes it incomplete. */
function reportMissing(keys: readonly string[], problem: string): void {
  for (const key of keys) console.error(`parley: ${key} ${problem}`);
  if (keys.length > 0) process.exitCode = incompleteStatus;
}

/** @throws BackupDamagedError that names every damaged manifest, after the others are listed. */
async function listAll(folder: BackupFolder, options: Options): Promise<void> {
  const { complete } = await listBackups(folder);
  const damaged: string[] = [];
  for (const backup of complete) {
    const manifest = await readManifest(folder, backup).catch((error: unknown) => {
      if (!(error instanceof BackupDamagedError || error instanceof BackupError)) throw error;
      damaged.push(error.message);
      return null;
    });
    if (manifest === null) continue;
    const bytes = manifest.objects.bytes + tableBytesOf(manifest);
    if (options.json)
      printLine({
        id: backup.id,
        created_at: manifest.created_at,
        parley: manifest.parley,
        files: manifest.objects.count,
        bytes,
        damaged: manifest.damaged.length,
      });
    else
      process.stdout.write(
        `${backup.id}  Parley ${manifest.parley}  ${counted(manifest.objects.count, "file")}  ${describeBytes(bytes)}\n`,
      );
  }
  if (complete.length === 0) console.error(`there is no backup at ${folder.destination}`);
  if (damaged.length > 0) throw new BackupDamagedError(damaged.join("; "));
}

/** @throws BackupDamagedError that names every damaged part. */
async function verifyOne(folder: BackupFolder, config: Config, options: Options): Promise<void> {
  const report = reportProgress(options);
  const newest = (await findBackup(folder, null)).id;
  const id = options.at ?? newest;
  const startedAt = performance.now();
  const { verified, error } = await verifyBackup(folder, id, config.dataDir, toolLog(), report.update)
    .then(
      (found) => ({
        verified: found,
        error: found.problems.length > 0 ? new BackupDamagedError(describeDamage(found)) : null,
      }),
      (reason: Error) => ({ verified: null, error: reason }),
    )
    .finally(report.done);
  const { destination } = config.backup;
  if (destination !== null && id === newest && isSameDestination(destination, folder.destination))
    await recordResult(folder, config, {
      destination,
      backupId: id,
      durationMs: performance.now() - startedAt,
      error: error?.message ?? null,
    }).catch((reason: Error) =>
      console.error(`parley: the page System does not have the result: ${describe(reason)}`),
    );
  if (options.json && verified !== null)
    printLine({ phase: "done", id, problems: verified.problems, damaged: verified.manifest.damaged });
  if (verified === null || error !== null) throw error;
  const { manifest } = verified;
  console.error(
    `the backup ${manifest.id} is intact: ${counted(manifest.objects.count, "file")}, ${counted(manifest.tables.length, "table")}, restored and compared`,
  );
  reportMissing(manifest.damaged, "was missing or damaged in the file store when the backup was made");
}

/**
 * The result for the newest scheduled backup counts like that of the weekly verification, in status and metrics too.
 * @throws an error if the configured database is not the one of this backup's installation.
 */
async function recordResult(
  folder: BackupFolder,
  config: Config,
  result: Omit<Verification, "installation">,
): Promise<void> {
  // Backups are also verified where there is no installation: it must not be created.
  if (!hasDatabase(config)) throw new BackupError(`there is no database in ${config.dataDir}`);
  const opened = await openConfiguredDatabase(config, "tool", toolLog());
  try {
    const { isEmpty, missing } = await readSchema(opened.settings);
    if (isEmpty) throw new BackupError("the database is empty");
    if (missing.length > 0) throw new BackupError("the database is from an older version");
    await refuseMoved(opened.db.pool);
    const installation = await readOwner(folder);
    if (!(await recordVerification(opened.db.pool, { ...result, installation })))
      throw new BackupError("the database is of another installation");
  } finally {
    await opened.close();
  }
}

async function pruneOld(folder: BackupFolder, config: Config, options: PruneCommandOptions): Promise<void> {
  const { kept, removed, objects } = await withOpenDatabase(config, ({ settings }) =>
    withBackupLock(settings, async (lock) => {
      await claimFolder(folder, await readInstallationId(lock));
      return pruneBackups(folder, {
        keep: options.keep,
        removesDamaged: options.removeDamaged ?? false,
      });
    }),
  );
  if (options.json) printLine({ kept, removed, files: objects });
  else
    console.error(
      `kept ${counted(kept.length, "backup")}; removed ${counted(removed.length, "backup")} and ${counted(objects, "file")} that no other backup needs`,
    );
}

async function runScheduled(time: Date): Promise<void> {
  await withStore(async (db, store, config, settings) => {
    const { destination } = config.backup;
    if (destination === null) throw new ConfigError("PARLEY_BACKUP_TO is not set");
    await runScheduledBackup({ db, store, settings, config }, { destination, scheduledFor: time }, toolLog());
  });
}

function readKeepRule(text: string): KeepRule {
  const result = keepRule.safeParse(text);
  if (result.success) return result.data;
  throw new InvalidArgumentError(result.error.issues[0]?.message ?? "is not valid");
}

function printLine(value: object): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}
