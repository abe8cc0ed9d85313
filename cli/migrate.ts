import { Command } from "commander";
import { openConfiguredDatabase, upgradeDatabase } from "../server/open.ts";
import { readToolConfig, toolLog } from "./support/with-database.ts";

export function migrateCommand(): Command {
  return new Command("migrate")
    .description("migrate the database to this version (the server does so at start-up)")
    .action(async () => {
      const log = toolLog();
      const config = readToolConfig();
      const database = await openConfiguredDatabase(config, "tool", log);
      try {
        const migrated = await upgradeDatabase(database, config, log);
        for (const name of migrated) console.error(`applied ${name}`);
        console.error("the database is up to date");
      } finally {
        await database.close();
      }
    });
}
