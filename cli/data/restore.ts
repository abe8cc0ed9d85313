import { existsSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { hasDatabase, migrateDatabase, openDatabaseAlone } from "../../server/open.ts";
import { BackupDamagedError } from "../../server/operations/backup/errors.ts";
import { type BackupFolder, openBackupFolder } from "../../server/operations/backup/folder.ts";
import {
  checkRestore,
  type RestoreOptions,
  type RestoreResult,
  restoreBackup,
} from "../../server/operations/backup/restore.ts";
import { type Config, readConfig } from "../../server/platform/config/config.ts";
import { acceptRestore } from "../../server/platform/db/quarantine.ts";
import { openStore } from "../../server/platform/storage/open.ts";
import { counted } from "../../shared/counted.ts";
import { NotConfirmedError } from "../support/errors.ts";
import { incompleteStatus } from "../support/exit-status.ts";
import { type ProgressReport, reportProgress } from "../support/report-progress.ts";
import { readToolConfig, toolLog, withDatabase } from "../support/with-database.ts";

interface Options {
  at?: string;
  dryRun?: boolean;
  replace?: boolean;
  acceptMissingFiles?: boolean;
  yes?: boolean;
  json?: boolean;
}

/** `parley restore DEST` and `parley restore accept`. */
export function restoreCommand(command: Command): Command {
  const accept = new Command("accept")
    .description(
      "end the quarantine of a restored installation: webhooks, mail and deletion by age start again",
    )
    .action(async () => {
      const accepted = await withDatabase(acceptRestore);
      console.error(
        accepted === null
          ? "the installation is not quarantined"
          : `the restored backup ${accepted} is accepted; webhooks, mail and deletion by age start within a minute`,
      );
    });
  return command
    .argument("<destination>", "the folder or s3://bucket/prefix with the backups")
    .option("--at <id>", "the backup to restore instead of the newest")
    .option("--dry-run", "read every file of the backup, check the target, and change nothing")
    .option("--replace", "delete the contents of the database and the file store; requires --yes")
    .option(
      "--accept-missing-files",
      "restore everything else if files of recordings are missing or damaged in the backup",
    )
    .option("--yes", "confirm --replace")
    .option("--json", "print progress and result as lines of JSON")
    .action(restore)
    .addCommand(accept);
}

async function restore(destination: string, options: Options): Promise<void> {
  if (options.replace && !options.yes && !options.dryRun)
    throw new NotConfirmedError(
      "--replace deletes the installation in the configured database and file store; to confirm, add --yes",
    );
  const config = options.dryRun ? readConfig(process.env, process.cwd()) : readToolConfig();
  const folder = await openBackupFolder(destination, config, "read");
  const report = reportProgress(options);
  const restoreOptions: RestoreOptions = {
    id: options.at ?? null,
    replace: options.replace ?? false,
    acceptsMissing: options.acceptMissingFiles ?? false,
  };
  try {
    const result = options.dryRun
      ? await dryRun(folder, config, restoreOptions, report.update)
      : await restoreTo(folder, config, restoreOptions, report.update);
    report.done();
    printResult(result, options);
  } finally {
    report.done();
    await folder.close();
  }
}

type OnProgress = ProgressReport["update"];

async function restoreTo(
  folder: BackupFolder,
  config: Config,
  options: RestoreOptions,
  onProgress: OnProgress,
): Promise<RestoreResult> {
  const log = toolLog();
  const database = await openDatabaseAlone(config, log);
  try {
    const { db, settings } = database;
    const store = await openStore(config, config.storage, { mayBlock: true });
    const target = { db, settings, store, config, migrate: () => migrateDatabase(database, log) };
    let hasBegun = false;
    const noteBegin: OnProgress = (progress) => {
      hasBegun = true;
      onProgress(progress);
    };
    try {
      return await restoreBackup(folder, target, options, noteBegin);
    } catch (error) {
      if (hasBegun && !(error instanceof BackupDamagedError))
        console.error(
          "parley: the restore has not finished; run the same command again to continue. The restore of another backup begins again",
        );
      throw error;
    } finally {
      await store.close();
    }
  } finally {
    await database.close();
  }
}

/** Creates nothing: a database or folder that is missing would be empty. */
async function dryRun(
  folder: BackupFolder,
  config: Config,
  options: RestoreOptions,
  onProgress: OnProgress,
): Promise<RestoreResult> {
  const database = hasDatabase(config) ? await openDatabaseAlone(config, toolLog()) : null;
  try {
    const isMissing = config.storage === "local" && !existsSync(join(config.dataDir, "objects"));
    const store = isMissing ? null : await openStore(config);
    const target = { settings: database?.settings ?? null, store, config };
    return await checkRestore(folder, target, options, onProgress).finally(() => store?.close());
  } finally {
    await database?.close();
  }
}

function printResult({ manifest, files, lost, listedIn }: RestoreResult, options: Options): void {
  const { id, parley } = manifest;
  if (options.json) process.stdout.write(`${JSON.stringify({ phase: "done", id, missing: lost })}\n`);
  console.error(
    options.dryRun
      ? `read the backup ${id} (Parley ${parley}): its database and ${lost.length === 0 ? `all ${files}` : files} files are as they were written, and it can be restored here; \`parley backup verify\` also restores the database into a temporary one`
      : `restored the backup ${id} with ${counted(files, "file")}. The installation is quarantined: no webhooks, no mail, no deletion by age. Start it, look at it, and run \`parley restore accept\``,
  );
  if (lost.length === 0) return;
  for (const { problem } of lost) console.error(`parley: ${problem}`);
  console.error(
    `parley: ${counted(lost.length, "file")} ${options.dryRun ? "would be missing or damaged after the restore" : "missing or damaged in the restored installation"}${listedIn === null ? "" : `; the list is in ${listedIn}`}`,
  );
  process.exitCode = incompleteStatus;
}
