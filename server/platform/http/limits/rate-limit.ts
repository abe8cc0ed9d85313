import type { FastifyReply } from "fastify";
import type pg from "pg";
import { defineRecurringJob } from "../../jobs/define.ts";
import { ProblemError } from "../errors/problem.ts";

/** Requests are counted per clock minute. */
const windowMs = 60_000;

/** How often the counts of this process are merged with those of the others: also how far they may lag. */
const mergeIntervalMs = 100;

interface Counter {
  readonly windowStart: number;
  /** Counted by this process. */
  own: number;
  /** How many of those the database knows. */
  ownMerged: number;
  /** What the other processes had counted at the last merge. */
  others: number;
}

/** What is left of a limit after counting one request. */
export interface Allowance {
  readonly limit: number;
  readonly remaining: number;
  readonly exceeded: boolean;
  /** Milliseconds until the count restarts. */
  readonly resetMs: number;
}

export interface RateLimiter {
  /** Counts one request of a key against a limit per minute. */
  take(key: string, limit: number): Promise<Allowance>;
  /** Takes one request of a key off this minute's count. */
  refund(key: string): void;
  /** Merges the last counts and ends. */
  close(): Promise<void>;
}

/**
 * A process counts this part of a limit alone before it asks the others, so that together they exceed it by little.
 * A limit that is high enough to matter for speed is asked about rarely.
 */
const ownShare = 0.02;

/**
 * Counts requests in memory and merges the counts into PostgreSQL, so that all processes share one limit: at once for
 * a key that is new in this minute or has used up this process's share since the last merge, otherwise every 100 ms.
 * While the database is unreachable each process uses its own counts.
 */
export function createRateLimiter(options: {
  pool: pg.Pool;
  now?: () => number;
  onError: (error: Error) => void;
}): RateLimiter {
  const now = options.now ?? Date.now;
  const counters = new Map<string, Counter>();
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;

  /** Resolves when everything counted before the call is merged; calls that come meanwhile share the next merge. */
  function merge(): Promise<void> {
    if (running === null) {
      running = mergeAll().finally(() => {
        running = null;
      });
      return running;
    }
    next ??= running.then(() => {
      next = null;
      return merge();
    });
    return next;
  }

  async function mergeAll(): Promise<void> {
    const current = windowStartAt(now());
    const changed: [string, Counter][] = [];
    for (const [key, counter] of counters) {
      if (counter.windowStart !== current) counters.delete(key);
      else if (counter.own !== counter.ownMerged) changed.push([key, counter]);
    }
    if (changed.length === 0) return;
    const counts = changed.map(([key, counter]) => ({ key, count: counter.own - counter.ownMerged }));
    // Also after a failure they count as known: an outage must not end in one long statement.
    for (const [, counter] of changed) counter.ownMerged = counter.own;
    const known = new Map(changed.map(([key, counter]) => [key, counter.ownMerged]));
    try {
      const totals = await addCounts(options.pool, new Date(current), counts);
      for (const [key, counter] of changed)
        counter.others = Math.max(counter.others, (totals.get(key) ?? 0) - (known.get(key) ?? 0));
    } catch (error) {
      options.onError(error as Error);
    }
  }

  let timer: NodeJS.Timeout | null = null;

  /** Only while something is counted: a server with nothing to do wakes for nothing. */
  function mergeSoon(): void {
    timer ??= setTimeout(() => {
      timer = null;
      void merge();
    }, mergeIntervalMs).unref();
  }

  return {
    async take(key, limit) {
      const at = now();
      const windowStart = windowStartAt(at);
      let counter = counters.get(key);
      const isNew = counter === undefined || counter.windowStart !== windowStart;
      if (counter === undefined || isNew) {
        counter = { windowStart, own: 0, ownMerged: 0, others: 0 };
        counters.set(key, counter);
      }
      counter.own += 1;
      mergeSoon();
      const position = counter.own;
      if (isNew || position - counter.ownMerged > limit * ownShare) await merge();
      const used = position + counter.others;
      return {
        limit,
        remaining: Math.max(0, limit - used),
        exceeded: used > limit,
        resetMs: windowStart + windowMs - at,
      };
    },
    refund(key) {
      const counter = counters.get(key);
      if (counter?.windowStart !== windowStartAt(now())) return;
      counter.own -= 1;
      mergeSoon();
    },
    async close() {
      if (timer !== null) clearTimeout(timer);
      await merge();
    },
  };
}

function windowStartAt(at: number): number {
  return at - (at % windowMs);
}

async function addCounts(
  pool: pg.Pool,
  windowStart: Date,
  counts: readonly { readonly key: string; readonly count: number }[],
): Promise<Map<string, number>> {
  // In key order, so that two processes merging at once take the row locks in the same order.
  const ordered = counts.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const { rows } = await pool.query<{ key: string; count: number }>({
    name: "rate_limit_merge",
    text: `insert into rate_limit_counters as c (key, window_start, count)
           select key, $1, count from unnest($2::text[], $3::integer[]) as counted (key, count)
           on conflict (key, window_start) do update set count = c.count + excluded.count
           returning key, count`,
    values: [windowStart, ordered.map(({ key }) => key), ordered.map(({ count }) => count)],
  });
  return new Map(rows.map((row) => [row.key, row.count]));
}

/** Deletes the counts of past minutes. */
export async function deleteOldCounters(pool: pg.Pool): Promise<void> {
  await pool.query("delete from rate_limit_counters where window_start < now() - interval '5 minutes'");
}

/**
 * Writes the allowance to the response headers and ends the request when it is used up.
 * @param countedFor whose requests these are, where it is not the caller's token or IP address.
 * @throws ProblemError `rate_limited` with `Retry-After` in whole seconds.
 */
export function applyAllowance(reply: FastifyReply, allowance: Allowance, countedFor = ""): void {
  reply.header("x-ratelimit-limit", allowance.limit);
  reply.header("x-ratelimit-remaining", allowance.remaining);
  if (!allowance.exceeded) return;
  const seconds = Math.max(1, Math.ceil(allowance.resetMs / 1000));
  throw new ProblemError(
    "rate_limited",
    `more than ${allowance.limit} requests in this minute${countedFor && ` ${countedFor}`}; try again in ${seconds} s`,
    {
      headers: { "retry-after": String(seconds) },
    },
  );
}

export const deleteOldRateLimitCountersKind = defineRecurringJob({
  name: "delete_old_rate_limit_counters",
  label: (i18n) => i18n.t("Delete old rate limit counters"),
  every: "1 h",
  handler: ({ db }) => deleteOldCounters(db.pool),
});
