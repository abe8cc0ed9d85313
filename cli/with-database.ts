import { existsSync } from "node:fs";
import { pino } from "pino";
import { type Config, readConfig } from "../server/config.ts";
import type { Database, Tx } from "../server/db/database.ts";
import { openMigratedDatabase } from "../server/open.ts";

/** Runs a piece of work on the database the settings mean, beside a running server or without one. */
export async function withDatabase<T>(work: (db: Database, config: Config) => Promise<T>): Promise<T> {
  const config = readConfig(process.env, process.cwd());
  // What matters to the person at the terminal is thrown; the rest would only be noise there.
  if (config.databaseUrl === null && !existsSync(config.dataDir))
    console.error(
      `parley: there is no data folder ${config.dataDir} yet; making one with a new database in it`,
    );
  const log = pino({ level: "error" }, pino.destination({ fd: 2, sync: true }));
  const database = await openMigratedDatabase(config, "tool", log);
  try {
    return await work(database.db, config);
  } finally {
    await database.close();
  }
}

/** The same, in one transaction. */
export function withTransaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
  return withDatabase((db) => db.kysely.transaction().execute(work));
}

/** Prints a command's value: alone, or as JSON for programs. */
export function printValue(value: string, json: object, options: { json?: boolean }): void {
  process.stdout.write(`${options.json ? JSON.stringify(json) : value}\n`);
}
