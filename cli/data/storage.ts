import { Command, Option } from "commander";
import { migrateStorage } from "../../server/operations/move/migrate-storage.ts";
import type { StoreKind } from "../../server/platform/storage/store.ts";
import { counted } from "../../shared/counted.ts";
import { describeBytes } from "../support/describe-bytes.ts";
import { reportProgress } from "../support/report-progress.ts";
import { readToolConfig, withOpenDatabase } from "../support/with-database.ts";

interface Options {
  to: StoreKind;
  removeSource?: boolean;
  json?: boolean;
}

/** `parley storage migrate`. */
export function storageCommand(command: Command): Command {
  const migrate = new Command("migrate")
    .description("move all files to the other kind of store while the server runs; run again to continue")
    .addOption(
      new Option("--to <store>", "where the files go").choices(["s3", "local"]).makeOptionMandatory(),
    )
    .option("--remove-source", "remove the files from the former store, once nothing uses it")
    .option("--json", "print progress and result as lines of JSON")
    .action(runMigration);
  return command.addCommand(migrate);
}

async function runMigration(options: Options): Promise<void> {
  const report = reportProgress(options);
  const config = readToolConfig();
  const result = await withOpenDatabase(config, ({ db, settings }) =>
    migrateStorage(
      { db, settings, config },
      { to: options.to, removeSource: options.removeSource ?? false, onProgress: report.update },
    ),
  ).finally(report.done);
  const { from, files, bytes, damaged, removed } = result;
  if (options.json) process.stdout.write(`${JSON.stringify({ phase: "done", to: options.to, ...result })}\n`);
  for (const key of damaged)
    console.error(`parley: ${key} was damaged before and is copied as it is; see \`parley files verify\``);
  if (from === null) {
    console.error(`the files are in the ${options.to} file store already`);
    return;
  }
  console.error(
    `${counted(files, "file")}, ${describeBytes(bytes)}, copied to the ${options.to} file store and verified. Set PARLEY_STORAGE=${options.to} for all processes; until they restart, the database's record counts`,
  );
  if (removed === null)
    console.error(
      `the ${from} file store still has its files; remove them with \`parley storage migrate --to ${options.to} --remove-source\``,
    );
  else console.error(`removed ${counted(removed, "file")} from the ${from} file store`);
}
