import { Command } from "commander";
import { migrateDatabase, openConfiguredDatabase } from "../server/open.ts";
import { readToolConfig, toolLog } from "./support/with-database.ts";

export function migrateCommand(): Command {
  return new Command("migrate")
    .description("migrate the database to this version (the server does so at start-up)")
    .action(async () => {
      const log = toolLog();
      const database = await openConfiguredDatabase(readToolConfig(), "tool", log);
      try {
        const migrated = await migrateDatabase(database, log);
        for (const name of migrated) console.error(`applied ${name}`);
        console.error("the database is up to date");
      } finally {
        await database.close();
      }
    });
}
