import { Command } from "commander";
import { findUpgrade, rollBackUpgrade } from "../server/backup/upgrade.ts";
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
      const config = readToolConfig();
      const manifest = await findUpgrade(config.dataDir, options.at ?? null);
      if (!options.yes)
        throw new NotConfirmedError(
          `the database would go back to ${manifest.created_at}, and everything since would be lost, except files; to confirm, run this again with --yes`,
        );
      const database = await openDatabaseAlone(config, toolLog());
      try {
        await rollBackUpgrade(database.settings, config.dataDir, manifest);
        console.error(
          `the database is as it was at ${manifest.created_at}, before the upgrade. Start the version you came from; the version of this command would upgrade it again`,
        );
      } finally {
        await database.close();
      }
    });
  return new Command("upgrade").description("undo an upgrade").addCommand(rollback);
}
