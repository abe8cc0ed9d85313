import type { HookRow } from "../api/queries.ts";
import { compareDue, type DueDelivery, type DueRequest, hasDue } from "../deliveries/due.ts";
import { maySend } from "../deliveries/leases.ts";
import type { DeliveryResult, HookResults } from "../deliveries/save-results.ts";
import { type AttemptDependencies, createAttempts } from "./attempt.ts";
import { createBatchSize } from "./batch-size.ts";
import { createLatency, type Latency } from "./latency.ts";
import { createOrderedSender } from "./ordered-sender.ts";
import { type PreparedDelivery, prepare } from "./prepare.ts";
import type { PayloadDependencies } from "./render-payload.ts";
import { createReceiverState, createResultWriter } from "./result-writer.ts";
import type { Semaphore } from "./semaphore.ts";

export interface HookWorkerDependencies extends PayloadDependencies, AttemptDependencies {
  /** Whether other hooks wait for a worker. */
  readonly shouldYield: () => boolean;
  readonly findDue: (request: DueRequest) => Promise<DueDelivery[]>;
  readonly saveResults: (results: HookResults) => Promise<void>;
  /** Bounds every other use of the database. */
  readonly semaphore: Semaphore;
}

/** Serves one leased hook. */
export interface HookWorker {
  /** Starts no more requests. */
  end(): void;
  /** Whether the receiver is slow: its last response was, or one in flight already is. */
  isSlow(): boolean;
  /**
   * Resolves when nothing is due any more, or the worker was ended, and every result is saved; with the time before which the
   * hook must not be leased again.
   */
  readonly done: Promise<Date | null>;
}

/** Concurrent requests to one receiver, once it has responded. */
const concurrency = 16;
/** Deliveries that were prepared longer ago are checked again before they are sent. */
const freshMs = 1000;

/** How soon to check again for deliveries that wait until another hook with the same URL has sent an earlier event. */
const blockedMs = 25;

/** After this many batches the next one begins with the earliest due delivery: replayed ones may be due before the last. */
const batchesUntilRestart = 40;

/**
 * A failing hook is tried a few deliveries at a time, with pauses of a twentieth of the time it has failed: however many
 * wait, a receiver that has recovered is noticed within a minute.
 */
const pauseShare = 20;
const maxPauseMs = 60_000;

/**
 * Serves one hook: prepare, send, decide, save results. Attempts start in the order they are due. A hook that has not
 * responded yet, or whose last attempt failed, gets one request at a time; one that responds gets more. The first failure
 * ends the worker, and the hook is then leased as a failing one.
 */
export function runHookWorker(deps: HookWorkerDependencies, hook: HookRow): HookWorker {
  let isEnding = false;
  const latency = createLatency();
  return {
    end() {
      isEnding = true;
    },
    isSlow: latency.isSlow,
    done: serve(deps, hook, latency, () => isEnding),
  };
}

/** When it was prepared, by `Date.now()`. */
type ReadyDelivery = PreparedDelivery & { readonly preparedAt: number };

/** The deliveries of one query. */
interface Batch {
  readonly due: readonly DueDelivery[];
  /** As many as were asked for: there may be more. */
  readonly isFull: boolean;
  readonly prepared: readonly ReadyDelivery[];
  readonly suppressed: readonly DeliveryResult[];
}

async function serve(
  deps: HookWorkerDependencies,
  hook: HookRow,
  latency: Latency,
  isEnding: () => boolean,
): Promise<Date | null> {
  const { db, clock, semaphore } = deps;
  const isFailing = hook.failing_since !== null;
  const receiver = createReceiverState(hook);
  const attempt = createAttempts(deps, hook, receiver, latency);
  const results = createResultWriter(deps, hook, receiver);
  const batchSize = createBatchSize({ isFailing, isLarge: hook.include.transcript === true });
  /** When the host may get requests again; until then nothing counts as tried. */
  let hostFreeAt: Date | null = null;
  const sender = createOrderedSender<ReadyDelivery>({
    subjectOf: ({ delivery }) => delivery.subject_id,
    // With transcripts, no more than are prepared at a time: each is kept in memory until its response.
    slots: () => (receiver.isResponding ? Math.min(concurrency, batchSize.size) : 1),
    mayStart: () => !isEnding() && hostFreeAt === null && receiver.mayContinue(),
    send: async (ready) => {
      // Meanwhile the subject may have been unshared or deleted, or the hook disabled.
      const isOld = Date.now() - ready.preparedAt > freshMs;
      if (isOld && !(await semaphore(() => maySend(db.pool, hook.id, ready.delivery.id)))) return;
      const outcome = await attempt(ready);
      if ("result" in outcome) results.add(outcome.result);
      else if ("hostFreeAt" in outcome) hostFreeAt = outcome.hostFreeAt;
    },
  });
  /** The last of all deliveries that were taken, in the order they are due. */
  let furthest: DueDelivery | undefined;

  /** Finds and prepares the next deliveries. @param taken the batch before, which is about to be sent. */
  async function next(after: DueDelivery | null, taken: readonly DueDelivery[] = []): Promise<Batch> {
    const stillDue = [...taken, ...sender.inFlight().map(({ delivery }) => delivery)].map(({ id }) => id);
    // None of these can be after the furthest. After any other delivery, such as a replayed one, they can.
    const isBeyond = after !== null && after === furthest;
    const except = isBeyond ? [] : [...stillDue, ...results.unsaved()];
    const limit = batchSize.size;
    const due = await deps.findDue({ hookId: hook.id, now: clock.now(), except, after, limit });
    const { prepared, suppressed } = await prepare(deps, hook, due);
    const preparedAt = Date.now();
    const isFull = due.length === limit;
    return { due, isFull, prepared: prepared.map((one) => ({ ...one, preparedAt })), suppressed };
  }

  /** When to lease a hook without due deliveries again: null, or soon if deliveries wait for another hook's. */
  async function whenBlocked(): Promise<Date | null> {
    const isBlocked = await semaphore(() => hasDue(db.pool, hook.id, clock.now()));
    // By the system's clock: this pause is no part of the retry schedule.
    return isBlocked ? new Date(Date.now() + blockedMs) : null;
  }

  /** When to lease the hook again if it must be released after a batch; undefined: it continues. */
  function whenReleased(): Date | undefined {
    if (hostFreeAt !== null) return hostFreeAt;
    // Behind the hooks that wait already.
    if (!isFailing && deps.shouldYield()) return clock.now();
    if (!isFailing || receiver.failingSince === null) return undefined;
    const now = clock.now().getTime();
    const failingMs = Math.max(0, now - receiver.failingSince.getTime());
    return new Date(now + Math.min(maxPauseMs, failingMs / pauseShare));
  }

  /** Waits for everything in flight, and until every result is saved. */
  async function finish(): Promise<void> {
    await sender.finish();
    await results.flush();
  }

  let following: Promise<Batch> | null = null;
  try {
    let current = await next(null);
    for (let batches = 1; !isEnding() && receiver.mayContinue(); batches += 1) {
      if (current.due.length === 0) return await whenBlocked();
      const { due, isFull, prepared, suppressed } = current;
      const last = due.at(-1);
      if (last !== undefined && (furthest === undefined || compareDue(furthest, last) < 0)) furthest = last;
      for (const result of suppressed) results.add(result);
      // If there is more, it is prepared while this is sent and saved.
      following = null;
      if (isFull && !isFailing) {
        // Deliveries that another hook with the same URL held back are due before the last one: start from the earliest.
        const fromStart = last === undefined || last.has_siblings || batches % batchesUntilRestart === 0;
        following = next(fromStart ? null : last, due);
        // It is awaited below; until then its failure must not count as unhandled.
        following.catch(() => {});
      }
      const startedAt = performance.now();
      await sender.start(prepared);
      batchSize.sent(prepared.length, bytesOf(prepared), performance.now() - startedAt);
      if (following !== null) await results.keepUp();
      else await finish();
      const releasedUntil = whenReleased();
      if (releasedUntil !== undefined) return releasedUntil;
      current = await (following ?? next(null));
      if (current.due.length === 0) {
        // What was in flight or being saved was left out: check again once everything is saved.
        await finish();
        current = await next(null);
      }
    }
    return isEnding() ? clock.now() : null;
  } finally {
    // The caller may close the database once this is done.
    await following?.catch(() => {});
    try {
      await sender.finish();
    } finally {
      await results.flush();
    }
  }
}

const bytesOf = (prepared: readonly ReadyDelivery[]): number =>
  prepared.reduce((sum, { body }) => sum + (body?.length ?? 0), 0);
