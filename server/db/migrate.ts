import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import pg from "pg";
import type { ConnectionSettings } from "./database.ts";

/** One numbered step of the schema. */
export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly sql: string;
}

/** The database was made by a newer program; using it could harm it. */
export class DatabaseTooNewError extends Error {}

/** The PostgreSQL server or database can't hold Parley's data. */
export class UnfitDatabaseError extends Error {}

const folder = fileURLToPath(new URL("../../migrations/", import.meta.url));

/** Any constant will do, as long as every process uses the same. */
const migrationLock = 7_271_539_001;

/** Reads the migrations that come with this program, in order. */
export function readMigrations(): Migration[] {
  return readdirSync(folder)
    .filter((name) => /^\d{4}_.*\.sql$/.test(name))
    .sort()
    .map((name) => ({
      number: Number(name.slice(0, 4)),
      name: name.replace(/\.sql$/, ""),
      sql: readFileSync(`${folder}/${name}`, "utf8"),
    }));
}

/**
 * Brings the schema up to date, each migration in a transaction of its own. Runs under a session lock, so any
 * number of processes may start at once: one migrates, the others wait and find nothing left to do.
 * @returns the names of the migrations applied now.
 * @throws DatabaseTooNewError when the database holds a migration this program does not know.
 */
export async function migrate(
  settings: ConnectionSettings,
  migrations: readonly Migration[] = readMigrations(),
): Promise<string[]> {
  const client = new pg.Client({ ...settings, application_name: "parley migrate" });
  // The statement at work is rejected when the connection breaks; this keeps the event from ending the process.
  client.on("error", () => {});
  await client.connect();
  try {
    await checkServer(client);
    await client.query("select pg_advisory_lock($1)", [migrationLock]);
    await client.query(
      "create table if not exists schema_migrations (number integer primary key, name text not null, applied_at timestamptz not null default now())",
    );
    const { rows } = await client.query<{ number: number; name: string }>(
      "select number, name from schema_migrations order by number",
    );
    const known = new Set(migrations.map((migration) => migration.number));
    const unknown = rows.filter((row) => !known.has(row.number));
    if (unknown.length > 0) {
      throw new DatabaseTooNewError(
        `the database is newer than this program: it has ${unknown.map((row) => row.name).join(", ")}; install the newer Parley again or restore an older backup`,
      );
    }
    const applied = new Set(rows.map((row) => row.number));
    const missing = migrations.filter((migration) => !applied.has(migration.number));
    for (const migration of missing) await apply(client, migration);
    return missing.map((migration) => migration.name);
  } finally {
    // Closing the session gives the lock back, also after a failure.
    await client.end();
  }
}

/** Refuses a server on which the schema could not work. */
async function checkServer(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ version: string; number: number; encoding: string }>(
    `select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
       current_setting('server_encoding') as encoding`,
  );
  const [server] = rows;
  if (server === undefined || server.number < 150_000)
    throw new UnfitDatabaseError(
      `the database is PostgreSQL ${server?.version}; Parley needs version 15 or newer`,
    );
  if (server.encoding !== "UTF8")
    throw new UnfitDatabaseError(`the database's encoding is ${server.encoding}; Parley needs one with UTF8`);
}

async function apply(client: pg.Client, migration: Migration): Promise<void> {
  await client.query("begin");
  try {
    await client.query(migration.sql);
    await client.query("insert into schema_migrations (number, name) values ($1, $2)", [
      migration.number,
      migration.name,
    ]);
    await client.query("commit");
  } catch (error) {
    await client.query("rollback");
    throw new Error(`migration ${migration.name} failed: ${(error as Error).message}`, { cause: error });
  }
}
