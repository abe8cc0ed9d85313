import { existsSync } from "node:fs";
import { type Logger, pino } from "pino";
import { type OpenedDatabase, openDatabaseForTool } from "../../server/open.ts";
import { type Config, readConfig } from "../../server/platform/config/config.ts";
import type { Database, Tx } from "../../server/platform/db/database.ts";
import { setOutboundProxy } from "../../server/platform/outbound/proxy.ts";

/** Runs work on the configured database, whether or not a server is running. */
export async function withDatabase<T>(work: (db: Database, config: Config) => Promise<T>): Promise<T> {
  const config = readToolConfig();
  return withOpenDatabase(config, (database) => work(database.db, config));
}

/** The same with the settings of the connection. */
export async function withOpenDatabase<T>(
  config: Config,
  work: (database: OpenedDatabase) => Promise<T>,
): Promise<T> {
  const database = await openDatabaseForTool(config, toolLog());
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** Reads a command's settings. Prints a notice if the command will create the data folder. */
export function readToolConfig(): Config {
  const config = readConfig(process.env, process.cwd());
  setOutboundProxy(config.proxy);
  if (config.databaseUrl === null && !existsSync(config.dataDir))
    console.error(
      `parley: the data folder ${config.dataDir} does not exist; creating it with a new database`,
    );
  return config;
}

/** Logs only errors, unless told otherwise; anything else the user needs to know is thrown. */
export function toolLog(level: "error" | "warn" = "error"): Logger {
  return pino({ level }, pino.destination({ fd: 2, sync: true }));
}

/** Runs work on the configured database in one transaction. */
export function withTransaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
  return withDatabase((db) => db.kysely.transaction().execute(work));
}

/** Prints a command's result, as plain text or as JSON. */
export function printValue(value: string, json: object, options: { json?: boolean }): void {
  process.stdout.write(`${options.json ? JSON.stringify(json) : value}\n`);
}
