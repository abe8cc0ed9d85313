import { Command } from "commander";
import { openBackupFolder } from "../server/backup/folder.ts";
import { restoreBackup } from "../server/backup/restore.ts";
import { migrateDatabase, openDatabaseAlone } from "../server/open.ts";
import { acceptRestore } from "../server/platform/db/quarantine.ts";
import { openStore } from "../server/platform/storage/open.ts";
import { NotConfirmedError } from "./support/errors.ts";
import { reportProgress } from "./support/report-progress.ts";
import { readToolConfig, toolLog, withDatabase } from "./support/with-database.ts";

interface Options {
  at?: string;
  dryRun?: boolean;
  replace?: boolean;
  yes?: boolean;
  json?: boolean;
}

/** `parley restore DEST` and `parley restore accept`. */
export function restoreCommand(): Command {
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
  return new Command("restore")
    .description("restore a backup into the configured database and file store, which must be empty")
    .argument("<destination>", "the folder or s3://bucket/prefix with the backups")
    .option("--at <id>", "the backup to restore instead of the newest")
    .option("--dry-run", "read every file of the backup, check the target, and change nothing")
    .option("--replace", "delete the contents of the database and the file store; requires --yes")
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
  const config = readToolConfig();
  const log = toolLog();
  const folder = await openBackupFolder(destination, config, "read");
  const report = reportProgress(options);
  try {
    const database = await openDatabaseAlone(config, log);
    try {
      const store = await openStore(config);
      const manifest = await restoreBackup(
        folder,
        {
          db: database.db,
          settings: database.settings,
          store,
          config,
          migrate: () => migrateDatabase(database, log),
        },
        { id: options.at ?? null, replace: options.replace ?? false, isDryRun: options.dryRun ?? false },
        report.update,
      ).finally(() => store.close());
      report.done();
      if (options.json) process.stdout.write(`${JSON.stringify({ phase: "done", id: manifest.id })}\n`);
      console.error(
        options.dryRun
          ? `read the backup ${manifest.id} (Parley ${manifest.parley}): its database and all ${manifest.objects.count} files are as they were written, and it can be restored here; \`parley backup verify\` also restores the database into a temporary one`
          : `restored the backup ${manifest.id} with ${manifest.objects.count} files. The installation is quarantined: no webhooks, no mail, no deletion by age. Start it, look at it, and run \`parley restore accept\``,
      );
    } finally {
      report.done();
      await database.close();
    }
  } finally {
    await folder.close();
  }
}
