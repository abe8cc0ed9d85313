import type { FastifyBaseLogger } from "fastify";
import type { Sealer } from "../links/sealer.ts";
import { isAnythingDue, leaseHooks, type Release, releaseHooks, renewLeases } from "./delivery-queries.ts";
import { type DueRequest, findDue } from "./due-queries.ts";
import { fanOut, type WaitingEvents } from "./fan-out.ts";
import { gather } from "./gather.ts";
import { type LaneDependencies, runLane } from "./lane.ts";
import { createPlaces, type LaneKind } from "./lane-places.ts";
import type { HookRow } from "./queries.ts";
import { settle } from "./settle-queries.ts";
import type { HookResults } from "./settlement.ts";

export interface DeliveryDependencies
  extends Omit<LaneDependencies, "gate" | "shouldYield" | "findDue" | "settle"> {
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

/** How often to see which receivers take their time. */
const paceMs = 250;

/** How often to show that the holder of a lease lives: well within the time it is believed. */
const renewMs = 2500;

/** When something other than the receiver failed, such as the database. */
const troubleMs = 5000;

/**
 * Sends events to hooks. Three things go on by turns: events become deliveries (fan-out.ts), hooks for which
 * something is due are taken hold of, and each such hook is served by a lane of its own (lane.ts). Hooks that fail have
 * lanes apart, and so have those that take their time, so that however many of them are waited for, those that answer go
 * on at once. A hook is
 * held by one process at a time, which is what keeps first attempts in order; when that process dies, another takes the
 * hook after ten seconds, and what had no result yet is sent again.
 */
export function startDeliveries(deps: DeliveryDependencies): Deliveries {
  const { db, log, clock } = deps;
  const places = createPlaces();
  // Those that fail have their own, so that those that answer never wait behind them.
  const ways = { healthy: createWay(deps, 4), failing: createWay(deps, 1) };
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
        await fanOutAll();
        await takeHooks();
      } while (isWoken && !isStopping);
    } catch (error) {
      log.warn({ err: error }, "hooks could not be served; trying again");
    }
  }

  async function fanOutAll(): Promise<void> {
    for (let rest: WaitingEvents | null = null; !isStopping; ) {
      const done = await fanOut(db, rest);
      if (done === null || (done.count === 0 && rest === null)) return;
      if (done.count > 0) await takeHooks();
      rest = done.rest;
    }
  }

  async function takeHooks(): Promise<void> {
    for (const kind of ["healthy", "failing"] as const) {
      const { limit, except } = places.wanted(kind);
      if (limit <= 0 || isStopping) continue;
      const hooks = await leaseHooks(db.pool, {
        failing: kind === "failing",
        limit,
        now: clock.now(),
        except,
      });
      for (const hook of hooks) startLane(hook, kind);
    }
  }

  function startLane(hook: HookRow, kind: Exclude<LaneKind, "slow">): void {
    const token = hook.leased_by;
    if (token === null) throw new Error("a hook is leased with a token");
    const way = ways[kind];
    const lane = runLane({ ...deps, ...way, shouldYield: () => places.isFull(hook.id) }, hook);
    places.add(hook.id, { lane, kind, token });
    void lane.done
      .catch((error: unknown) => {
        log.error({ err: error, hookId: hook.id }, "a hook could not be served; trying again");
        return new Date(clock.now().getTime() + troubleMs);
      })
      .then((notBefore) => way.release({ hookId: hook.id, token, notBefore }))
      // The lease runs out by itself.
      .catch((error: Error) => log.warn({ err: error, hookId: hook.id }, "a hook could not be handed back"))
      .finally(() => {
        places.remove(hook.id);
        wake();
      });
  }

  async function renew(): Promise<void> {
    const asked = places.lanes();
    if (asked.length === 0) return;
    const held = await renewLeases(
      db.pool,
      asked.map(({ token }) => token),
    );
    for (const { lane, token } of asked) if (!held.has(token)) lane.end();
  }

  const poll = setInterval(wake, pollMs);
  const pace = setInterval(() => {
    if (places.sort()) wake();
  }, paceMs);
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
      clearInterval(pace);
      for (const { lane } of places.lanes()) lane.end();
      await Promise.allSettled(places.lanes().map(({ lane }) => lane.done));
      // Their hand-backs are still on the way.
      while (places.lanes().length > 0) await new Promise((resolve) => setTimeout(resolve, 10));
      clearInterval(heart);
    },
  };
}

/**
 * How lanes use the database: what many ask for at the same time is one statement.
 * @param places how many connections are used at a time.
 */
function createWay({ db, clock }: Pick<DeliveryDependencies, "db" | "clock">, places: number) {
  const gate = createGate(places);
  const looks = gather((requests: readonly DueRequest[]) => gate(() => findDue(db.pool, requests)), {
    atOnce: 2,
    most: 32,
  });
  const results = gather(
    async (all: readonly HookResults[]) => {
      await gate(() => settle(db.pool, all, clock.now()));
      return [];
    },
    { atOnce: 2, most: 64 },
  );
  const releases = gather(
    async (all: readonly Release[]) => {
      await gate(() => releaseHooks(db.pool, all));
      return [];
    },
    { atOnce: 1, most: 64 },
  );
  return { gate, findDue: looks, settle: results, release: releases };
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
