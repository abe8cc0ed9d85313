import type { FastifyBaseLogger } from "fastify";
import pg from "pg";
import type { Database } from "../db/database.ts";

/** The lock and the channel of parley_work_added(). */
const sleepLock = 7_271_539_026;
const channel = "parley_work";

/** How often a worker that is awake checks whether there is anything to stay awake for. */
const checkMs = 1000;

/** Work that is due this soon is waited for awake. */
const soonMs = 2000;

/** How long a sleeping worker trusts notifications before it checks without one. */
const maxSleepMs = 5000;

/** How long to poll before trying notifications again. */
const retryMs = 30_000;

/** A connection that takes longer than this counts as broken. */
const timeoutMs = 5000;

/** Milliseconds until work of one kind is due: 0 or less when it waits, Infinity when there is none. */
export type DueCheck = (client: pg.ClientBase) => Promise<number>;

/** Notifies a worker's pollers when to rest. */
export interface Sleep {
  isAsleep(): boolean;
  /** Wakes the worker, because this process knows of work. */
  wake(): void;
  stop(): Promise<void>;
}

/**
 * Puts a worker to sleep when no work is due, and wakes it when any process adds work, when work becomes due by time, and
 * when a check every five seconds finds work. Awake, its pollers poll; they also do while notifications don't arrive,
 * because the connection is lost or leads to a pooler, which has no LISTEN.
 *
 * A sleeping worker holds `sleepLock`, which makes processes that add work notify it. Of several sleeping
 * workers one holds the lock, and notifies the others when it wakes for another reason than a notification.
 * @param onWake starts the pollers at once.
 */
export function startSleep(options: {
  readonly db: Pick<Database, "pool" | "session">;
  readonly log: FastifyBaseLogger;
  readonly dueChecks: readonly DueCheck[];
  readonly onWake: () => void;
}): Sleep {
  const { log, dueChecks, onWake } = options;
  const { pool, session } = options.db;
  let isAsleep = false;
  let isStopping = false;
  let wakes = 0;
  let notifications = 0;
  let interrupt = Promise.withResolvers<void>();

  function wake(): void {
    wakes += 1;
    // Awake, it is called for each new job: checking what is due each time would load the database for nothing.
    if (!isAsleep) return;
    isAsleep = false;
    interrupt.resolve();
    onWake();
  }

  /** Resolves after the time, or earlier when the worker wakes, a notification arrives or the worker stops. */
  async function rest(ms: number): Promise<void> {
    interrupt = Promise.withResolvers<void>();
    if (isStopping) return;
    const timer = setTimeout(interrupt.resolve, ms);
    await interrupt.promise;
    clearTimeout(timer);
  }

  async function msUntilDue(client: pg.Client): Promise<number> {
    let soonest = Number.POSITIVE_INFINITY;
    for (const check of dueChecks) soonest = Math.min(soonest, await check(client));
    return soonest;
  }

  async function listen(): Promise<void> {
    const client = new pg.Client({
      ...session,
      connectionTimeoutMillis: timeoutMs,
      query_timeout: timeoutMs,
    });
    const lost = Promise.withResolvers<never>();
    lost.promise.catch(() => {});
    client.on("error", lost.reject);
    client.on("end", () => lost.reject(new Error("the connection ended")));
    client.on("notification", () => {
      notifications += 1;
      wake();
      interrupt.resolve();
    });
    try {
      await client.connect();
      await client.query(`listen ${channel}`);
      await Promise.race([proveNotifications(), lost.promise]);
      while (!isStopping) {
        await Promise.race([rest(checkMs), lost.promise]);
        if (!isStopping) await Promise.race([sleepIfIdle(client), lost.promise]);
      }
    } finally {
      wake();
      await client
        .end()
        .catch((error: Error) => log.debug({ err: error }, "a lost connection did not close"));
    }
  }

  /** Notifies from another connection, since a pooler may hand a connection its own notification only. */
  async function proveNotifications(): Promise<void> {
    const before = notifications;
    await pool.query("select pg_notify($1, '')", [channel]);
    const deadline = performance.now() + timeoutMs;
    while (notifications === before && !isStopping) {
      const leftMs = deadline - performance.now();
      if (leftMs <= 0) throw new Error("notifications don't arrive");
      await rest(leftMs);
    }
  }

  async function sleepIfIdle(client: pg.Client): Promise<void> {
    if ((await msUntilDue(client)) < soonMs) return;
    const wakesBefore = wakes;
    let notificationsBefore = notifications;
    let hold = await holdLock(client);
    // Only now is all work visible that was added without a notification.
    let dueMs = await msUntilDue(client);
    if (hold !== "none" && dueMs >= soonMs && wakes === wakesBefore && !isStopping) {
      isAsleep = true;
      while (isAsleep) {
        notificationsBefore = notifications;
        await rest(Math.min(dueMs, maxSleepMs));
        if (!isAsleep) break;
        hold = await holdLock(client);
        dueMs = await msUntilDue(client);
        if (dueMs <= 0 || hold === "none") wake();
      }
    }
    if (hold !== "own") return;
    await client.query("select pg_advisory_unlock_all()");
    const isKnownToOthers = notifications > notificationsBefore;
    if (!isKnownToOthers) await client.query("select pg_notify($1, '')", [channel]);
  }

  const running = (async () => {
    while (!isStopping) {
      await listen().catch((error: Error) =>
        log.debug({ err: error }, "no notifications of new work; polling for it"),
      );
      for (const end = performance.now() + retryMs; !isStopping && performance.now() < end; )
        await rest(end - performance.now());
    }
  })();

  return {
    isAsleep: () => isAsleep,
    wake,
    async stop() {
      isStopping = true;
      wake();
      interrupt.resolve();
      await running;
    },
  };
}

/** @returns who holds the lock for sleeping workers: this connection, another worker's, or none because work is being added. */
async function holdLock(client: pg.Client): Promise<"own" | "other" | "none"> {
  const held = async (name: string): Promise<boolean> => {
    const { rows } = await client.query<{ held: boolean }>(`select ${name}($1) as held`, [sleepLock]);
    return rows[0]?.held ?? false;
  };
  if (await held("pg_try_advisory_lock")) return "own";
  // Writers share the lock, so only another sleeping worker refuses this one.
  if (!(await held("pg_try_advisory_lock_shared"))) return "other";
  await client.query("select pg_advisory_unlock_shared($1)", [sleepLock]);
  return "none";
}
