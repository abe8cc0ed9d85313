import { Command } from "commander";
import { rollBackUpgrade } from "../server/backup/upgrade.ts";
import { openDatabaseAlone } from "../server/open.ts";
import { NotConfirmedError } from "./support/errors.ts";
import { readToolConfig, toolLog } from "./support/with-database.ts";

/** `parley upgrade rollback`. */
export function upgradeCommand(): Command {
  const rollback = new Command("rollback")
    .description("put the database back to its state before the last upgrade; everything since is lost")
    .option("--at <id>", "the state before an earlier upgrade, as the folder before-upgrades names it")
    .option("--yes", "confirm that what happened since is lost")
    .action(async (options: { at?: string; yes?: boolean }) => {
      if (!options.yes)
        throw new NotConfirmedError(
          "everything since the upgrade is lost, except files; to confirm, run this again with --yes",
        );
      const config = readToolConfig();
      const database = await openDatabaseAlone(config, toolLog());
      try {
        const manifest = await rollBackUpgrade(database.settings, config.dataDir, options.at ?? null);
        console.error(
          `the database is as it was at ${manifest.created_at}, before the upgrade. Start the version you came from; the version of this command would upgrade it again`,
        );
      } finally {
        await database.close();
      }
    });
  return new Command("upgrade").description("undo an upgrade").addCommand(rollback);
}
