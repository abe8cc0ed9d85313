import type { FastifyBaseLogger } from "fastify";
import type { Sealer } from "../links/sealer.ts";
import { isAnythingDue, leaseHooks, releaseHook, renewLeases } from "./delivery-queries.ts";
import { fanOut } from "./fan-out.ts";
import { type Lane, type LaneDependencies, runLane } from "./lane.ts";
import type { HookRow } from "./queries.ts";

export interface DeliveryDependencies extends Omit<LaneDependencies, "gate" | "shouldYield"> {
  readonly sealer: Sealer;
  readonly log: FastifyBaseLogger;
}

export interface Deliveries {
  /** Hints that there may be something to do. */
  wake(): void;
  /** Starts nothing more, waits for what is on its way, and hands the rest back. */
  stop(): Promise<void>;
}

/** How long an event of another process may go unnoticed. */
const pollMs = 75;

/** Hooks that this process sends to at the same time. A lane of a hook that answers is quick; the others wait. */
const mostLanes = { healthy: 512, failing: 256 } as const;

/** How often to show that the holder of a lease lives: well within the time it is believed. */
const renewMs = 2500;

/** When something other than the receiver failed, such as the database. */
const troubleMs = 5000;

/**
 * Sends events to hooks. Three things go on by turns: events become deliveries (fan-out.ts), hooks for which
 * something is due are taken hold of, and each such hook is served by a lane of its own (lane.ts). Hooks that fail have
 * lanes apart, so that however many of them wait for their time to run out, those that answer go on at once. A hook is
 * held by one process at a time, which is what keeps first attempts in order; when that process dies, another takes the
 * hook after ten seconds, and what had no result yet is sent again.
 */
export function startDeliveries(deps: DeliveryDependencies): Deliveries {
  const { db, log, clock } = deps;
  const lanes = new Map<string, { lane: Lane; kind: keyof typeof mostLanes; token: string }>();
  // Those that fail have their own, so that those that answer never wait behind them.
  const gates = { healthy: createGate(4), failing: createGate(1) };
  let isStopping = false;
  let turning: Promise<void> | null = null;
  let isWoken = false;

  function wake(): void {
    isWoken = true;
    if (isStopping) return;
    turning ??= turn().finally(() => {
      turning = null;
    });
  }

  async function turn(): Promise<void> {
    try {
      do {
        isWoken = false;
        if (!(await isAnythingDue(db.pool, clock.now()))) continue;
        // A full batch means that there may be more.
        while (!isStopping && ((await fanOut(db)) ?? 0) > 0) await takeHooks();
        await takeHooks();
      } while (isWoken && !isStopping);
    } catch (error) {
      log.warn({ err: error }, "hooks could not be served; trying again");
    }
  }

  async function takeHooks(): Promise<void> {
    for (const kind of ["healthy", "failing"] as const) {
      const limit = mostLanes[kind] - laneCount(kind);
      if (limit <= 0 || isStopping) continue;
      const hooks = await leaseHooks(db.pool, {
        failing: kind === "failing",
        limit,
        now: clock.now(),
        except: [...lanes.keys()],
      });
      for (const hook of hooks) startLane(hook, kind);
    }
  }

  function laneCount(kind: keyof typeof mostLanes): number {
    return [...lanes.values()].filter((entry) => entry.kind === kind).length;
  }

  function startLane(hook: HookRow, kind: keyof typeof mostLanes): void {
    const token = hook.leased_by;
    if (token === null) throw new Error("a hook is leased with a token");
    const shouldYield = (): boolean => laneCount("healthy") >= mostLanes.healthy;
    const lane = runLane({ ...deps, gate: gates[kind], shouldYield }, hook);
    lanes.set(hook.id, { lane, kind, token });
    void lane.done
      .catch((error: unknown) => {
        log.error({ err: error, hookId: hook.id }, "a hook could not be served; trying again");
        return new Date(clock.now().getTime() + troubleMs);
      })
      .then((notBefore) => gates[kind](() => releaseHook(db.pool, hook.id, token, notBefore)))
      // The lease runs out by itself.
      .catch((error: Error) => log.warn({ err: error, hookId: hook.id }, "a hook could not be handed back"))
      .finally(() => {
        lanes.delete(hook.id);
        wake();
      });
  }

  async function renew(): Promise<void> {
    if (lanes.size === 0) return;
    const asked = [...lanes.values()];
    const held = await renewLeases(
      db.pool,
      asked.map(({ token }) => token),
    );
    for (const { lane, token } of asked) if (!held.has(token)) lane.end();
  }

  const poll = setInterval(wake, pollMs);
  const heart = setInterval(() => {
    renew().catch((error: Error) => log.warn({ err: error }, "could not show that hooks are being served"));
  }, renewMs);
  wake();

  return {
    wake,
    async stop() {
      isStopping = true;
      clearInterval(poll);
      await turning;
      for (const { lane } of lanes.values()) lane.end();
      await Promise.allSettled([...lanes.values()].map(({ lane }) => lane.done));
      // Their hand-backs are still on the way.
      while (lanes.size > 0) await new Promise((resolve) => setTimeout(resolve, 10));
      clearInterval(heart);
    },
  };
}

/** Lets so many pieces of work on the database go on at a time: the API needs connections of the pool as well. */
export type Gate = <T>(work: () => Promise<T>) => Promise<T>;

function createGate(places: number): Gate {
  let free = places;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  };
}
