import type { Socket } from "node:net";
import pg from "pg";
import { tracedStatement } from "../telemetry/trace.ts";
import type { ShortStatements } from "./short-statements.ts";

/** PostgreSQL's code for a change on a standby, which a primary becomes when another server has taken its role. */
export const readOnlyDatabase = "25006";

/** The part of a client's connection that the types of `pg` leave out: messages of the server. */
interface Messages {
  on(event: "parameterStatus", listener: (message: ParameterStatus) => void): void;
  on(event: "errorMessage", listener: (message: { readonly code?: string }) => void): void;
}

interface ParameterStatus {
  readonly parameterName: string;
  readonly parameterValue: string;
}

type Callback = (error: Error | null, result?: unknown) => void;

/**
 * A connection that ends when a statement gets no response within `query_timeout`: the server is gone without a word.
 *
 * For `query_timeout` and for promises, `pg` replaces the callback of a query after making it. V8 then keeps every query with
 * its result until the next collection of the whole heap, and each collection of young objects copies them.
 */
export class TimedClient extends pg.Client {
  /** The `query_timeout` of the configuration; 0: none. */
  readonly responseTimeoutMs: number;

  constructor(config?: string | pg.ClientConfig) {
    super(config);
    const { connectionParameters } = this as unknown as {
      readonly connectionParameters: { query_timeout: number };
    };
    this.responseTimeoutMs = connectionParameters.query_timeout;
    connectionParameters.query_timeout = 0;
  }

  // biome-ignore lint/suspicious/noExplicitAny: passes on every form of `query`.
  override query(...given: any[]): any {
    const query = super.query as (...values: unknown[]) => unknown;
    const [statement, values, last] = given;
    if (typeof statement?.submit === "function") return query.apply(this, given);
    const send = (callback: Callback): void => {
      let timer: NodeJS.Timeout | undefined;
      const done: Callback = (error, result) => {
        clearTimeout(timer);
        callback(error, result);
      };
      query.call(this, statement, typeof values === "function" ? undefined : values, done);
      // Not before, because an invalid statement is not sent.
      if (this.responseTimeoutMs > 0) timer = setTimeout(cut, this.responseTimeoutMs, this, "database");
    };
    const callback = typeof values === "function" ? values : last;
    if (typeof callback === "function") return send(callback);
    return new Promise((resolve, reject) => {
      send((error, result) => (error ? reject(error) : resolve(result)));
    }).catch((error: Error) => {
      // The stack of the caller instead of the socket's, as in `pg`.
      Error.captureStackTrace(error);
      throw error;
    });
  }
}

/** What `pg` calls of a query. */
interface Query {
  readonly name?: string;
  readonly text: string;
  submit(connection: Connection): Error | null;
  handleRowDescription(message: unknown): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: Connection): void;
  handleReadyForQuery(connection: Connection): void;
  handleError(error: Error, connection: Connection): void;
}

interface Connection {
  readonly stream: Socket;
  sync(): void;
}

/**
 * Two statements that PostgreSQL receives and runs together, with one response, because one Sync message follows both. The
 * second sees all that was committed before the first ran, and does not run if the first fails. Both are in one transaction.
 */
class QueryPair {
  readonly #first: Query;
  readonly #second: Query;
  #current: Query;
  /** Of values that can't be sent, which `pg` reports at once. */
  #failure: Error | null = null;

  constructor(
    first: pg.QueryConfig,
    second: pg.QueryConfig,
    done: Readonly<Record<"first" | "second", (failure: Error | undefined, result: pg.QueryResult) => void>>,
  ) {
    const notingFailure =
      (callback: typeof done.first): typeof done.first =>
      (failure, result) => {
        this.#failure = failure ?? null;
        callback(failure, result);
      };
    this.#first = makeQuery(first, notingFailure(done.first));
    this.#second = makeQuery(second, notingFailure(done.second));
    this.#current = this.#first;
  }

  get name(): string | undefined {
    return this.#current.name;
  }

  get text(): string {
    return this.#current.text;
  }

  submit(connection: Connection): Error | null {
    const { stream } = connection;
    stream.cork();
    try {
      const failure =
        this.#first.submit(Object.create(connection, { sync: { value: () => {} } })) ??
        this.#failure ??
        this.#second.submit(connection) ??
        this.#failure;
      // What has been written of the messages would get no response, or a wrong one.
      if (failure !== null) stream.destroy(failure);
      return failure;
    } finally {
      stream.uncork();
    }
  }

  handleRowDescription(message: unknown): void {
    this.#current.handleRowDescription(message);
  }

  handleDataRow(message: unknown): void {
    this.#current.handleDataRow(message);
  }

  handleCommandComplete(message: unknown, connection: Connection): void {
    this.#current.handleCommandComplete(message, connection);
    if (this.#current === this.#second) return;
    this.#first.handleReadyForQuery(connection);
    this.#current = this.#second;
  }

  handleReadyForQuery(connection: Connection): void {
    this.#second.handleReadyForQuery(connection);
  }

  handleError(error: Error, connection: Connection): void {
    if (this.#current === this.#first) this.#first.handleError(error, connection);
    this.#second.handleError(error, connection);
  }
}

/** Always in the extended protocol, in which one Sync message can follow several statements. */
function makeQuery(
  statement: pg.QueryConfig,
  callback: (failure: Error | undefined, result: pg.QueryResult) => void,
): Query {
  const config = { ...statement, queryMode: "extended" };
  return new pg.Query(config as pg.QueryConfig, callback as () => void) as unknown as Query;
}

/**
 * Sends two statements together on one connection, which saves a round trip: `QueryPair`.
 * @param db a pool whose connections are `TimedClient`s with a listener for their errors.
 * @returns the result of each.
 */
export function queryTogether(
  db: { readonly pool: pg.Pool; readonly shortStatements: ShortStatements },
  first: pg.QueryConfig,
  second: pg.QueryConfig,
): [Promise<pg.QueryResult>, Promise<pg.QueryResult>] {
  const [one, other] = [Promise.withResolvers<pg.QueryResult>(), Promise.withResolvers<pg.QueryResult>()];
  const send = (done: () => void): void =>
    db.pool.connect((error, client, release) => {
      if (client === undefined) {
        one.reject(error);
        other.reject(error);
        done();
        return;
      }
      const { responseTimeoutMs } = client as unknown as TimedClient;
      // The server's own limit is for each statement.
      const timer =
        responseTimeoutMs > 0 ? setTimeout(cut, 2 * responseTimeoutMs, client, "database") : undefined;
      let isReleased = false;
      const pair = new QueryPair(first, second, {
        first: (failure, result) => (failure ? one.reject(failure) : one.resolve(result)),
        second(failure, result) {
          if (failure) other.reject(failure);
          else other.resolve(result);
          if (isReleased) return;
          isReleased = true;
          clearTimeout(timer);
          // As in `pool.query`, a connection on which a statement has failed is not used again.
          release(failure);
          done();
        },
      });
      client.query(pair as unknown as pg.Submittable);
    });
  db.shortStatements
    .run(() => new Promise<void>(send))
    // A connection can't even be made, for example without the file of its certificate.
    .catch((error) => {
      one.reject(error);
      other.reject(error);
    });
  return [tracedStatement(first, () => one.promise), tracedStatement(second, () => other.promise)];
}

/** Ends a connection without waiting for its server. @param server for the error of statements in progress. */
export function cut(client: pg.ClientBase, server: "database" | "replica"): void {
  const { connection } = client as unknown as { readonly connection: { readonly stream: Socket } };
  connection.stream.destroy(new Error(`Connection terminated, because the ${server} does not respond`));
}

/** A connection to the server that accepts changes. Notices when it leads to a standby, so that the pool drops it. */
export class PrimaryClient extends TimedClient {
  /** Whether the server has said that it is a standby. */
  isStandby = false;

  constructor(config?: string | pg.ClientConfig) {
    super(config);
    const { connection } = this as unknown as { readonly connection: Messages };
    // PostgreSQL reports this unasked, when a session begins and when it changes.
    connection.on("parameterStatus", ({ parameterName, parameterValue }) => {
      if (parameterName === "in_hot_standby") this.isStandby = parameterValue === "on";
    });
    connection.on("errorMessage", ({ code }) => {
      if (code === readOnlyDatabase) this.isStandby = true;
    });
  }

  /** @throws an error that counts as a lost connection if the server is a standby. */
  checkPrimary(): void {
    if (this.isStandby)
      throw Object.assign(new Error("the database is a standby and refuses changes"), {
        code: readOnlyDatabase,
      });
  }
}

/**
 * A connection to a pooler in transaction mode. Each statement may run in another session of the server, which does not know
 * the statements prepared in the one before, so none is prepared by name.
 */
export class UnnamedClient extends PrimaryClient {
  /**
   * PgBouncer gives each session the time zone of the client that uses it, and a client that names none the one that the
   * first session ever had. So this is needed beside the role's setting.
   */
  getStartupConf(): Record<string, string> {
    const { getStartupConf } = pg.Client.prototype as unknown as {
      getStartupConf(this: pg.Client): Record<string, string>;
    };
    return { ...getStartupConf.call(this), TimeZone: "UTC" };
  }

  // biome-ignore lint/suspicious/noExplicitAny: passes on every form of `query`.
  override query(...[first, ...rest]: any[]): any {
    const query = super.query as (...values: unknown[]) => unknown;
    return query.call(this, isNamed(first) ? { ...first, name: undefined } : first, ...rest);
  }
}

/** A plain statement with a name; cursors and streams, which have `submit`, are passed on as they are. */
function isNamed(value: unknown): value is { readonly name: string } {
  return typeof value === "object" && value !== null && "name" in value && !("submit" in value);
}
