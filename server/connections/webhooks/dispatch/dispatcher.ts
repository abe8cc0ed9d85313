import type { FastifyBaseLogger } from "fastify";
import { coalesce } from "../../../platform/coalesce.ts";
import { createSemaphore } from "../../../platform/concurrency.ts";
import { type AddDeliveries, fanOut } from "../deliveries/fan-out.ts";
import {
  findWork,
  isWebhook,
  isWithinLease,
  type LeasedHook,
  leaseHooks,
  type Release,
  releaseHooks,
} from "../deliveries/leases.ts";
import { type DeliveryResult, saveResults } from "../deliveries/save-results.ts";
import { type BatchDependencies, type SentBatch, sendBatch } from "./send-batch.ts";

/** What is sent besides webhooks, by rows of hooks of another type. */
interface OtherDeliveries {
  /** Creates deliveries of events. */
  readonly add: AddDeliveries;
  /** Sends what is due to a leased hook. */
  readonly send: (hook: LeasedHook) => Promise<SentBatch>;
}

export interface DeliveryDependencies extends Omit<BatchDependencies, "semaphore" | "save" | "mayStart"> {
  readonly log: FastifyBaseLogger;
  /** Whether background work is asleep until it is woken. */
  readonly isAsleep?: () => boolean;
  /** Whether deliveries are created but not sent for now; without it, they are sent. */
  readonly isHeldBack?: () => Promise<boolean>;
  readonly others?: OtherDeliveries;
}

export interface Deliveries {
  /** Hints that there may be something to do. */
  wake(): void;
  /** Starts nothing more, waits for what is in flight, and releases all hooks. */
  stop(): Promise<void>;
}

/** How long an event of another process may go unnoticed: while hooks are served, and otherwise. */
const pollMs = { busy: 10, calm: 75, asleep: 5000 } as const;
const busyMs = 1000;

/** How many hooks of a kind are served at the same time. */
const maxHooks = 256;

/** A batch of a healthy hook that takes longer no longer counts, so that slow receivers don't hold up the others. */
const slowMs = 1000;

/** The pause after a failure that is not the receiver's, such as a lost database connection. */
const retryMs = 5000;

/** How many hooks are remembered as responding. */
const maxResponding = 10_000;

/** A hook that is served at this moment. */
interface Serving {
  readonly isFailing: boolean;
  readonly startedAt: number;
  readonly done: Promise<void>;
}

/**
 * Sends events to hooks. Each turn creates the deliveries of waiting events, leases hooks for which something is due, and sends
 * a batch to each (send-batch.ts). Afterwards the hook is released and waits behind the others that are due. A hook is
 * leased by one process at a time, which keeps first attempts in order; when that process dies, the lease expires and
 * another one sends what has no saved result. Failing hooks have a limit of their own, and slow ones soon stop counting, so
 * that however many of them wait, healthy ones are served within seconds.
 */
export function startDeliveries(deps: DeliveryDependencies): Deliveries {
  const { db, log, clock } = deps;
  const serving = new Map<string, Serving>();
  /** Hooks whose last attempt by this process succeeded. */
  const responding = new Set<string>();
  let isStopping = false;
  let isWoken = false;
  let interrupt = Promise.withResolvers<void>();

  const save = coalesce(
    async (results: readonly DeliveryResult[]) => {
      await saveResults(db.pool, results, clock.now());
      return [];
    },
    { concurrency: 2, maxItems: 250 },
  );
  const release = coalesce(
    async (releases: readonly Release[]) => {
      await releaseHooks(db.pool, releases, clock.now());
      return [];
    },
    { concurrency: 1, maxItems: 64 },
  );
  // Few, since the API needs connections of the pool too. Failing hooks have their own: no other ever waits behind them.
  const semaphores = { healthy: createSemaphore(4), failing: createSemaphore(1) };

  function wake(): void {
    isWoken = true;
    interrupt.resolve();
  }

  /** @returns how many events and hooks there were. */
  async function turn(): Promise<{ events: number; hooks: number }> {
    const { hasEvents, hasHooks } = await findWork(db.pool, clock.now());
    const added = hasEvents ? await fanOut(db, deps.others?.add) : null;
    const hooks = hasHooks || added?.hasDeliveries ? await serveDue() : 0;
    return { events: added?.events ?? 0, hooks };
  }

  /** Leases hooks for which something is due, and starts to serve them. @returns how many. */
  async function serveDue(): Promise<number> {
    if (await deps.isHeldBack?.()) return 0;
    let count = 0;
    for (const isFailing of [false, true]) {
      const limit = maxHooks - countServing(isFailing);
      if (limit <= 0 || isStopping) continue;
      const leasedAt = performance.now();
      const hooks = await leaseHooks(db.pool, { isFailing, limit, now: clock.now() });
      for (const hook of hooks)
        serving.set(hook.id, { isFailing, startedAt: leasedAt, done: serve(hook, leasedAt) });
      count += hooks.length;
    }
    return count;
  }

  function countServing(isFailing: boolean): number {
    const now = performance.now();
    let count = 0;
    for (const hook of serving.values())
      if (hook.isFailing === isFailing && (isFailing || now - hook.startedAt < slowMs)) count += 1;
    return count;
  }

  async function serve(hook: LeasedHook, leasedAt: number): Promise<void> {
    const lease = { hookId: hook.id, token: hook.leased_by };
    try {
      const mayStart = (): boolean => !isStopping && isWithinLease(leasedAt);
      const semaphore = hook.failing_since === null ? semaphores.healthy : semaphores.failing;
      const sent = isWebhook(hook)
        ? await sendBatch({ ...deps, save, semaphore, mayStart }, hook, responding.has(hook.id))
        : await deps.others?.send(hook);
      if (sent === undefined) throw new Error("nothing sends to this type of hook");
      if (responding.size >= maxResponding) responding.clear();
      if (sent.isResponding) responding.add(hook.id);
      else if (sent.isResponding === false) responding.delete(hook.id);
      await release({ ...lease, health: sent.health, notBefore: sent.notBefore });
    } catch (error) {
      log.error({ err: error, hookId: hook.id }, "could not send to a webhook; trying again");
      const notBefore = new Date(clock.now().getTime() + retryMs);
      await release({ ...lease, health: {}, notBefore }).catch((failure: Error) =>
        log.warn({ err: failure, hookId: hook.id }, "could not release a webhook; its lease expires"),
      );
    }
    serving.delete(hook.id);
    // A failing hook pauses; a hundred of them, one after the other, would keep the loop busy.
    if (hook.failing_since === null) wake();
  }

  /** Resolves after the time, while background work is awake, or once woken. */
  async function rest(ms: number): Promise<void> {
    do {
      if (isWoken || isStopping) return;
      interrupt = Promise.withResolvers();
      // Waking also wakes this loop.
      const timer = setTimeout(interrupt.resolve, deps.isAsleep?.() ? pollMs.asleep : ms);
      await interrupt.promise;
      clearTimeout(timer);
    } while (deps.isAsleep?.());
  }

  async function run(): Promise<void> {
    let busyUntil = 0;
    while (!isStopping) {
      isWoken = false;
      try {
        const { events, hooks } = await turn();
        // Not for events alone, which no receiver waits for.
        if (hooks > 0) busyUntil = performance.now() + busyMs;
        if (events + hooks > 0) continue;
      } catch (error) {
        log.warn({ err: error }, "could not look for due webhooks; trying again");
      }
      await rest(performance.now() < busyUntil ? pollMs.busy : pollMs.calm);
    }
  }

  const running = run();
  return {
    wake,
    async stop() {
      isStopping = true;
      wake();
      await running;
      await Promise.all([...serving.values()].map(({ done }) => done));
    },
  };
}
