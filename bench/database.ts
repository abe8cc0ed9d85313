import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import pg from "pg";
import { type Database, openDatabase } from "../server/platform/db/database.ts";
import {
  type Connection,
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from "../server/platform/db/embedded/index.ts";
import { migrate } from "../server/platform/db/migrate.ts";

/** The bench's own PostgreSQL, with the settings that production has. */
export interface BenchPostgres {
  /** Where other processes may put files of their own. */
  readonly folder: string;
  /**
   * A migrated database; a kept one when it was filled by the same recipe.
   * @param recipe what `fill` makes; changes with the data.
   * @param fill fills it and gives what must be remembered of it.
   */
  database<T>(
    name: string,
    recipe: string,
    fill: (db: Database, connection: Connection) => Promise<T>,
  ): Promise<BenchDatabase<T>>;
  stop(): Promise<void>;
}

export interface BenchDatabase<T> {
  readonly connection: Connection;
  /** For PARLEY_DATABASE_URL. */
  readonly url: string;
  readonly db: Database;
  readonly made: T;
}

/** Starts it in a temporary folder, or in one that is kept. */
export async function startBenchPostgres(kept: string | null): Promise<BenchPostgres> {
  const folder = kept === null ? mkdtempSync(join(tmpdir(), "parley-bench-")) : resolve(kept);
  // Where root runs this, the database's system user has to pass through.
  if (kept === null) chmodSync(folder, 0o711);
  const postgres: EmbeddedPostgres = await startEmbeddedPostgres(
    {
      dataDir: join(folder, "database"),
      purpose: "server",
      log: (level, message, detail) => {
        if (level !== "info") console.error(message, detail ?? "");
      },
    },
    { settings: {}, systemDir: join(folder, "system"), readyTimeoutMs: 60_000 },
  );
  const open: Database[] = [];
  const makeTemplate = async (): Promise<string> => {
    const connection = { ...postgres.superuser, database: "parley_template" };
    await recreateDatabase(connection);
    await migrate(connection);
    return connection.database;
  };
  let template: Promise<string> | null = null;
  return {
    folder,
    async database(name, recipe, fill) {
      const connection = { ...postgres.superuser, database: name };
      const note = join(folder, `${name}.json`);
      const known = existsSync(note) ? JSON.parse(readFileSync(note, "utf8")) : null;
      const isKept = known?.recipe === recipe;
      if (!isKept) {
        rmSync(note, { force: true });
        template ??= makeTemplate();
        await recreateDatabase(connection, await template);
      }
      const db = openDatabase(connection, {
        maxConnections: 2,
        onError: (error) => console.error(error.message),
      });
      open.push(db);
      const made = isKept ? known.made : await fill(db, connection);
      if (!isKept) writeFileSync(note, JSON.stringify({ recipe, made }));
      return { connection, url: urlOf(connection), db, made };
    },
    async stop() {
      for (const db of open) await db.close();
      await postgres.stop();
      if (kept === null) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Creates a database in place of the one that has its name; by default, an empty one. */
export async function recreateDatabase(
  { database, ...server }: Connection,
  template = "template1",
): Promise<void> {
  const name = pg.escapeIdentifier(database);
  const client = new pg.Client({ ...server, database: "postgres" });
  await client.connect();
  await client.query(`drop database if exists ${name} with (force)`);
  await client.query(`create database ${name} template ${template}`);
  await client.end();
}

function urlOf({ host, port, user, password, database }: Connection): string {
  return `postgres://${user}:${encodeURIComponent(password)}@localhost/${database}?host=${encodeURIComponent(host)}&port=${port}`;
}
