import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyBaseLogger } from "fastify";
import pg from "pg";
import type { ConnectionSettings } from "./database.ts";

/**
 * How processes show what they use, for moves of files and of the database: by advisory locks of one session each, which
 * end with the process. First keys of these locks:
 *
 * - `serving`, shared: this process uses the database. Second key 1.
 * - `step`, shared: this process uses the stores of the step that the second key names.
 * - `mover`, exclusive: a command moves the database (second key 1) or files (2).
 */
const spaces = { serving: 0x7061_7201, step: 0x7061_7202, mover: 0x7061_7203 } as const;
const movers = { database: 1, storage: 2 } as const;

/** Notifies processes that something they follow has changed: moves, or settings. */
export const followChannel = "parley_moves";

/** How often to check without a notification, also while a move runs. */
const checkMs = 5000;
const movingCheckMs = 500;

/** Pause before connecting again. */
const retryMs = 1000;

const timeoutMs = 10_000;

const ownDatabase = "database = (select oid from pg_database where datname = current_database())";

/** What a process reads about moves. */
interface MoveState {
  readonly step: number;
  /** A command moves the database at this moment. */
  readonly isMoving: boolean;
  /** Where the database was moved to; null: it is in use. */
  readonly movedTo: string | null;
}

/** What a process does about moves. A handler that rejects is called again. */
export interface MoveHandlers {
  /** Stops using the database; called again while that lasts. @param movedTo null: it is being moved. */
  readonly pause: (movedTo: string | null) => Promise<void>;
  /** Uses the database again, because the move did not happen. */
  readonly resume: () => Promise<void>;
  /** Uses the stores that the database names. @returns their step. */
  readonly followStores: () => Promise<number>;
  /** Uses the settings of the database; called at each notification, every few seconds, and after each new connection. */
  readonly followSettings: () => Promise<void>;
}

/** The locks of a session. */
interface Held {
  isServing: boolean;
  step: number | null;
}

/** This process's session. */
export interface Presence {
  stop(): Promise<void>;
}

/**
 * Shows that this process uses the database, and follows moves. Resolves when the process may use the database: during a
 * move of the database it waits.
 * @param options.settings lead past a pooler: the session holds locks.
 * @throws the error of a handler while it starts.
 */
export async function startPresence(
  { settings, log }: { readonly settings: ConnectionSettings; readonly log: FastifyBaseLogger },
  handlers: MoveHandlers,
): Promise<Presence> {
  const stopping = new AbortController();
  const stopped = Promise.withResolvers<false>();
  let interrupt = Promise.withResolvers<void>();
  let isPaused = false;
  let hasStarted = false;
  /** The oldest step of which this process may still use a store, whatever becomes of its session; null: none. */
  let usedStep: number | null = null;

  async function rest(ms: number): Promise<void> {
    const timer = setTimeout(interrupt.resolve, ms);
    await interrupt.promise;
    clearTimeout(timer);
    interrupt = Promise.withResolvers<void>();
  }

  /** Follows until nothing differs. @returns whether the process uses the database now. */
  async function follow(client: pg.Client, held: Held): Promise<boolean> {
    for (;;) {
      const { step, isMoving, movedTo } = await readState(client);
      if (isMoving || movedTo !== null) {
        await handlers.pause(movedTo);
        isPaused = true;
        if (held.isServing) await unlockShared(client, spaces.serving, 1);
        held.isServing = false;
        return false;
      }
      // Each lock is taken before the state is read again, so that a command which waits for processes sees this one.
      if (!held.isServing) {
        await lockShared(client, spaces.serving, 1);
        held.isServing = true;
      } else if (held.step !== step) {
        if (!(await followStores(client, held))) return false;
      } else {
        if (isPaused) await handlers.resume();
        isPaused = false;
        await handlers.followSettings();
        return true;
      }
    }
  }

  /** @returns false if the stores of the database can't be used: then the process keeps the former ones, and their lock. */
  async function followStores(client: pg.Client, held: Held): Promise<boolean> {
    let followed: number;
    try {
      followed = await handlers.followStores();
    } catch (error) {
      if (!hasStarted) throw error;
      log.error({ err: error }, "the file stores of the database can't be used; keeping the former ones");
      return false;
    }
    usedStep = followed;
    await lockShared(client, spaces.step, followed);
    if (held.step !== null) await unlockShared(client, spaces.step, held.step);
    held.step = followed;
    return true;
  }

  /** @param onServing called whenever the process may use the database. */
  async function watch(onServing: () => void): Promise<void> {
    const client = new pg.Client({
      ...settings,
      application_name: "parley",
      keepAlive: true,
      connectionTimeoutMillis: timeoutMs,
      query_timeout: timeoutMs,
    });
    const lost = Promise.withResolvers<never>();
    lost.promise.catch(() => {});
    client.on("error", lost.reject);
    client.on("end", () => lost.reject(new Error("Connection terminated")));
    client.on("notification", () => interrupt.resolve());
    try {
      await client.connect();
      // First of all, so that commands see which stores this process still uses.
      const held: Held = { isServing: false, step: usedStep };
      if (held.step !== null) await lockShared(client, spaces.step, held.step);
      await client.query(`listen ${followChannel}`);
      while (!stopping.signal.aborted) {
        // Following may wait for writes in flight.
        const following = follow(client, held);
        const isServing = await Promise.race([following, lost.promise, stopped.promise]);
        if (isServing) onServing();
        if (!stopping.signal.aborted)
          await Promise.race([rest(isServing || !isPaused ? checkMs : movingCheckMs), lost.promise]);
      }
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  const started = Promise.withResolvers<void>();
  const running = (async () => {
    while (!stopping.signal.aborted) {
      const connectedAt = performance.now();
      try {
        await watch(() => {
          hasStarted = true;
          started.resolve();
        });
      } catch (error) {
        if (!hasStarted) {
          started.reject(error);
          return;
        }
        log.debug({ err: error }, "the connection for moves is lost; connecting again");
        // Commands don't see this process meanwhile.
        if (performance.now() - connectedAt > retryMs) continue;
        await sleep(retryMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      }
    }
  })();
  const stop = async (): Promise<void> => {
    stopping.abort();
    stopped.resolve(false);
    interrupt.resolve();
    await running;
  };
  await started.promise;
  return { stop };
}

async function readState(client: pg.Client): Promise<MoveState> {
  const { rows } = await client.query<{ step: number; moved_to: string | null; is_moving: boolean }>({
    name: "move_state",
    text: `select store_step as step, moved_to, exists (${holdersOf(`objid = ${movers.database}`, "mover")}) as is_moving
     from installation`,
  });
  const [row] = rows;
  if (row === undefined) throw new Error("the table installation has lost its row");
  return { step: row.step, isMoving: row.is_moving, movedTo: row.moved_to };
}

function holdersOf(condition: string, space: keyof typeof spaces): string {
  return `select pid from pg_locks where locktype = 'advisory' and objsubid = 2 and granted and ${ownDatabase}
    and classid = ${spaces[space]}::oid and ${condition}`;
}

async function lockShared(client: pg.Client, space: number, key: number): Promise<void> {
  await client.query("select pg_advisory_lock_shared($1, $2)", [space, key]);
}

async function unlockShared(client: pg.Client, space: number, key: number): Promise<void> {
  await client.query("select pg_advisory_unlock_shared($1, $2)", [space, key]);
}

/** Takes the lock of a command that moves something, for its session. @returns false if another command has it. */
export async function takeMoverLock(client: pg.ClientBase, what: keyof typeof movers): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>("select pg_try_advisory_lock($1, $2) as taken", [
    spaces.mover,
    movers[what],
  ]);
  return rows[0]?.taken ?? false;
}

export async function releaseMoverLock(client: pg.ClientBase, what: keyof typeof movers): Promise<void> {
  await client.query("select pg_advisory_unlock($1, $2)", [spaces.mover, movers[what]]);
}

/** Notifies all processes that they should read the state again. */
export async function announceMove(client: pg.ClientBase): Promise<void> {
  await client.query("select pg_notify($1, '')", [followChannel]);
}

/** A process that has not followed yet. */
export interface Laggard {
  readonly pid: number;
  /** IP address of its connection; null: the same machine. */
  readonly address: string | null;
}

/** Processes that use the stores of an earlier step. */
export function findLaggards(client: pg.ClientBase, step: number): Promise<Laggard[]> {
  return findHolders(client, holdersOf(`objid < ${step}`, "step"));
}

/** Processes that use the database. */
export function findServing(client: pg.ClientBase): Promise<Laggard[]> {
  return findHolders(client, holdersOf("true", "serving"));
}

async function findHolders(client: pg.ClientBase, holders: string): Promise<Laggard[]> {
  const { rows } = await client.query<Laggard>(
    `select pid, host(client_addr) as address from pg_stat_activity where pid in (${holders})`,
  );
  return rows;
}
