import { Command } from "commander";
import pg from "pg";
import { openConfiguredDatabase } from "../../server/open.ts";
import { MoveError } from "../../server/operations/move/errors.ts";
import { type DatabaseMove, moveDatabase } from "../../server/operations/move/move-database.ts";
import { settingFor } from "../../server/operations/move/moved.ts";
import { type Config, ConfigError } from "../../server/platform/config/config.ts";
import { databaseUrl } from "../../server/platform/config/values.ts";
import { startEmbeddedPostgres } from "../../server/platform/db/embedded/index.ts";
import { counted } from "../../shared/counted.ts";
import { reportProgress } from "../support/report-progress.ts";
import { readToolConfig, toolLog } from "../support/with-database.ts";

interface Options {
  json?: boolean;
}

/** `parley database move`. */
export function databaseCommand(command: Command): Command {
  const move = new Command("move")
    .description(
      "move the configured database to an empty one; requests get 503 meanwhile. Run again to continue",
    )
    .argument("<target>", "postgres://… of an empty database, or `embedded` for the one in the data folder")
    .option("--json", "print progress and result as lines of JSON")
    .action(runMove);
  return command.addCommand(move);
}

async function runMove(argument: string, options: Options): Promise<void> {
  const config = readToolConfig();
  const target = await openTarget(argument, config);
  try {
    const database = await openConfiguredDatabase(config, "tool", toolLog());
    const report = reportProgress(options);
    try {
      const { rows, pausedMs } = await moveDatabase({
        source: database.settings,
        target: target.settings,
        targetName: target.name,
        onProgress: report.update,
      }).finally(report.done);
      const seconds = pausedMs === null ? null : Math.round(pausedMs / 100) / 10;
      if (options.json)
        process.stdout.write(
          `${JSON.stringify({ phase: "done", moved_to: target.name, rows, paused_seconds: seconds })}\n`,
        );
      console.error(
        `${seconds === null ? "the database was moved by an earlier run" : `moved ${counted(rows, "row")} to ${target.name}; requests were refused for ${seconds} s`}. ${settingFor(target.name)}, and restart all Parley processes: until then they refuse requests. The former database is unchanged and refuses to be used`,
      );
    } finally {
      await database.close();
    }
  } finally {
    await target.close();
  }
}

interface Target {
  readonly settings: DatabaseMove["target"];
  readonly name: string;
  close(): Promise<void>;
}

async function openTarget(argument: string, config: Config): Promise<Target> {
  if (argument === "embedded") {
    if (config.databaseUrl === null)
      throw new MoveError(
        "the configured database is the embedded one; set PARLEY_DATABASE_URL to the database to move",
      );
    // Refused while a server uses the folder's database.
    const embedded = await startEmbeddedPostgres({
      dataDir: config.dataDir,
      purpose: "server",
      log: (level, message, detail) => toolLog()[level](detail ?? {}, message),
    });
    return {
      settings: embedded.connection,
      name: `the embedded database in ${config.dataDir}`,
      close: () => embedded.stop(),
    };
  }
  const parsed = databaseUrl.safeParse(argument);
  if (!parsed.success) throw new ConfigError(`invalid target: ${parsed.error.issues[0]?.message}`);
  const settings = { connectionString: parsed.data };
  // As the driver reads it; a URL may name a socket in its query.
  const { host, port, database, user } = new pg.Client(settings);
  const place = host.startsWith("/")
    ? `postgres://${user}@/${database}?host=${host}&port=${port}`
    : `postgres://${user}@${host}:${port}/${database}`;
  return { settings, name: place, close: async () => {} };
}
