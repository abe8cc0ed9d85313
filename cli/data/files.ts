import { Presets, SingleBar } from "cli-progress";
import { Command } from "commander";
import { countUnknown } from "../../server/operations/storage-maintenance/orphans.ts";
import { adoptStore } from "../../server/operations/storage-maintenance/owner-marker.ts";
import type { Config } from "../../server/platform/config/config.ts";
import type { Database } from "../../server/platform/db/database.ts";
import { openStore } from "../../server/platform/storage/open.ts";
import type { ObjectStore } from "../../server/platform/storage/store.ts";
import { countStoredFiles, damageWords, verifyFiles } from "../../server/processing/integrity/check.ts";
import { repairCompanions } from "../../server/processing/integrity/companions.ts";
import { counted } from "../../shared/counted.ts";
import { NotConfirmedError } from "../support/errors.ts";
import { withDatabase } from "../support/with-database.ts";
import { withStore } from "../support/with-store.ts";

interface Options {
  yes?: boolean;
}

interface VerifyOptions {
  json?: boolean;
  repair?: boolean;
}

interface Dependencies {
  readonly db: Database;
  readonly store: ObjectStore;
  readonly config: Config;
}

export function filesCommand(command: Command): Command {
  const adopt = new Command("adopt")
    .description("connect the file store to this database, for example after restoring one of them")
    .option("--yes", "confirm that files unknown to this database will be deleted")
    .action(async (options: Options) => {
      await withDatabase(async (db, config) => {
        const store = await openStore(config);
        try {
          const unknown = await countUnknown(db.kysely, store);
          const objects = `${counted(unknown, "object")} unknown to this database`;
          if (unknown > 0 && !options.yes)
            throw new NotConfirmedError(
              `the store has ${objects}, which the next sweep after adoption deletes permanently; to confirm, run this again with --yes`,
            );
          await adoptStore(db, store);
          console.error(
            `the store belongs to this database now${unknown > 0 ? `; the next sweep deletes ${objects}` : ""}`,
          );
        } finally {
          await store.close();
        }
      });
    });
  const verify = new Command("verify")
    .description("read every stored file and report missing and damaged ones")
    .option(
      "--json",
      "print the result as a JSON object: checked, bytes, damaged; with --repair also created, failed",
    )
    .option("--repair", "create thumbnails, waveforms and storyboards that are missing or damaged")
    .action(async (options: VerifyOptions) => {
      await withStore((db, store, config) => verifyAll({ db, store, config }, options));
    });
  return command.addCommand(adopt).addCommand(verify);
}

/** Prints damaged files to standard output; shows progress only on a terminal. */
async function verifyAll(deps: Dependencies, options: VerifyOptions): Promise<void> {
  const { db, store } = deps;
  const total = await countStoredFiles({ db });
  const bar = process.stderr.isTTY
    ? new SingleBar(
        { format: "{bar} {percentage} %  {value}/{total} files", stream: process.stderr },
        Presets.shades_classic,
      )
    : null;
  bar?.start(total.files, 0);
  let checked = 0;
  let bytes = 0;
  const found = await verifyFiles({ db, store }, (size) => {
    checked += 1;
    bytes += size;
    bar?.increment();
  });
  bar?.stop();
  const repaired = options.repair ? await repairCompanions(deps) : null;
  const damaged = found.filter(({ key }) => !repaired?.created.includes(key));
  if (options.json) process.stdout.write(`${JSON.stringify({ checked, bytes, damaged, ...repaired })}\n`);
  else {
    for (const { key, damage } of damaged) process.stdout.write(`${key}: ${damageWords[damage]}\n`);
    for (const key of repaired?.created ?? []) process.stdout.write(`${key}: created\n`);
    for (const { key, reason } of repaired?.failed ?? [])
      process.stdout.write(`${key}: what it is shown with could not be created: ${reason.split("\n")[0]}\n`);
  }
  console.error(
    `checked ${counted(checked, "file")} (${counted(bytes, "byte")}): ${damaged.length === 0 ? "all intact" : `${damaged.length} damaged`}`,
  );
  if (damaged.length > 0 || (repaired !== null && repaired.failed.length > 0)) process.exitCode = 1;
}
