import type { FastifyBaseLogger } from "fastify";
import { coalesce } from "../../../platform/coalesce.ts";
import type { Encryptor } from "../../../platform/crypto/encryptor.ts";
import type { HookRow } from "../api/queries.ts";
import { type DueRequest, findDue } from "../deliveries/due.ts";
import { fanOut, type WaitingEvents } from "../deliveries/fan-out.ts";
import { isAnythingDue, leaseHooks, type Release, releaseHooks, renewLeases } from "../deliveries/leases.ts";
import { type HookResults, saveResults } from "../deliveries/save-results.ts";
import { type HookWorkerDependencies, runHookWorker } from "./hook-worker.ts";
import { createSemaphore } from "./semaphore.ts";
import { createWorkerSlots, type WorkerKind } from "./worker-slots.ts";

export interface DeliveryDependencies
  extends Omit<HookWorkerDependencies, "semaphore" | "shouldYield" | "findDue" | "saveResults"> {
  readonly encryptor: Encryptor;
  readonly log: FastifyBaseLogger;
  /** Whether background work is asleep until it is woken. */
  readonly isAsleep?: () => boolean;
  /** Whether deliveries are created but not sent for now; without it, they are sent. */
  readonly isHeldBack?: () => Promise<boolean>;
}

export interface Deliveries {
  /** Hints that there may be something to do. */
  wake(): void;
  /** Starts nothing more, waits for what is in flight, and releases all hooks. */
  stop(): Promise<void>;
}

/** How long an event of another process may go unnoticed. */
const pollMs = 75;

/** How often to check which receivers are slow. */
const sortMs = 250;

/** How often to renew leases: well within their ten seconds. */
const renewMs = 2500;

/** The pause after a failure that is not the receiver's, such as a lost database connection. */
const retryMs = 5000;

/**
 * Sends events to hooks. Each turn creates deliveries of waiting events (deliveries/fan-out.ts), leases hooks for which
 * something is due (deliveries/leases.ts), and starts a hook worker for each (hook-worker.ts). Failing and slow hooks have
 * limits of their own, so that however many of them wait, healthy ones are served at once. A hook is leased by one process
 * at a time, which keeps first attempts in order; when that process dies, another one leases the hook after ten seconds and
 * sends again what has no saved result.
 */
export function startDeliveries(deps: DeliveryDependencies): Deliveries {
  const { db, log, clock } = deps;
  const slots = createWorkerSlots();
  // Failing hooks have their own queries, so that healthy ones never wait behind them.
  const queries = { healthy: createSharedQueries(deps, 4), failing: createSharedQueries(deps, 1) };
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
        await fanOutAll();
        await startWorkers();
      } while (isWoken && !isStopping);
    } catch (error) {
      log.warn({ err: error }, "could not look for due webhooks; trying again");
    }
  }

  async function fanOutAll(): Promise<void> {
    for (let rest: WaitingEvents | null = null; !isStopping; ) {
      const done = await fanOut(db, rest);
      if (done === null || (done.count === 0 && rest === null)) return;
      if (done.count > 0) await startWorkers();
      rest = done.rest;
    }
  }

  async function startWorkers(): Promise<void> {
    if (await deps.isHeldBack?.()) return;
    for (const kind of ["healthy", "failing"] as const) {
      const { limit, except } = slots.wanted(kind);
      if (limit <= 0 || isStopping) continue;
      const hooks = await leaseHooks(db.pool, {
        failing: kind === "failing",
        limit,
        now: clock.now(),
        except,
      });
      for (const hook of hooks) startWorker(hook, kind);
    }
  }

  function startWorker(hook: HookRow, kind: Exclude<WorkerKind, "slow">): void {
    const token = hook.leased_by;
    if (token === null) throw new Error("a leased hook has a token");
    const { release, ...shared } = queries[kind];
    const worker = runHookWorker({ ...deps, ...shared, shouldYield: () => slots.isFull(hook.id) }, hook);
    slots.add(hook.id, { worker, kind, token });
    void worker.done
      .catch((error: unknown) => {
        log.error({ err: error, hookId: hook.id }, "could not send to a webhook; trying again");
        return new Date(clock.now().getTime() + retryMs);
      })
      .then((notBefore) => release({ hookId: hook.id, token, notBefore }))
      // The lease expires.
      .catch((error: Error) => log.warn({ err: error, hookId: hook.id }, "could not release a webhook"))
      .finally(() => {
        slots.remove(hook.id);
        wake();
      });
  }

  async function renew(): Promise<void> {
    const asked = slots.all();
    if (asked.length === 0) return;
    const held = await renewLeases(
      db.pool,
      asked.map(({ token }) => token),
    );
    for (const { worker, token } of asked) if (!held.has(token)) worker.end();
  }

  const poll = setInterval(() => {
    if (!deps.isAsleep?.()) wake();
  }, pollMs);
  const sort = setInterval(() => {
    if (slots.sort()) wake();
  }, sortMs);
  const heartbeat = setInterval(() => {
    renew().catch((error: Error) => log.warn({ err: error }, "could not renew the leases of webhooks"));
  }, renewMs);
  wake();

  return {
    wake,
    async stop() {
      isStopping = true;
      clearInterval(poll);
      await turning;
      clearInterval(sort);
      for (const { worker } of slots.all()) worker.end();
      await Promise.allSettled(slots.all().map(({ worker }) => worker.done));
      // Their releases are still in flight.
      while (slots.all().length > 0) await new Promise((resolve) => setTimeout(resolve, 10));
      clearInterval(heartbeat);
    },
  };
}

/**
 * The database queries of hook workers: what many ask for at the same time is one statement.
 * @param connections how many are used at a time, since the API needs connections of the pool too.
 */
function createSharedQueries({ db, clock }: Pick<DeliveryDependencies, "db" | "clock">, connections: number) {
  const semaphore = createSemaphore(connections);
  return {
    semaphore,
    findDue: coalesce((requests: readonly DueRequest[]) => semaphore(() => findDue(db.pool, requests)), {
      concurrency: 2,
      maxItems: 32,
    }),
    saveResults: coalesce(
      async (all: readonly HookResults[]) => {
        await semaphore(() => saveResults(db.pool, all, clock.now()));
        return [];
      },
      { concurrency: 2, maxItems: 64 },
    ),
    release: coalesce(
      async (all: readonly Release[]) => {
        await semaphore(() => releaseHooks(db.pool, all));
        return [];
      },
      { concurrency: 1, maxItems: 64 },
    ),
  };
}
