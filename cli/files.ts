import { Command } from "commander";
import { openStore } from "../server/storage/open.ts";
import { countUnknown } from "../server/uploads/orphans.ts";
import { adoptStore } from "../server/uploads/store-mark.ts";
import { withDatabase } from "./with-database.ts";

interface Options {
  yes?: boolean;
}

/** What the person has to agree to first. */
export class NotAgreedError extends Error {}

export function filesCommand(): Command {
  const adopt = new Command("adopt")
    .description("let the files in the store belong to this database, such as after one of them was restored")
    .option("--yes", "also when that removes files that this database does not know")
    .action(async (options: Options) => {
      await withDatabase(async (db, config) => {
        const store = await openStore(config);
        try {
          const unknown = await countUnknown(db.kysely, store);
          const lost = `${unknown} ${unknown === 1 ? "object" : "objects"} in the store that this database does not know`;
          if (unknown > 0 && !options.yes)
            throw new NotAgreedError(
              `there ${unknown === 1 ? "is" : "are"} ${lost}: once the files are this database's, the next sweep removes what it does not know, for good. If that is what you want, run this again with --yes`,
            );
          await adoptStore(db, store);
          console.error(
            `the files belong to this database now${unknown > 0 ? `; the next sweep removes ${lost}` : ""}`,
          );
        } finally {
          await store.close();
        }
      });
    });
  return new Command("files").description("the store of files").addCommand(adopt);
}
