import { Command } from "commander";
import { openDatabaseAlone } from "../../server/open.ts";
import { findUpgrade, rollBackUpgrade } from "../../server/operations/backup/upgrade.ts";
import { NotConfirmedError } from "../support/errors.ts";
import { readToolConfig, toolLog } from "../support/with-database.ts";

/** `parley upgrade rollback`. */
export function upgradeCommand(command: Command): Command {
  const rollback = new Command("rollback")
    .description("return the database to its state before the last upgrade; all changes since then are lost")
    .option("--at <id>", "the state before an earlier upgrade, as the folder before-upgrades names it")
    .option("--yes", "confirm that all changes since then are lost")
    .action(async (options: { at?: string; yes?: boolean }) => {
      const config = readToolConfig();
      const manifest = await findUpgrade(config.dataDir, options.at ?? null);
      if (!options.yes)
        throw new NotConfirmedError(
          `the database would return to its state at ${manifest.created_at}, and all changes since, except files, would be lost; to confirm, run this again with --yes`,
        );
      const database = await openDatabaseAlone(config, toolLog());
      try {
        await rollBackUpgrade(database.settings, config.dataDir, manifest);
        console.error(
          `the database is back to its state at ${manifest.created_at}, before the upgrade. Start the previous version; starting this version would upgrade the database again`,
        );
      } finally {
        await database.close();
      }
    });
  return command.addCommand(rollback);
}
