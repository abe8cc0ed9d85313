import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import pg from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { forEachConcurrent } from "../../platform/concurrency.ts";
import type { ConnectionSettings } from "../../platform/db/database.ts";
import { type Migration, readMigrations } from "../../platform/db/migrate.ts";
import { BackupDamagedError, BackupError } from "./errors.ts";
import { connectForCopy, copyConnection, type SequencePosition, type TableDescription } from "./snapshot.ts";

/** What to load, as a snapshot or a manifest describes it. */
export interface LoadSource<Table extends TableDescription> {
  readonly migration: number;
  /** The numbers of all migrations; undefined: all up to the last. */
  readonly migrations?: readonly number[] | undefined;
  readonly tables: readonly Table[];
  readonly sequences: readonly SequencePosition[];
  /** Opens the rows of a table. */
  open(table: Table): Promise<Readable>;
}

/** How to load. */
export interface LoadOptions {
  /** Drop the tables of an earlier installation first; without it, they are a BackupError. */
  readonly replace: boolean;
  /** The source is no earlier state: readers of its event feed have seen no more than it has. */
  readonly isCurrent?: boolean;
  /** The database is removed soon, so it needs no statistics. */
  readonly isTemporary?: boolean;
  /** Runs in the same transaction after everything is loaded. */
  readonly finish: (client: pg.Client) => Promise<void>;
  readonly onTable?: (name: string) => void;
}

/**
 * Creates the schema in a database and loads every table, in one transaction: an interruption at any moment leaves the
 * database as it was. Triggers are off while rows are loaded; foreign keys and indexes are created afterwards, so all keys
 * are checked.
 * @throws BackupError if the database is not empty, or the schema is newer than this program.
 */
export async function loadDatabase<Table extends TableDescription>(
  settings: ConnectionSettings,
  source: LoadSource<Table>,
  { replace, isCurrent = false, isTemporary = false, finish, onTable }: LoadOptions,
): Promise<void> {
  const client = await connectForCopy(settings);
  try {
    await client.query("begin");
    await client.query("set local maintenance_work_mem = '256MB'");
    await clearSchema(client, source.tables, replace);
    for (const migration of migrationsOf(source)) await client.query(statementsOf(migration));
    await checkColumns(client, source.tables);
    const own = source.tables.filter(({ name }) => name !== earlierJobTable);
    const postponed = await postpone(client, own);
    await removeInitialRows(client, own);
    for (const table of own) {
      onTable?.(table.name);
      const rows = await source.open(table);
      await refuseUnfit(`the rows of the table ${table.name}`, () =>
        copyInto(client, pg.escapeIdentifier(table.name), table.columns, rows, true),
      );
    }
    for (const table of source.tables.filter(({ name }) => name === earlierJobTable)) {
      onTable?.(table.name);
      const rows = await source.open(table);
      await refuseUnfit(`the rows of the table ${table.name}`, () => loadEarlierJobs(client, table, rows));
    }
    for (const { name, value } of source.sequences) {
      const gap = name === feedSequence && !isCurrent ? feedGap : 0n;
      await refuseUnfit(`the sequence ${name}`, () =>
        client.query("select setval($1::regclass, $2::bigint)", [
          pg.escapeIdentifier(name),
          String(BigInt(value) + gap),
        ]),
      );
    }
    onTable?.("indexes");
    await refuseUnfit("the keys between its tables", () => runAll(client, postponed));
    await finish(client);
    await client.query("commit");
    if (!isTemporary) await analyze(settings, source.tables);
  } finally {
    // Ends the transaction too, unless it was committed.
    await client.end();
  }
}

/** Collects the statistics that queries are planned with. @param tables the largest first. */
async function analyze(settings: ConnectionSettings, tables: readonly TableDescription[]): Promise<void> {
  const pool = new pg.Pool({ ...copyConnection(settings), max: analyzedAtOnce });
  // A connection that breaks while it is used fails its statement.
  pool.on("error", () => {});
  try {
    await forEachConcurrent(tables, analyzedAtOnce, async ({ name }) => {
      if (name !== earlierJobTable) await pool.query(`analyze ${pg.escapeIdentifier(name)}`);
    });
  } finally {
    await pool.end();
  }
}

const analyzedAtOnce = 2;

/** The queue of versions before migration 57, in backups of that time. */
const earlierJobTable = "pgboss.job";

/**
 * Positions in the event feed continue after a gap, because readers may have seen positions that the copy does not know:
 * they would miss the events that get these positions a second time.
 */
const feedSequence = "feed_positions_position_seq";
const feedGap = 1_000_000_000n;

/**
 * The migrations that create the schema.
 * @throws BackupError if this program does not know one of them.
 */
export function migrationsOf({
  migration: last,
  migrations,
}: Pick<LoadSource<never>, "migration" | "migrations">): Migration[] {
  const known = readMigrations();
  const unknown = (migrations ?? [last]).find((number) => !known.some((one) => one.number === number));
  if (unknown !== undefined)
    throw new BackupError(
      `the backup has the schema of a newer Parley (migration ${unknown}); restore it with that version or a newer one`,
    );
  return known.filter(({ number }) => migrations?.includes(number) ?? number <= last);
}

/** Classes of errors by which PostgreSQL refuses data: of values, of keys, and of names and columns. */
const unfitData = /^(?:22|23|42)/;

/** @throws BackupDamagedError in one line, if the content is what PostgreSQL refuses. */
async function refuseUnfit(what: string, load: () => Promise<unknown>): Promise<void> {
  try {
    await load();
  } catch (error) {
    if (!(error instanceof pg.DatabaseError && unfitData.test(error.code ?? ""))) throw error;
    const detail = error.detail === undefined ? "" : ` (${error.detail})`;
    throw new BackupDamagedError(
      `${what} can't be loaded: ${error.message}${detail}. The content is not as Parley writes it`,
      { cause: error },
    );
  }
}

/** Indexes of empty tables need no `concurrently`, which no transaction allows. */
function statementsOf({ sql }: Migration): string {
  return sql.replace(/\bindex concurrently\b/gi, "index");
}

/** Tables that the program's migrations create. */
function knownTables(): Set<string> {
  const names = readMigrations().flatMap(({ sql }) =>
    [...sql.matchAll(/^create (?:unlogged )?table (?:if not exists )?(\w+)/gim)].map(
      (match) => match[1] ?? "",
    ),
  );
  return new Set([...names, "schema_migrations"]);
}

/** Removes Parley's tables and functions. A database with tables of others is refused, whatever was confirmed. */
async function clearSchema(
  client: pg.Client,
  tables: readonly TableDescription[],
  replace: boolean,
): Promise<void> {
  const names = await findOwnTables(client, tables);
  const isUsed = names.includes("schema_migrations") && (await hasMigrations(client));
  if (isUsed && !replace)
    throw new BackupError(
      "the database already has an installation. Use an empty one, or add `--replace --yes` to delete its contents",
    );
  for (const name of names) await client.query(`drop table ${pg.escapeIdentifier(name)} cascade`);
  const { rows: functions } = await client.query<{ signature: string }>(`
    select p.oid::regprocedure::text as signature from pg_proc p
    where p.pronamespace = current_schema()::regnamespace and p.proname like 'parley\\_%'`);
  for (const { signature } of functions) await client.query(`drop function if exists ${signature} cascade`);
  await client.query("drop text search configuration if exists parley_search");
  // The queue of an earlier version.
  await client.query("drop schema if exists pgboss cascade");
  await client.query(
    "create table schema_migrations (number integer primary key, name text not null, applied_at timestamptz not null default now())",
  );
}

/**
 * The tables in a database into which a backup is loaded.
 * @param tables those of the backup, which a newer version may have created.
 * @throws BackupError if some are not Parley's.
 */
export async function findOwnTables(
  client: pg.ClientBase,
  tables: readonly TableDescription[],
): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(`
    select c.relname as name from pg_class c
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p')
      and not exists (select 1 from pg_depend d where d.objid = c.oid and d.deptype = 'e')`);
  const known = new Set([...knownTables(), ...tables.map(({ name }) => name)]);
  const foreign = rows.filter(({ name }) => !known.has(name)).map(({ name }) => name);
  if (foreign.length > 0)
    throw new BackupError(
      `the database has tables that are not Parley's: ${foreign.slice(0, 5).join(", ")}. Use a separate database for Parley`,
    );
  return rows.map(({ name }) => name);
}

async function hasMigrations(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query("select 1 from schema_migrations limit 1");
  return rows.length > 0;
}

/** The schema of a migration number is always the same; a difference means a damaged or forged manifest. */
async function checkColumns(client: pg.Client, tables: readonly TableDescription[]): Promise<void> {
  const { rows } = await client.query<{ name: string; columns: string[] }>(`
    select c.relname as name, array_agg(a.attname::text) as columns
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
    group by c.relname`);
  const schema = new Map(rows.map(({ name, columns }) => [name, new Set(columns)]));
  for (const { name, columns } of tables) {
    if (name === earlierJobTable) continue;
    const unknown = columns.filter((column) => !schema.get(name)?.has(column));
    if (!schema.has(name) || unknown.length > 0)
      throw new BackupError(
        `the backup is damaged: the table ${name} has columns that its schema does not have: ${unknown.join(", ")}`,
      );
  }
}

/** Up to this many rows, building a table's indexes row by row takes less time than dropping and creating them. */
const fewRows = 500;

/**
 * Switches triggers off and drops what would be checked or built for each row, where that takes longer.
 * @returns the statements that bring it back.
 */
async function postpone(client: pg.Client, own: readonly TableDescription[]): Promise<string[]> {
  const namesOf = (max: number): string[] =>
    own.filter(({ rows = Number.POSITIVE_INFINITY }) => rows <= max).map(({ name }) => name);
  const [small, empty] = [namesOf(fewRows), namesOf(0)];
  const tables = `select oid from pg_class where relnamespace = current_schema()::regnamespace and relkind = 'r'`;
  const { rows: names } = await client.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class where oid in (${tables})
       and not exists (select 1 from pg_depend d where d.objid = pg_class.oid and d.deptype = 'e')`,
  );
  const { rows: indexes } = await client.query<{ name: string; definition: string }>(
    `select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition from pg_index i
     where i.indrelid in (${tables} and relname <> all ($1))
       and not exists (select 1 from pg_constraint c where c.conindid = i.indexrelid)`,
    [small],
  );
  // Foreign keys first: they need the primary and unique keys they refer to. All of a table by one statement, because each
  // makes PostgreSQL read the table's description again.
  const { rows: keys } = await client.query<{ table: string; dropped: string; added: string }>(
    `select conrelid::regclass::text as table,
       string_agg('drop constraint ' || quote_ident(conname), ', ') as dropped,
       string_agg('add constraint ' || quote_ident(conname) || ' ' || pg_get_constraintdef(oid), ', ') as added
     from pg_constraint
     where conrelid in (${tables}) and (contype in ('p', 'u') and conrelid in (${tables} and relname <> all ($1))
       or contype = 'f' and (conrelid in (${tables} and relname <> all ($2)) or confrelid in (${tables} and relname <> all ($1))))
     group by conrelid, contype = 'f' order by contype = 'f' desc`,
    [small, empty],
  );
  await runAll(client, [
    ...names.map(({ name }) => `alter table ${name} disable trigger user`),
    ...keys.map(({ table, dropped }) => `alter table ${table} ${dropped}`),
    ...indexes.map(({ name }) => `drop index ${name}`),
  ]);
  return [
    ...indexes.map(({ definition }) => definition),
    ...keys.toReversed().map(({ table, added }) => `alter table ${table} ${added}`),
    ...names.map(({ name }) => `alter table ${name} enable trigger user`),
  ];
}

/** Removes what migrations have inserted. Tables that are empty stay as they are, because emptying one takes as long as creating it. */
async function removeInitialRows(client: pg.Client, own: readonly TableDescription[]): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class
     where relnamespace = current_schema()::regnamespace and relname = any ($1) and pg_relation_size(oid) > 0`,
    [own.map(({ name }) => name)],
  );
  // Cascades to those of the backup's empty tables that refer to them.
  if (rows.length > 0) await client.query(`truncate ${rows.map(({ name }) => name).join(", ")} cascade`);
}

/** Runs statements without parameters in one request, because hundreds of requests would take longer than the work. */
async function runAll(client: pg.Client, statements: readonly string[]): Promise<void> {
  await client.query(statements.join(";\n"));
}

async function copyInto(
  client: pg.Client,
  target: string,
  columns: readonly string[],
  rows: Readable,
  freeze: boolean,
): Promise<void> {
  const list = columns.map((column) => pg.escapeIdentifier(column)).join(", ");
  const copy = client.query(copyFrom(`copy ${target} (${list}) from stdin${freeze ? " (freeze)" : ""}`));
  await pipeline(rows, copy);
}

/** The columns of the earlier queue that `parley_take_earlier_jobs` reads, and that aren't text. */
const earlierTypes: Readonly<Record<string, string>> = {
  id: "uuid",
  data: "jsonb",
  output: "jsonb",
  blocked: "boolean",
  retry_count: "integer",
  ...{ created_on: "timestamptz", start_after: "timestamptz" },
  ...{ started_on: "timestamptz", heartbeat_on: "timestamptz" },
};

/** Creates the queue of an earlier version as a plain table, from which the migration to the present queue takes its jobs. */
async function loadEarlierJobs(client: pg.Client, table: TableDescription, rows: Readable): Promise<void> {
  const columns = [...new Set([...table.columns, ...Object.keys(earlierTypes)])];
  const typed = columns.map((name) => `${pg.escapeIdentifier(name)} ${earlierTypes[name] ?? "text"}`);
  await client.query("create schema pgboss");
  await client.query(`create table pgboss.job (${typed.join(", ")})`);
  await copyInto(client, earlierJobTable, table.columns, rows, false);
}
