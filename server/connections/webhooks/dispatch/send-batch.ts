import type { FastifyBaseLogger } from "fastify";
import { forEachConcurrent, type Semaphore } from "../../../platform/concurrency.ts";
import type { HookRow } from "../api/queries.ts";
import { findDue } from "../deliveries/due.ts";
import type { HookHealth } from "../deliveries/leases.ts";
import type { DeliveryResult } from "../deliveries/save-results.ts";
import { type AttemptDependencies, createAttempts } from "./attempt.ts";
import { type PreparedDelivery, prepare } from "./prepare.ts";
import type { PayloadDependencies } from "./render-payload.ts";

export interface BatchDependencies extends PayloadDependencies, AttemptDependencies {
  /** Bounds the queries that find and render deliveries. */
  readonly semaphore: Semaphore;
  readonly save: (result: DeliveryResult) => Promise<void>;
  /** Whether another request may start: the lease lasts long enough, and the server is not stopping. */
  readonly mayStart: () => boolean;
  readonly log: Pick<FastifyBaseLogger, "error">;
}

/** Deliveries of one batch, and with whole transcripts, of megabytes each, in the payload. */
const batchSize = { usual: 100, large: 4 } as const;

/** Concurrent requests to one receiver that responds. */
const concurrency = 16;

/**
 * Requests of a batch start within this time: it is the time for which a receiver holds its turn, and for which the check
 * whether its owner can see a subject is valid.
 */
const batchMs = 1000;

/** How soon to check again for deliveries that wait until another hook with the same URL has sent an earlier event. */
const blockedMs = 25;

/**
 * A failing hook is tried one delivery at a time, with pauses of a twentieth of the time it has failed: however many wait, a
 * receiver that has recovered is noticed within a minute.
 */
const pauseShare = 20;
const maxPauseMs = 60_000;

/** How long a hook pauses after an attempt that failed. */
export function pauseAfter({ failing_since }: Pick<HookRow, "failing_since">, endedAt: Date): number {
  const failingMs = failing_since === null ? 0 : Math.max(0, endedAt.getTime() - failing_since.getTime());
  return Math.min(maxPauseMs, failingMs / pauseShare);
}

export interface SentBatch {
  readonly health: HookHealth;
  /** The hook must not be leased again before. */
  readonly notBefore: Date;
  /** Whether the last attempt succeeded; undefined: there was none. */
  readonly isResponding: boolean | undefined;
}

/**
 * Sends what is due to one leased hook: find, prepare, send, save the result. Attempts start in the order they are due, and one
 * at a time of each subject: two requests would use two connections and could arrive in the other order. The first failure
 * ends the batch.
 * @param isResponding whether the receiver responded last time; one that didn't gets a single request.
 */
export async function sendBatch(
  deps: BatchDependencies,
  hook: HookRow,
  isResponding: boolean,
): Promise<SentBatch> {
  const { db, clock, semaphore, save } = deps;
  const full = hook.include.transcript === true ? batchSize.large : batchSize.usual;
  const limit = isResponding && hook.failing_since === null ? full : 1;
  const { due, prepared, suppressed } = await semaphore.run(async () => {
    const found = await findDue(db.pool, hook.id, { now: clock.now(), limit });
    return { due: found, ...(await prepare(deps, hook, found)) };
  });
  const endMs = performance.now() + batchMs;
  const attempts = createAttempts(deps, hook);
  const mayStart = (): boolean => deps.mayStart() && performance.now() < endMs && attempts.mayContinue();
  await Promise.all(suppressed.map(save));
  const lastOf = new Map<string, Promise<void>>();
  await forEachConcurrent(prepared, concurrency, async (one: PreparedDelivery) => {
    const subject = one.delivery.subject_id;
    const before = lastOf.get(subject);
    const ended = Promise.withResolvers<void>();
    lastOf.set(subject, ended.promise);
    try {
      await before;
      const result = mayStart() ? await attempts.make(one) : null;
      if (result !== null) await save(result);
    } finally {
      ended.resolve();
    }
  });
  const { health, hostFreeAt, last } = attempts.outcome();
  const endedAt = last?.endedAt ?? clock.now();
  const pauseMs = last?.succeeded === false ? pauseAfter(hook, endedAt) : 0;
  // By the system's clock: this pause is no part of the retry schedule.
  const blockedUntil = due.length === 0 ? new Date(Date.now() + blockedMs) : null;
  return {
    health,
    notBefore: hostFreeAt ?? blockedUntil ?? new Date(endedAt.getTime() + pauseMs),
    isResponding: last?.succeeded,
  };
}
