import { Command } from "commander";
import { withDatabase } from "./with-database.ts";

export function migrateCommand(): Command {
  return new Command("migrate")
    .description("bring the database up to date (serve does it by itself)")
    .action(async () => {
      // Opening the database migrates it.
      await withDatabase(async () => {});
      console.error("the database is up to date");
    });
}
