import { accessSync, constants, existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { FastifyBaseLogger } from "fastify";
import { type Config, ConfigError } from "./config.ts";
import { type ConnectionSettings, type Database, openDatabase } from "./db/database.ts";
import { startEmbeddedPostgres } from "./db/embedded/index.ts";
import { migrate } from "./db/migrate.ts";
import { migrateJobs } from "./jobs/queue.ts";

/** An open, migrated database and how to let go of it. */
export interface OpenedDatabase {
  readonly db: Database;
  /** Whether it is the embedded one, which a server has for itself alone. */
  readonly isEmbedded: boolean;
  /** Names of the migrations applied now. */
  readonly migrated: readonly string[];
  close(): Promise<void>;
}

/**
 * Gets to the database that the settings mean: starts or joins the embedded PostgreSQL, or connects to the one at
 * PARLEY_DATABASE_URL, and brings its schema up to date.
 * @param purpose `server` holds the embedded database exclusively; `tool` works beside a running server.
 */
export async function openMigratedDatabase(
  config: Config,
  purpose: "server" | "tool",
  log: FastifyBaseLogger,
  onLost: (error: Error) => void = () => {},
): Promise<OpenedDatabase> {
  // Others may pass through, since the database's system user has to; what is inside is closed to them.
  makeDataDir(config.dataDir);
  const embedded =
    config.databaseUrl === null
      ? await startEmbeddedPostgres({
          dataDir: config.dataDir,
          purpose,
          log: (level, message, detail) => log[level](detail ?? {}, message),
          onLost,
        })
      : null;
  const settings: ConnectionSettings = embedded?.connection ?? { connectionString: config.databaseUrl ?? "" };
  let db: Database | null = null;
  try {
    const migrated = await migrate(settings);
    const opened = openDatabase(settings, {
      onError: (error) => log.warn({ err: error }, "an idle database connection broke"),
    });
    db = opened;
    await migrateJobs(opened.pool);
    return {
      db: opened,
      isEmbedded: embedded !== null,
      migrated,
      async close() {
        await opened.close();
        await embedded?.stop();
      },
    };
  } catch (error) {
    await db?.close();
    await embedded?.stop();
    throw error;
  }
}

/**
 * Makes the data folder with what is missing above it. Not by mkdir's `recursive`, which tries for ever where a
 * folder that exists takes no new ones, such as below /proc.
 * @throws ConfigError in one line.
 */
function makeDataDir(path: string): void {
  try {
    const missing: string[] = [];
    for (let folder = path; !existsSync(folder); folder = dirname(folder)) missing.unshift(folder);
    for (const folder of missing) mkdirSync(folder, { mode: 0o711 });
    accessSync(path, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new ConfigError(
      `wrong setting: PARLEY_DATA_DIR ${path} can't be used: ${(error as Error).message}`,
    );
  }
}
