import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { version as programVersion } from "../version.ts";
import type { ConnectionSettings } from "./database.ts";
import {
  checkVersion,
  newestOf,
  raiseOldestVersion,
  readOldestVersion,
  versionCheckMs,
} from "./oldest-version.ts";

/** One numbered step of the schema. */
export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly sql: string;
}

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
  /** It has migrations that this program does not know, and allows this program to run. */
  readonly isNewer: boolean;
  /** Names of the migrations that the database needs for this program, in order. */
  readonly missing: readonly string[];
  /** Names of the finishing migrations that wait for `parley migrate --finish`, in order. */
  readonly unfinished: readonly string[];
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
  version: string = programVersion,
): Promise<SchemaState> {
  return onOwnConnection(settings, async (client) => {
    await checkServer(client);
    const applied = await readApplied(client, migrations, version);
    const names = (list: readonly Migration[]): string[] => list.map(({ name }) => name);
    return {
      isEmpty: applied === null,
      isNewer:
        applied !== null && [...applied].some((number) => !migrations.some((m) => m.number === number)),
      missing: names(missingFrom(applied, migrations)),
      unfinished: applied === null ? [] : names(unfinishedIn(applied, migrations)),
    };
  });
}

/** An empty database has no older version to consider, and gets everything at once. */
function missingFrom(
  applied: ReadonlySet<number> | null,
  migrations: readonly Migration[],
): readonly Migration[] {
  if (applied === null) return migrations;
  return migrations.filter(
    (migration) => !applied.has(migration.number) && neededVersion(migration) === null,
  );
}

function unfinishedIn(applied: ReadonlySet<number>, migrations: readonly Migration[]): Migration[] {
  return migrations.filter(
    (migration) => !applied.has(migration.number) && neededVersion(migration) !== null,
  );
}

/**
 * A finishing migration removes what only older versions use. Its head says which version is the oldest that works
 * without: `-- finish: needs 1.3.0`. Other migrations only add, so that the version before can continue.
 */
const finishLine = /^-- finish: needs (\d+\.\d+\.\d+)$/m;

/** @returns the oldest version that works after a finishing migration; null: it is not a finishing one. */
export function neededVersion({ sql }: Migration): string | null {
  return finishLine.exec(sql)?.[1] ?? null;
}

/** How a migration waits for tables that other sessions use. */
export interface MigrateOptions {
  readonly migrations?: readonly Migration[];
  /** The version of the program; for tests. */
  readonly version?: string;
  /** How long one attempt may queue for a table. Everything else that uses the table waits behind it meanwhile. */
  readonly lockTimeoutMs?: number;
  /** Pause before the next attempt, in which the others catch up. */
  readonly retryPauseMs?: number;
  /** When to stop trying. */
  readonly deadlineMs?: number;
  /** How often to check which sessions hold up a migration outside a transaction. */
  readonly blockerCheckMs?: number;
  /** Notified of each attempt that waited in vain, and of what holds up a migration outside a transaction. */
  readonly onRetry?: (message: string) => void;
}

/**
 * Brings the schema up to date, in one transaction unless a migration says otherwise. Runs under a session lock, so any
 * number of processes may start at once: one migrates, the others wait and find nothing left. Finishing migrations are
 * left out, except in an empty database.
 * @returns the names of the migrations applied now.
 * @throws DatabaseTooNewError when the database needs a newer program.
 * @throws MigrationFailedError when one fails; the database is then as before.
 */
export async function migrate(settings: ConnectionSettings, options: MigrateOptions = {}): Promise<string[]> {
  const migrations = options.migrations ?? readMigrations();
  return underMigrationLock(settings, async (client) => {
    await client.query(
      "create table if not exists schema_migrations (number integer primary key, name text not null, applied_at timestamptz not null default now())",
    );
    const missing = missingFrom(await readApplied(client, migrations, options.version), migrations);
    await applyAll(client, settings, missing, options);
    // Only in an empty database are finishing ones among them.
    const oldest = newestOf(missing.map(neededVersion));
    if (oldest !== null) await raiseOldestVersion(client, oldest);
    return missing.map(({ name }) => name);
  });
}

/** How `finishMigrations` waits for older processes. */
export interface FinishOptions extends MigrateOptions {
  /** How long until every process has noticed that it is too old. */
  readonly waitMs?: number;
  /** Called before anything changes, and may throw. @param version the oldest version from then on. */
  readonly onBegin?: (version: string) => Promise<void>;
  /** Called before the wait. @param version the oldest version from now on. */
  readonly onWait?: (version: string, waitMs: number) => void;
}

/**
 * Applies the finishing migrations. First the database names the new oldest version; running processes that are older
 * notice it and stop serving; only then the schema changes. If that fails, the older versions are allowed again.
 * @returns the names of the migrations applied now.
 * @throws MigrationFailedError when one fails.
 */
export async function finishMigrations(
  settings: ConnectionSettings,
  options: FinishOptions = {},
): Promise<string[]> {
  const { migrations = readMigrations(), waitMs = 2 * versionCheckMs, onBegin, onWait } = options;
  return underMigrationLock(settings, async (client) => {
    const applied = await readApplied(client, migrations, options.version);
    const steps = unfinishedIn(applied ?? new Set(), migrations);
    const oldest = newestOf(steps.map(neededVersion));
    if (oldest === null) return [];
    await onBegin?.(oldest);
    const before = await readOldestVersion(client);
    const isRaised = await raiseOldestVersion(client, oldest);
    try {
      if (isRaised) {
        onWait?.(oldest, waitMs);
        await sleep(waitMs);
      }
      await applyAll(client, settings, steps, options);
    } catch (error) {
      await client.query("update installation set oldest_version = $1", [before]);
      throw error;
    }
    return steps.map(({ name }) => name);
  });
}

/** Runs work on the schema while no other process does. The lock is of the session, which lasts for the work. */
function underMigrationLock<T>(
  settings: ConnectionSettings,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  return onOwnConnection(settings, async (client) => {
    await checkServer(client);
    await takeMigrationLock(client);
    return work(client);
  });
}

async function onOwnConnection<T>(
  settings: ConnectionSettings,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({
    ...settings,
    // Behind a pooler, the role has time limits (pooler.ts) that a migration may exceed.
    options: "-c statement_timeout=0 -c idle_in_transaction_session_timeout=0",
    application_name: "parley migrate",
  });
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

/**
 * Numbers of the applied migrations; null where there is no schema at all.
 * @throws DatabaseTooNewError when the database needs a newer program.
 */
async function readApplied(
  client: pg.Client,
  migrations: readonly Migration[],
  version: string = programVersion,
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
      `the database was created by a development version of Parley and can't be upgraded (it has the migration ${other.name} instead of ${known.get(other.number)}); to keep its recordings, start the Parley that created it again, start this one with an empty database and an empty file store (another PARLEY_DATA_DIR, or PARLEY_DATABASE_URL and bucket), and copy them: \`parley import --from grain --base-url URL\`, with the URL and a workspace token of the old one`,
    );
  checkVersion(version, await readOldestVersion(client));
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

/** PostgreSQL's codes for a lock that was not available within lock_timeout, and for a deadlock, which a request can win. */
const lockFailures: readonly (string | undefined)[] = ["55P03", "40P01"];

/** Applies migrations in order: those that may share a transaction together, so that a failure undoes all of them. */
async function applyAll(
  client: pg.Client,
  settings: ConnectionSettings,
  migrations: readonly Migration[],
  options: MigrateOptions,
): Promise<void> {
  const together: Migration[] = [];
  const done: string[] = [];
  const flush = async (): Promise<void> => {
    const batch = together.splice(0);
    if (batch.length === 0) return;
    await patiently(batch, done, options, (lockTimeoutMs) => apply(client, batch, lockTimeoutMs));
    done.push(...batch.map(({ name }) => name));
  };
  for (const migration of migrations) {
    if (isOutsideTransaction(migration)) {
      await flush();
      await patiently([migration], done, options, () =>
        reportBlockers(client, settings, migration, options, () => applyByStatement(client, migration)),
      );
      done.push(migration.name);
    } else {
      together.push(migration);
    }
  }
  await flush();
}

/** Which migration failed. */
class StepFailedError extends Error {
  readonly migration: Migration;

  constructor(migration: Migration, cause: unknown) {
    super((cause as Error).message, { cause });
    this.migration = migration;
  }
}

/** @param done what was applied before, in transactions of its own. */
async function patiently(
  batch: readonly Migration[],
  done: readonly string[],
  { lockTimeoutMs = 1000, retryPauseMs = 3000, deadlineMs = 600_000, onRetry }: MigrateOptions,
  attempt: (lockTimeoutMs: number) => Promise<void>,
): Promise<void> {
  const giveUpAt = performance.now() + deadlineMs;
  for (;;) {
    try {
      await attempt(lockTimeoutMs);
      return;
    } catch (error) {
      const cause = error instanceof StepFailedError ? error.cause : error;
      const { code, message } = cause as Error & { code?: string };
      const name = error instanceof StepFailedError ? error.migration.name : batch[0]?.name;
      if (!lockFailures.includes(code) || performance.now() > giveUpAt)
        throw new MigrationFailedError(
          `migration ${name} failed: ${message.split("\n")[0]}. ${done.length === 0 ? "The database is as it was before" : `The database has ${done.join(", ")} of the new version, which the previous one ignores`}. Start the previous version again, or fix the cause and run \`parley migrate\``,
          { cause },
        );
      onRetry?.(
        `migration ${name} waits for other database sessions to finish with its tables; trying again in ${retryPauseMs} ms`,
      );
      await sleep(retryPauseMs);
    }
  }
}

async function apply(
  client: pg.Client,
  migrations: readonly Migration[],
  lockTimeoutMs: number,
): Promise<void> {
  await client.query("begin");
  try {
    await client.query(`set local lock_timeout = ${lockTimeoutMs}`);
    for (const migration of migrations) await applyOne(client, migration);
    await client.query("commit");
  } catch (error) {
    await client.query("rollback");
    throw error;
  }
}

async function applyOne(client: pg.Client, migration: Migration): Promise<void> {
  try {
    await client.query(migration.sql);
    await recordApplied(client, migration);
  } catch (error) {
    throw new StepFailedError(migration, error);
  }
}

/** First line of a migration that PostgreSQL can't run inside a transaction, such as `create index concurrently`. */
const outsideTransaction = "-- outside a transaction";

function isOutsideTransaction({ sql }: Migration): boolean {
  return sql.startsWith(outsideTransaction);
}

/** Reports the sessions that hold up a migration, such as those of a backup whose snapshot an index build waits for. */
async function reportBlockers(
  client: pg.Client,
  settings: ConnectionSettings,
  { name }: Migration,
  { blockerCheckMs = 5000, onRetry }: MigrateOptions,
  work: () => Promise<void>,
): Promise<void> {
  const { processID } = client as pg.Client & { readonly processID: number };
  let last = "";
  const check = async (): Promise<void> => {
    const blockers = await onOwnConnection(settings, (other) => findBlockers(other, processID));
    if (blockers !== "" && blockers !== last) onRetry?.(`migration ${name} waits for ${blockers}`);
    last = blockers;
  };
  let checking: Promise<void> | null = null;
  const timer = setInterval(() => {
    checking ??= check()
      .catch(() => undefined)
      .finally(() => {
        checking = null;
      });
  }, blockerCheckMs);
  try {
    await work();
  } finally {
    clearInterval(timer);
    await checking;
  }
}

async function findBlockers(client: pg.Client, pid: number): Promise<string> {
  const { rows } = await client.query<{ pid: number; name: string; since: Date | null }>(
    `select pid, coalesce(nullif(application_name, ''), 'unnamed') as name, xact_start as since
     from pg_stat_activity where pid = any(pg_blocking_pids($1)) order by pid`,
    [pid],
  );
  return rows
    .map(
      (row) =>
        `the database session ${row.pid} (${row.name}${row.since === null ? "" : `, in a transaction since ${row.since.toISOString()}`})`,
    )
    .join(", ");
}

/** An index that `create index concurrently` creates, or that is dropped before, in case that it is invalid. */
const indexStatement = /^(drop index concurrently if exists|create (?:unique )?index concurrently) (\w+)/m;

/**
 * Runs the statements of a migration one by one; a line `-- next` separates them. When it ends halfway, all of them run
 * again, so each must be written to succeed a second time. An index that it has built is kept then, which may have taken
 * hours.
 */
async function applyByStatement(client: pg.Client, migration: Migration): Promise<void> {
  const statements = migration.sql.split(/^-- next$/m);
  const created = statements.flatMap((statement) => createdIndex(statement) ?? []);
  const valid = await readValidIndexes(client, created);
  for (const statement of statements) {
    const name = indexStatement.exec(statement)?.[2];
    if (name === undefined || !valid.has(name)) await client.query(statement);
  }
  await recordApplied(client, migration);
}

function createdIndex(statement: string): string | undefined {
  const [, verb = "", name] = indexStatement.exec(statement) ?? [];
  return verb.startsWith("create") ? name : undefined;
}

/** Those of the indexes that exist and are complete. */
async function readValidIndexes(client: pg.Client, names: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ name: string }>(
    `select c.relname as name from pg_index i join pg_class c on c.oid = i.indexrelid
     where c.relname = any($1) and c.relnamespace = current_schema()::regnamespace and i.indisvalid`,
    [names],
  );
  return new Set(rows.map(({ name }) => name));
}

async function recordApplied(client: pg.Client, migration: Migration): Promise<void> {
  await client.query("insert into schema_migrations (number, name) values ($1, $2)", [
    migration.number,
    migration.name,
  ]);
}
