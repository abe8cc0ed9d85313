import pg from "pg";
import { TimedClient } from "./client.ts";
import { databaseIdentity } from "./cluster.ts";
import { isConnectionError } from "./connection-errors.ts";
import { holds, type Replayed, type Requirement, StalenessBound } from "./replica-position.ts";

/** What reads of a replica need of a pool or connection. */
export interface Queryable {
  query<Row extends pg.QueryResultRow>(
    statement: string | pg.QueryConfig,
    values?: unknown[],
  ): Promise<pg.QueryResult<Row>>;
}

/** The user a read is for. */
export interface Reader {
  readonly workspaceId: string;
  readonly userId: string;
}

/** A streaming replica for reads that tolerate lag. */
export interface Replica {
  /** Reads from the replica if it is recent enough for the reader, otherwise, and after an error of the replica, from the primary. */
  read<T>(reader: Reader, work: (source: Queryable) => Promise<T>): Promise<T>;
  /** Keeps the reader from states before now. Call it after a change has been committed. */
  noteChange(reader: Reader): Promise<void>;
  /** How many bytes of changes the replica has not replayed. @throws Error if it can't be read or is not a replica. */
  measureLag(): Promise<number>;
  /** Whether the primary serves all reads for now. */
  isPaused(): boolean;
  close(): Promise<void>;
}

export interface ReplicaOptions {
  readonly primary: pg.Pool;
  readonly settings: pg.PoolConfig;
  /** Notified when the replica starts to fail, and when it can be read again (null). */
  readonly onState: (error: Error | null) => void;
}

type DatabaseError = Error & { readonly code?: string };

/** PostgreSQL's code for a statement that took longer than allowed. */
const queryCanceled = "57014";

/** A replica that has vanished without a word must not hold requests up. */
const checkTimeoutMs = 1000;

/** How long the primary serves all reads after an error of the replica. */
const pauseMs = 5000;

/** @returns a replica; connections are opened on demand, so it need not run yet. */
export function openReplica({ primary, settings, onState }: ReplicaOptions): Replica {
  const pool = new pg.Pool({ ...settings, Client: TimedClient } as pg.PoolConfig);
  pool.on("error", () => {});
  const clients = new Set<TimedClient>();
  pool.on("connect", (client) => {
    if (client instanceof TimedClient) clients.add(client);
    client.on("error", () => {});
  });
  pool.on("remove", (client) => {
    if (client instanceof TimedClient) clients.delete(client);
  });
  const staleness = new StalenessBound();
  let pausedUntil = Number.NEGATIVE_INFINITY;
  let hasFailed = false;

  function pause(error: Error): void {
    pausedUntil = performance.now() + pauseMs;
    if (!hasFailed) onState(error);
    hasFailed = true;
    // Reads in progress fail at once, and continue on the primary.
    if (isConnectionError(error)) for (const client of clients) void client.end();
  }

  /** @returns a connection to a replica that is recent enough; null: there is none. */
  async function connect(reader: Reader): Promise<pg.PoolClient | null> {
    if (performance.now() < pausedUntil) return null;
    const client = await pool.connect().catch((error: Error) => {
      pause(error);
      return null;
    });
    if (client === null) return null;
    try {
      // At the same time: the replica has replayed at least this when it is read.
      const [required, replayed] = await Promise.all([
        readRequirement(primary, reader),
        readReplayed(client),
      ]);
      const bound = staleness.next(required.now, performance.now());
      const isRecent = holds(replayed, required, bound);
      if (hasFailed) onState(null);
      hasFailed = false;
      if (isRecent) return client;
      client.release();
    } catch (error) {
      client.release(error as Error);
      pause(error as Error);
    }
    return null;
  }

  return {
    async read(reader, work) {
      const client = await connect(reader);
      if (client === null) return work(primary);
      const source = serialize(client);
      try {
        const result = await work(source.queryable);
        client.release();
        return result;
      } catch (error) {
        const failure = source.failure();
        const isBroken = failure !== null && isConnectionError(failure);
        // Other statements of the work may still use the connection.
        void source.idle().then(() => client.release(isBroken));
        // The primary would take too long as well.
        if (failure === null || failure.code === queryCanceled) throw error;
        // The replica is lost, or its replay removes what a long read still sees (40001).
        pause(failure);
        return work(primary);
      }
    },
    async noteChange({ workspaceId, userId }) {
      await primary.query({
        name: "note_change",
        text: `insert into recent_changes (workspace_id, user_id, position)
          values ($1, $2, pg_current_wal_insert_lsn())
          on conflict (workspace_id, user_id)
          do update set position = excluded.position, changed_at = excluded.changed_at`,
        values: [workspaceId, userId],
      });
    },
    async measureLag() {
      const client = await pool.connect();
      try {
        const replayed = await readReplayed(client);
        const { rows } = await primary.query<Requirement & { readonly bytes: number }>(
          `select ${databaseIdentity} as identity, '0/0' as now, null as own, null as transaction,
             greatest(0, pg_wal_lsn_diff(pg_current_wal_flush_lsn(), $1::pg_lsn))::float8 as bytes`,
          [replayed.position],
        );
        const [row] = rows;
        if (row !== undefined) holds(replayed, row, row.now);
        return row?.bytes ?? 0;
      } finally {
        client.release();
      }
    },
    isPaused: () => performance.now() < pausedUntil,
    close: () => pool.end(),
  };
}

/** The workspace's last event covers what workers did, such as turning an upload into a recording. */
async function readRequirement(primary: pg.Pool, reader: Reader): Promise<Requirement> {
  const { rows } = await primary.query<Requirement>({
    name: "replica_requirement",
    text: `select ${databaseIdentity} as identity, pg_current_wal_flush_lsn()::text as now,
        (select position::text from recent_changes
         where workspace_id = $1 and user_id = $2 and changed_at > now() - interval '1 hour') as own,
        (select xid::text from events where workspace_id = $1 order by id desc limit 1) as transaction`,
    values: [reader.workspaceId, reader.userId],
  });
  return rows[0] as Requirement;
}

/** Of a server that is no replica, such as a promoted one, nothing is known to be replayed. */
async function readReplayed(client: pg.PoolClient): Promise<Replayed> {
  // The types lack the time limit.
  const limit: object = { query_timeout: checkTimeoutMs };
  const { rows } = await client.query<Replayed>({
    ...limit,
    name: "replica_replayed",
    text: `select ${databaseIdentity} as identity,
        case when pg_is_in_recovery() then pg_last_wal_replay_lsn()::text end as position,
        pg_current_snapshot()::text as snapshot`,
  });
  return rows[0] as Replayed;
}

/** One connection for statements that are sent at the same time, and whether the database made one of them fail. */
function serialize(client: pg.PoolClient): {
  readonly queryable: Queryable;
  failure(): DatabaseError | null;
  /** Resolves when no statement is sent or waits any more. */
  idle(): Promise<unknown>;
} {
  let failure: DatabaseError | null = null;
  let last: Promise<unknown> = Promise.resolve();
  const query: Queryable["query"] = <Row extends pg.QueryResultRow>(
    statement: string | pg.QueryConfig,
    values?: unknown[],
  ) => {
    const result = last.then(() => client.query<Row>(statement, values));
    last = result.catch((error: DatabaseError) => {
      failure ??= error;
    });
    return result;
  };
  return { queryable: { query }, failure: () => failure, idle: () => last };
}
