import type { FastifyBaseLogger } from "fastify";
import type pg from "pg";
import type { DatabaseQuery } from "./database-gauges.ts";

/** A row of a query. */
type Row = Readonly<Record<string, string | number | null>>;

/** What the database says, as of the last time it was asked. */
export interface DatabaseValues {
  /** Runs the queries whose values are old. Resolves after a few seconds at the latest and never rejects. */
  refresh(): Promise<void>;
  /** Whether the database responds. */
  isUp(): boolean;
  /** The rows of a query; null if they are unknown: the database is away or the last statement failed. */
  rowsOf(query: DatabaseQuery): readonly Row[] | null;
  /** Whether the last run of the query succeeded; null before the first. */
  hasSucceeded(query: DatabaseQuery): boolean | null;
}

/** How long a scrape waits for the database: well below the ten seconds that Prometheus waits for the scrape. */
const maxWaitMs = 3000;

/** Values are at least this old before they are read again. */
const minAgeMs = 5000;

/** A statement runs at most this part of the time: one that takes a second is repeated after 100 seconds. */
const maxShare = 100;

const timeoutMs = { quick: 2000, slow: 60_000 } as const;

interface Entry {
  rows: readonly Row[] | null;
  hasSucceeded: boolean | null;
  /** When to run it again. */
  dueAt: number;
}

/**
 * Reads the queries with bounded effort: quick and slow statements one at a time each, on a connection of their own, with
 * a time limit, and cached.
 * @param pool has room for two connections; it is used for nothing else, so that a busy server can be measured.
 */
export function createDatabaseValues(
  pool: pg.Pool,
  queries: readonly DatabaseQuery[],
  log: Pick<FastifyBaseLogger, "warn">,
): DatabaseValues {
  const entries = new Map<DatabaseQuery, Entry>(
    queries.map((query) => [query, { rows: null, hasSucceeded: null, dueAt: 0 }]),
  );
  const ping = { startedAt: 0, endedAt: 0, hasSucceeded: false };

  async function checkDatabase(): Promise<boolean> {
    ping.startedAt = performance.now();
    try {
      await pool.query("select 1");
      ping.hasSucceeded = true;
    } catch (error) {
      // Once, not at every scrape.
      if (ping.hasSucceeded || ping.endedAt === 0)
        log.warn({ err: error }, "metrics: the database can't be reached");
      ping.hasSucceeded = false;
      // Once it is back, everything is read again at once.
      for (const entry of entries.values()) Object.assign(entry, { rows: null, dueAt: 0 });
    }
    ping.endedAt = performance.now();
    return ping.hasSucceeded;
  }

  async function read(query: DatabaseQuery, entry: Entry): Promise<void> {
    const limitMs = query.isSlow ? timeoutMs.slow : timeoutMs.quick;
    const startedAt = performance.now();
    try {
      // One message, which PostgreSQL runs as one transaction: the limit ends with it, also behind a connection pooler.
      const results: unknown = await pool.query(`set local statement_timeout = ${limitMs}; ${query.sql}`);
      // Of two statements there are two results, which the types of pg don't know.
      entry.rows = (results as readonly { rows: Row[] }[])[1]?.rows ?? [];
      entry.hasSucceeded = true;
    } catch (error) {
      if (entry.hasSucceeded !== false)
        log.warn({ err: error, query: query.name }, "metrics: a query failed; its values are left out");
      entry.rows = null;
      entry.hasSucceeded = false;
    }
    const now = performance.now();
    entry.dueAt = now + Math.max(minAgeMs, maxShare * (now - startedAt));
  }

  /** One after the other, and never twice at a time. */
  function createLane(isSlow: boolean): () => Promise<void> {
    const own = [...entries].filter(([query]) => (query.isSlow ?? false) === isSlow);
    let running: Promise<void> | null = null;
    async function run(): Promise<void> {
      for (const [query, entry] of own)
        if (ping.hasSucceeded && performance.now() >= entry.dueAt) await read(query, entry);
    }
    return () => {
      running ??= run().finally(() => {
        running = null;
      });
      return running;
    };
  }
  const quick = createLane(false);
  const slow = createLane(true);
  let refreshing: Promise<unknown> | null = null;

  async function refreshAll(): Promise<void> {
    const isFresh = ping.hasSucceeded && performance.now() - ping.endedAt < minAgeMs;
    if (!isFresh && !(await checkDatabase())) return;
    const slowRun = slow();
    await quick();
    // Long statements continue on their own; their values appear at a later scrape.
    await Promise.race([slowRun, delay(maxWaitMs)]);
  }

  return {
    async refresh() {
      refreshing ??= refreshAll().finally(() => {
        refreshing = null;
      });
      await Promise.race([refreshing, delay(maxWaitMs)]);
    },
    isUp: () =>
      ping.hasSucceeded && (ping.endedAt >= ping.startedAt || performance.now() - ping.startedAt < 1000),
    rowsOf(query) {
      return this.isUp() ? (entries.get(query)?.rows ?? null) : null;
    },
    hasSucceeded: (query) => entries.get(query)?.hasSucceeded ?? null,
  };
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms).unref());
}
