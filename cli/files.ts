import { Presets, SingleBar } from "cli-progress";
import { Command } from "commander";
import { countStoredFiles, damageWords, verifyFiles } from "../server/integrity/check.ts";
import type { Database } from "../server/platform/db/database.ts";
import { openStore } from "../server/platform/storage/open.ts";
import type { ObjectStore } from "../server/platform/storage/store.ts";
import { countUnknown } from "../server/storage-maintenance/orphans.ts";
import { adoptStore } from "../server/storage-maintenance/owner-marker.ts";
import { NotConfirmedError } from "./support/errors.ts";
import { withDatabase } from "./support/with-database.ts";
import { withStore } from "./support/with-store.ts";

interface Options {
  yes?: boolean;
}

export function filesCommand(): Command {
  const adopt = new Command("adopt")
    .description("connect the file store to this database, for example after restoring one of them")
    .option("--yes", "confirm that files unknown to this database will be deleted")
    .action(async (options: Options) => {
      await withDatabase(async (db, config) => {
        const store = await openStore(config);
        try {
          const unknown = await countUnknown(db.kysely, store);
          const objects = `${unknown} ${unknown === 1 ? "object" : "objects"} unknown to this database`;
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
    .option("--json", "print the result as a JSON object: checked, bytes, damaged")
    .action(async (options: { json?: boolean }) => {
      await withStore((db, store) => verifyAll(db, store, options));
    });
  return new Command("files")
    .description("adopt and verify the file store")
    .addCommand(adopt)
    .addCommand(verify);
}

/** Prints damaged files to standard output; shows progress only on a terminal. */
async function verifyAll(db: Database, store: ObjectStore, options: { json?: boolean }): Promise<void> {
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
  const damaged = await verifyFiles({ db, store }, (size) => {
    checked += 1;
    bytes += size;
    bar?.increment();
  });
  bar?.stop();
  if (options.json) process.stdout.write(`${JSON.stringify({ checked, bytes, damaged })}\n`);
  else for (const { key, damage } of damaged) process.stdout.write(`${key}: ${damageWords[damage]}\n`);
  console.error(
    `checked ${checked} files (${bytes} bytes): ${damaged.length === 0 ? "all intact" : `${damaged.length} damaged`}`,
  );
  if (damaged.length > 0) process.exitCode = 1;
}
