import { Kysely, PostgresDialect, type Transaction } from "kysely";
import pg from "pg";
import type { DB } from "./types.ts";

/** The database as features see it: typed statements through Kysely, hot ones as SQL text through the pool. */
export interface Database {
  readonly kysely: Kysely<DB>;
  readonly pool: pg.Pool;
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
const sessionOptions =
  "-c TimeZone=UTC -c jit=off -c statement_timeout=60000 -c idle_in_transaction_session_timeout=60000";

// Times are sent as UTC: in some time zones of the process, dates of past centuries would be off by seconds.
pg.defaults.parseInputDatesAsUTC = true;

/**
 * Opens a pool of connections. Connections are opened on demand, and a broken one is replaced.
 * @param onError called for connections that broke while idle.
 */
export function openDatabase(
  settings: ConnectionSettings,
  options: { maxConnections?: number; applicationName?: string; onError: (error: Error) => void },
): Database {
  const pool = new pg.Pool({
    ...settings,
    max: options.maxConnections ?? 16,
    options: sessionOptions,
    application_name: options.applicationName ?? "parley",
    connectionTimeoutMillis: 10_000,
    // The server's own statement_timeout does not help when the server is gone without a word.
    query_timeout: 65_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
  });
  pool.on("error", options.onError);
  // Also while in use: the running statement is rejected anyway, but without a listener the process would end.
  pool.on("connect", (client) => client.on("error", options.onError));
  const kysely = new Kysely<DB>({ dialect: new PostgresDialect({ pool }) });
  return {
    kysely,
    pool,
    async close() {
      await kysely.destroy();
      // Kysely ends the pool only if it has used it.
      if (!pool.ending) await pool.end();
    },
  };
}

/** Whether an error means that PostgreSQL could not be reached or went away, so that a retry makes sense. */
export function isConnectionError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = (error as { code?: unknown }).code;
  if (typeof code === "string") {
    // Class 08: connection exception; 57P0x: the server shuts down, crashed or starts; 53300: too many connections.
    if (/^08/.test(code) || /^57P0[1-5]$/.test(code) || code === "53300") return true;
    if (["ECONNREFUSED", "ECONNRESET", "ENOENT", "EPIPE", "ETIMEDOUT"].includes(code)) return true;
  }
  return /Connection terminated|Query read timeout|timeout exceeded when trying to connect|Client has encountered a connection error/.test(
    error.message,
  );
}
