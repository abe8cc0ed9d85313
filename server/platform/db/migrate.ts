import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
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

/** A migration could not be applied; the message is one line with the way out. */
export class MigrationFailedError extends Error {}

/** The PostgreSQL server or database can't hold Parley's data. */
export class UnfitDatabaseError extends Error {}

const folder = fileURLToPath(new URL("../../../migrations/", import.meta.url));

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

/** What a database has of the schema. */
export interface SchemaState {
  /** Nothing was ever created in it. */
  readonly isEmpty: boolean;
  /** Names of the migrations that this program has and the database has not, in order. */
  readonly missing: readonly string[];
}

/** The database lacks migrations, and the caller may not apply them. */
export class SchemaOutdatedError extends Error {}

/**
 * Looks at the schema without changing anything.
 * @throws DatabaseTooNewError, UnfitDatabaseError as `migrate` does.
 */
export async function readSchema(
  settings: ConnectionSettings,
  migrations: readonly Migration[] = readMigrations(),
): Promise<SchemaState> {
  return onOwnConnection(settings, async (client) => {
    await checkServer(client);
    const applied = await readApplied(client, migrations);
    return {
      isEmpty: applied === null,
      missing: migrations.filter(({ number }) => !applied?.has(number)).map(({ name }) => name),
    };
  });
}

/** How a migration waits for tables that other sessions use. */
export interface MigrateOptions {
  readonly migrations?: readonly Migration[];
  /** How long one attempt may queue for a table. Everything else that uses the table waits behind it meanwhile. */
  readonly lockTimeoutMs?: number;
  /** Pause before the next attempt, in which the others catch up. */
  readonly retryPauseMs?: number;
  /** When to stop trying. */
  readonly deadlineMs?: number;
  /** Notified of each attempt that waited in vain. */
  readonly onRetry?: (message: string) => void;
}

/**
 * Brings the schema up to date, each migration in a transaction of its own unless it says otherwise. Runs under a
 * session lock, so any number of processes may start at once: one migrates, the others wait and find nothing left.
 * @returns the names of the migrations applied now.
 * @throws DatabaseTooNewError when the database holds a migration this program does not know.
 * @throws MigrationFailedError when one fails; the database is then as the last successful one left it.
 */
export async function migrate(settings: ConnectionSettings, options: MigrateOptions = {}): Promise<string[]> {
  const migrations = options.migrations ?? readMigrations();
  return onOwnConnection(settings, async (client) => {
    await checkServer(client);
    await takeMigrationLock(client);
    await client.query(
      "create table if not exists schema_migrations (number integer primary key, name text not null, applied_at timestamptz not null default now())",
    );
    const applied = (await readApplied(client, migrations)) ?? new Set();
    const missing = migrations.filter((migration) => !applied.has(migration.number));
    for (const migration of missing) await applyPatiently(client, migration, options);
    return missing.map((migration) => migration.name);
  });
}

async function onOwnConnection<T>(
  settings: ConnectionSettings,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ ...settings, application_name: "parley migrate" });
  // The running statement is rejected when the connection breaks; without a listener the event would end the process.
  client.on("error", () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    // Closing the session releases the lock, also after a failure.
    await client.end();
  }
}

/** Polls, because a session that waits inside PostgreSQL would hold up `create index concurrently` in another. */
async function takeMigrationLock(client: pg.Client): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ taken: boolean }>("select pg_try_advisory_lock($1) as taken", [
      migrationLock,
    ]);
    if (rows[0]?.taken) return;
    await sleep(200);
  }
}

/** Numbers of the applied migrations; null where there is no schema at all. */
async function readApplied(
  client: pg.Client,
  migrations: readonly Migration[],
): Promise<ReadonlySet<number> | null> {
  const { rows: tables } = await client.query<{ exists: boolean }>(
    "select to_regclass('schema_migrations') is not null as exists",
  );
  if (!tables[0]?.exists) return null;
  const { rows } = await client.query<{ number: number; name: string }>(
    "select number, name from schema_migrations order by number",
  );
  const known = new Map(migrations.map(({ number, name }) => [number, name]));
  const other = rows.find(({ number, name }) => known.has(number) && known.get(number) !== name);
  if (other !== undefined)
    throw new UnfitDatabaseError(
      `the database was created by a development version of Parley and can't be upgraded (it has the migration ${other.name} instead of ${known.get(other.number)}); start with an empty database and an empty file store`,
    );
  const unknown = rows.filter((row) => !known.has(row.number));
  if (unknown.length > 0)
    throw new DatabaseTooNewError(
      `the database is newer than this program: it has ${unknown.map((row) => row.name).join(", ")}; install the newer Parley again or restore an older backup`,
    );
  return rows.length === 0 ? null : new Set(rows.map((row) => row.number));
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
    throw new UnfitDatabaseError(
      `the database's encoding is ${server.encoding}; create the database with the encoding UTF8`,
    );
}

/** PostgreSQL's code for a lock that was not available within lock_timeout. */
const lockNotAvailable = "55P03";

async function applyPatiently(
  client: pg.Client,
  migration: Migration,
  { lockTimeoutMs = 1000, retryPauseMs = 3000, deadlineMs = 600_000, onRetry }: MigrateOptions,
): Promise<void> {
  const giveUpAt = performance.now() + deadlineMs;
  for (;;) {
    try {
      await (isOutsideTransaction(migration)
        ? applyByStatement(client, migration)
        : apply(client, migration, lockTimeoutMs));
      return;
    } catch (error) {
      const { code, message } = error as Error & { code?: string };
      if (code !== lockNotAvailable || performance.now() > giveUpAt)
        throw new MigrationFailedError(
          `migration ${migration.name} failed: ${message.split("\n")[0]}. The database is unchanged by this migration. Start the previous version again, or fix the cause and run \`parley migrate\``,
          { cause: error },
        );
      onRetry?.(
        `migration ${migration.name} waits for other database sessions to finish with its tables; trying again in ${retryPauseMs} ms`,
      );
      await sleep(retryPauseMs);
    }
  }
}

async function apply(client: pg.Client, migration: Migration, lockTimeoutMs: number): Promise<void> {
  await client.query("begin");
  try {
    await client.query(`set local lock_timeout = ${lockTimeoutMs}`);
    await client.query(migration.sql);
    await recordApplied(client, migration);
    await client.query("commit");
  } catch (error) {
    await client.query("rollback");
    throw error;
  }
}

/** First line of a migration that PostgreSQL can't run inside a transaction, such as `create index concurrently`. */
const outsideTransaction = "-- outside a transaction";

function isOutsideTransaction({ sql }: Migration): boolean {
  return sql.startsWith(outsideTransaction);
}

/**
 * Runs the statements of a migration one by one; a line `-- next` separates them. When it ends halfway, all of them run
 * again, so each must be written to succeed a second time.
 */
async function applyByStatement(client: pg.Client, migration: Migration): Promise<void> {
  for (const statement of migration.sql.split(/^-- next$/m)) await client.query(statement);
  await recordApplied(client, migration);
}

async function recordApplied(client: pg.Client, migration: Migration): Promise<void> {
  await client.query("insert into schema_migrations (number, name) values ($1, $2)", [
    migration.number,
    migration.name,
  ]);
}
