import type { FastifyReply } from "fastify";
import type pg from "pg";
import { ProblemError } from "./problem.ts";

/** Requests are counted per clock minute. */
const windowMs = 60_000;

/** How often the counts of this process are merged with those of the others: also how far they may lag. */
const mergeIntervalMs = 100;

interface Counter {
  readonly windowStart: number;
  /** What all processes had counted at the last merge, ours included. */
  merged: number;
  /** Sent to the database, answer not here yet. */
  merging: number;
  /** Counted since. */
  fresh: number;
}

/** What is left of a limit after counting one request. */
export interface Allowance {
  readonly limit: number;
  readonly remaining: number;
  readonly exceeded: boolean;
  /** Milliseconds until the count starts anew. */
  readonly resetMs: number;
}

export interface RateLimiter {
  /** Counts one request of a key against a limit per minute. Answers from memory; never waits. */
  take(key: string, limit: number): Allowance;
  /** Merges the last counts and ends. */
  close(): Promise<void>;
}

/**
 * Counts requests in memory and merges the counts into PostgreSQL every 100 ms, so that all processes share one
 * limit at a hundredth of the cost of asking the database each time. While the database is away each process goes
 * on with its own counts.
 */
export function createRateLimiter(options: {
  pool: pg.Pool;
  now?: () => number;
  onError: (error: Error) => void;
}): RateLimiter {
  const now = options.now ?? Date.now;
  const counters = new Map<string, Counter>();
  let merge: Promise<void> = Promise.resolve();
  let isMerging = false;
  const timer = setInterval(() => {
    if (!isMerging) merge = mergeAll();
  }, mergeIntervalMs);
  timer.unref();

  async function mergeAll(): Promise<void> {
    const current = windowStartAt(now());
    const changed: [string, Counter][] = [];
    for (const [key, counter] of counters) {
      if (counter.windowStart !== current) counters.delete(key);
      else if (counter.fresh > 0) changed.push([key, counter]);
    }
    if (changed.length === 0) return;
    isMerging = true;
    for (const [, counter] of changed) {
      counter.merging = counter.fresh;
      counter.fresh = 0;
    }
    try {
      const totals = await addCounts(options.pool, new Date(current), changed);
      for (const [key, counter] of changed) {
        counter.merged = totals.get(key) ?? counter.merged + counter.merging;
        counter.merging = 0;
      }
    } catch (error) {
      for (const [, counter] of changed) {
        counter.fresh += counter.merging;
        counter.merging = 0;
      }
      options.onError(error as Error);
    } finally {
      isMerging = false;
    }
  }

  return {
    take(key, limit) {
      const at = now();
      const windowStart = windowStartAt(at);
      let counter = counters.get(key);
      if (counter === undefined || counter.windowStart !== windowStart) {
        counter = { windowStart, merged: 0, merging: 0, fresh: 0 };
        counters.set(key, counter);
      }
      counter.fresh += 1;
      const used = counter.merged + counter.merging + counter.fresh;
      return {
        limit,
        remaining: Math.max(0, limit - used),
        exceeded: used > limit,
        resetMs: windowStart + windowMs - at,
      };
    },
    async close() {
      clearInterval(timer);
      await merge;
      await mergeAll();
    },
  };
}

function windowStartAt(at: number): number {
  return at - (at % windowMs);
}

async function addCounts(
  pool: pg.Pool,
  windowStart: Date,
  changed: readonly [string, Counter][],
): Promise<Map<string, number>> {
  // In key order, so that two processes merging at once take the row locks in the same order.
  const ordered = [...changed].sort(([a], [b]) => (a < b ? -1 : 1));
  const { rows } = await pool.query<{ key: string; count: number }>({
    name: "rate_limit_merge",
    text: `insert into rate_limit_counters as c (key, window_start, count)
           select key, $1, count from unnest($2::text[], $3::integer[]) as counted (key, count)
           on conflict (key, window_start) do update set count = c.count + excluded.count
           returning key, count`,
    values: [windowStart, ordered.map(([key]) => key), ordered.map(([, counter]) => counter.merging)],
  });
  return new Map(rows.map((row) => [row.key, row.count]));
}

/** Counts of minutes that are over. */
export async function deleteOldCounters(pool: pg.Pool): Promise<void> {
  await pool.query("delete from rate_limit_counters where window_start < now() - interval '5 minutes'");
}

/**
 * Writes the allowance into the answer's headers and ends the request when it is used up.
 * @throws ProblemError `rate_limited` with `Retry-After` in whole seconds.
 */
export function applyAllowance(reply: FastifyReply, allowance: Allowance): void {
  reply.header("x-ratelimit-limit", allowance.limit);
  reply.header("x-ratelimit-remaining", allowance.remaining);
  if (!allowance.exceeded) return;
  const seconds = Math.max(1, Math.ceil(allowance.resetMs / 1000));
  throw new ProblemError(
    "rate_limited",
    `more than ${allowance.limit} requests in this minute; try again in ${seconds} s`,
    {
      headers: { "retry-after": String(seconds) },
    },
  );
}
