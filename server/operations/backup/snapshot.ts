import { type Readable, Transform } from "node:stream";
import pg from "pg";
import { to as copyTo } from "pg-copy-streams";
import type { ConnectionSettings } from "../../platform/db/database.ts";
import { BackupError } from "./errors.ts";

/** A table of a backup. Its rows are in PostgreSQL's text format of COPY. */
export interface TableDescription {
  /** Of a table of the schema; in backups before migration 57 also `pgboss.job`, the queue of that time. */
  readonly name: string;
  /** The columns in the order of the copy. */
  readonly columns: readonly string[];
  /** How many rows it has; undefined: unknown. */
  readonly rows?: number;
}

/** The position of a sequence: the value it returned last. */
export interface SequencePosition {
  readonly name: string;
  readonly value: string;
}

/** A database as it was at one moment, read while others change it. */
export interface Snapshot {
  /** The largest first. */
  readonly tables: readonly TableDescription[];
  readonly sequences: readonly SequencePosition[];
  /** The number of the last migration. */
  readonly migration: number;
  /** The numbers of all migrations. Finishing ones may be left out. */
  readonly migrations: readonly number[];
  readonly postgresVersion: string;
  readonly installation: string;
  /** Reads a table on a connection of its own. @param onRows receives the number of rows at the end. */
  readTable(table: TableDescription, onRows: (rows: number) => void): Promise<Readable>;
  /** Rows of a query in the snapshot, fetched a page at a time. */
  rows<Row extends object>(query: string): AsyncIterable<Row>;
  close(): Promise<void>;
}

const pageSize = 5000;

/** Long work in one transaction: no limits of time. A snapshot never waits for locks of rows. */
const sessionOptions =
  "-c TimeZone=UTC -c DateStyle=ISO -c IntervalStyle=postgres -c extra_float_digits=3 -c bytea_output=hex -c statement_timeout=0 -c idle_in_transaction_session_timeout=0 -c idle_session_timeout=0";

/** How backup and restore connect. */
export function copyConnection(settings: ConnectionSettings): pg.ClientConfig {
  return { ...settings, options: sessionOptions, application_name: "parley backup", keepAlive: true };
}

/** Connects without limits of time, for backup and restore. Close it with `end`. */
export async function connectForCopy(settings: ConnectionSettings): Promise<pg.Client> {
  const client = new pg.Client(copyConnection(settings));
  // The running statement is rejected when the connection breaks; without a listener the event would end the process.
  client.on("error", () => {});
  await client.connect();
  return client;
}

/**
 * Opens a snapshot of the whole database. PostgreSQL keeps what the snapshot sees until it is closed, so close it as soon
 * as the database has been read.
 */
export async function openSnapshot(settings: ConnectionSettings): Promise<Snapshot> {
  const client = await connectForCopy(settings);
  try {
    await client.query("begin isolation level repeatable read read only");
    const { rows: exported } = await client.query<{ id: string }>("select pg_export_snapshot() as id");
    const readers = createReaders(settings, exported[0]?.id ?? "");
    const facts = await readFacts(client);
    return {
      ...facts,
      tables: await readTables(client),
      sequences: await readSequences(client),
      readTable: (table, onRows) => readTable(readers, table, onRows),
      rows: <Row extends object>(query: string) => readRows<Row>(client, query),
      async close() {
        await readers.close();
        await client.end();
      },
    };
  } catch (error) {
    await client.end();
    throw error;
  }
}

async function readFacts(
  client: pg.Client,
): Promise<Pick<Snapshot, "migration" | "migrations" | "postgresVersion" | "installation">> {
  const { rows } = await client.query<{ migrations: number[]; version: string; installation: string }>(
    `select (select array_agg(number order by number) from schema_migrations) as migrations, current_setting('server_version') as version,
       (select id from installation) as installation`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error("the database has no installation");
  const { migrations, version, installation } = row;
  return { migration: Math.max(...migrations), migrations, postgresVersion: version, installation };
}

/**
 * Every table whose rows survive a crash. Without generated columns, which PostgreSQL computes again, and without ids of
 * transactions, which mean nothing in another cluster: their default is the transaction that restores them.
 */
async function readTables(client: pg.Client): Promise<TableDescription[]> {
  const { rows } = await client.query<{ name: string; columns: string[] }>(`
    select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and c.relpersistence = 'p'
      and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' and a.atttypid <> 'xid8'::regtype
      and not exists (select 1 from pg_depend d where d.objid = c.oid and d.deptype = 'e')
    group by c.oid, c.relname order by pg_table_size(c.oid) desc, c.relname`);
  return rows;
}

async function readSequences(client: pg.Client): Promise<SequencePosition[]> {
  const { rows } = await client.query<SequencePosition>(`
    select sequencename as name, last_value::text as value from pg_sequences
    where schemaname = current_schema() and last_value is not null order by sequencename`);
  return rows;
}

/** Connections that see a snapshot. */
interface Readers {
  take(): Promise<pg.Client>;
  /** @param isUsable false closes the connection. */
  giveBack(client: pg.Client, isUsable: boolean): void;
  /** Closes those that are not taken; the others are closed when they are given back. */
  close(): Promise<void>;
}

function createReaders(settings: ConnectionSettings, snapshotId: string): Readers {
  const idle: pg.Client[] = [];
  let isClosed = false;
  return {
    async take() {
      const known = idle.pop();
      if (known !== undefined) return known;
      const client = await connectForCopy(settings);
      try {
        await client.query("begin isolation level repeatable read read only");
        await client.query(`set transaction snapshot '${snapshotId}'`);
        return client;
      } catch (error) {
        await client.end();
        throw error;
      }
    },
    giveBack(client, isUsable) {
      if (isUsable && !isClosed) idle.push(client);
      else void client.end();
    },
    async close() {
      isClosed = true;
      await Promise.all(idle.splice(0).map((client) => client.end()));
    },
  };
}

async function readTable(
  readers: Readers,
  { name, columns }: TableDescription,
  onRows: (rows: number) => void,
): Promise<Readable> {
  const client = await readers.take();
  const list = columns.map((column) => pg.escapeIdentifier(column)).join(", ");
  const copy = client.query(copyTo(`copy ${pg.escapeIdentifier(name)} (${list}) to stdout`));
  let isComplete = false;
  // The chunks are parts of a buffer that is used again.
  const owned = new Transform({
    transform: (chunk: Buffer, _encoding, done) => done(null, Buffer.from(chunk)),
    flush(done) {
      isComplete = true;
      onRows(copy.rowCount ?? 0);
      done();
    },
  });
  copy.once("error", (error) => owned.destroy(error));
  owned.once("close", () => readers.giveBack(client, isComplete));
  return copy.pipe(owned);
}

async function* readRows<Row extends object>(client: pg.Client, query: string): AsyncGenerator<Row> {
  await client.query(`declare listing no scroll cursor for ${query}`);
  try {
    for (;;) {
      const { rows } = await client.query<Row>(`fetch ${pageSize} from listing`);
      yield* rows;
      if (rows.length < pageSize) return;
    }
  } finally {
    await client.query("close listing").catch(() => undefined);
  }
}

/** @throws BackupError if a server of this installation is connected. */
export async function checkUnused(settings: ConnectionSettings): Promise<void> {
  const client = await connectForCopy(settings);
  try {
    const { rows } = await client.query<{ count: string }>(
      `select count(*) as count from pg_stat_activity
       where datname = current_database() and application_name = 'parley'`,
    );
    if (Number(rows[0]?.count) > 0)
      throw new BackupError("a server is using the configured database; stop all Parley processes first");
  } finally {
    await client.end();
  }
}
