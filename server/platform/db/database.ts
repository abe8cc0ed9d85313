import { Kysely, PostgresDialect, type Transaction } from "kysely";
import pg from "pg";
import { checkPrimary, PreparingClient, UnnamedClient } from "./client.ts";
import { openReplica, type Queryable, type Reader, type Replica } from "./replica.ts";
import type { DB } from "./types.ts";

/** The database as features see it: typed statements through Kysely, hot ones as SQL text through the pool. */
export interface Database {
  readonly kysely: Kysely<DB>;
  readonly pool: pg.Pool;
  /** For a connection of its own that keeps a session: past a pooler, for LISTEN and locks of sessions. */
  readonly session: pg.ClientConfig;
  /** For reads that tolerate lag; null: there is none. */
  readonly replica: Replica | null;
  close(): Promise<void>;
}

/** A transaction in progress. What must happen atomically takes one of these, so it can't run outside. */
export type Tx = Transaction<DB>;

/** Anything that can run a typed statement. */
export type Executor = Kysely<DB>;

/** How to reach PostgreSQL: a connection string, or the embedded server's socket. */
export type ConnectionSettings = Pick<
  pg.PoolConfig,
  "connectionString" | "host" | "port" | "user" | "password" | "database"
>;

/** Session settings that the SQL of this program relies on, whatever the server's defaults are. */
export const sessionSettings: Readonly<Record<string, string>> = {
  TimeZone: "UTC",
  jit: "off",
  statement_timeout: "60000",
  idle_in_transaction_session_timeout: "60000",
};

const sessionOptions = Object.entries(sessionSettings)
  .map(([name, value]) => `-c ${name}=${value}`)
  .join(" ");

export interface OpenOptions {
  readonly maxConnections?: number;
  readonly applicationName?: string;
  /** Past the pooler, if `settings` lead to one in transaction mode (pooler.ts); absent: without a pooler. */
  readonly direct?: ConnectionSettings;
  readonly replica?: {
    readonly settings: ConnectionSettings;
    /** Notified when the replica starts to fail, and when it can be read again (null). */
    readonly onState: (error: Error | null) => void;
  };
  /** Called for connections that broke while idle. */
  readonly onError: (error: Error) => void;
}

// Times are sent as UTC: in some time zones of the process, dates of past centuries would be off by seconds.
pg.defaults.parseInputDatesAsUTC = true;

/** Opens a pool of connections. Connections are opened on demand, and a broken one is replaced. */
export function openDatabase(settings: ConnectionSettings, options: OpenOptions): Database {
  const { direct } = options;
  const application_name = options.applicationName ?? "parley";
  const shared = {
    max: options.maxConnections ?? 16,
    application_name,
    // The server's own statement_timeout does not help when the server is gone without a word.
    query_timeout: 65_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
  };
  const pool = new pg.Pool({
    ...shared,
    // A new connection costs as much as what a server with nothing to do asks in it: it knows no table and no plan yet.
    min: 2,
    ...settings,
    // Poolers don't pass these on: there, the role has the settings.
    ...(direct === undefined ? { options: sessionOptions } : {}),
    Client: direct === undefined ? PreparingClient : UnnamedClient,
    connectionTimeoutMillis: 10_000,
    async onConnect(client) {
      // PgBouncer gives each session the time zone of the client that uses it, and a client that names none the one that
      // the first session ever had. So this is needed beside the role's setting.
      if (direct !== undefined) await client.query("set TimeZone = 'UTC'");
      await checkPrimary(client);
    },
  } as pg.PoolConfig);
  pool.on("error", options.onError);
  // Also while in use: the running statement is rejected anyway, but without a listener the process would end.
  pool.on("connect", (client) => client.on("error", options.onError));
  const kysely = new Kysely<DB>({ dialect: new PostgresDialect({ pool }) });
  const replica =
    options.replica === undefined
      ? null
      : openReplica({
          primary: pool,
          // The primary is there instead, so a replica is not waited for.
          settings: {
            ...shared,
            ...options.replica.settings,
            options: sessionOptions,
            connectionTimeoutMillis: 1000,
          },
          onState: options.replica.onState,
        });
  return {
    replica,
    kysely,
    pool,
    session: { ...(direct ?? settings), options: sessionOptions, application_name, keepAlive: true },
    async close() {
      await replica?.close();
      await kysely.destroy();
      // Kysely ends the pool only if it has used it.
      if (!pool.ending) await pool.end();
    },
  };
}

/** Where reads may go. */
export interface ReadSources {
  readonly pool: Queryable;
  readonly replica: Replica | null;
}

/**
 * Reads what may be a little old for others, but not for the reader: from the replica, if there is one.
 * @param reader null: an operator, who reads from the primary.
 */
export function readFor<T>(
  db: ReadSources,
  reader: Reader | null,
  work: (source: Queryable) => Promise<T>,
): Promise<T> {
  return db.replica === null || reader === null ? work(db.pool) : db.replica.read(reader, work);
}
