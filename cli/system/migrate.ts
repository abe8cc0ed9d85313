import type { Command } from "commander";
import type { Logger } from "pino";
import {
  finishUpgrade,
  type OpenedDatabase,
  openConfiguredDatabase,
  upgradeDatabase,
} from "../../server/open.ts";
import type { Config } from "../../server/platform/config/config.ts";
import { readSchema } from "../../server/platform/db/migrate.ts";
import { readToolConfig, toolLog } from "../support/with-database.ts";

export function migrateCommand(command: Command): Command {
  return command
    .option("--finish", "also remove what only older versions use; they can't use the database afterwards")
    .action(async ({ finish }: { finish?: boolean }) => {
      // What it waits for is a warning.
      const log = toolLog("warn");
      const config = readToolConfig();
      const database = await openConfiguredDatabase(config, "tool", log);
      try {
        const migrated = await upgradeDatabase(database, config, log);
        for (const name of migrated) console.error(`applied ${name}`);
        if (finish) await finishAll(database, config, log);
        const { unfinished } = await readSchema(database.settings);
        console.error(
          unfinished.length === 0
            ? "the database is up to date"
            : `the database is up to date; ${unfinished.join(", ")} can follow with \`parley migrate --finish\` once every process runs this version and you won't return to the previous one`,
        );
      } finally {
        await database.close();
      }
    });
}

async function finishAll(database: OpenedDatabase, config: Config, log: Logger): Promise<void> {
  const finished = await finishUpgrade(database, config, log, (version, waitMs) =>
    console.error(
      `versions older than ${version} are refused from now on; waiting ${waitMs / 1000} s for their processes to stop`,
    ),
  );
  for (const name of finished) console.error(`applied ${name}`);
}
