import type { Sealer } from "../links/sealer.ts";
import { decide, isDeadFor } from "./backoff.ts";
import { type DueDelivery, findDue, hasDue, mayStillSend, type Settlement } from "./delivery-queries.ts";
import { createOutcome, createResults, type Outcome } from "./lane-results.ts";
import { type PayloadDependencies, renderPayloads } from "./payloads.ts";
import type { HookRow } from "./queries.ts";
import type { HookAnswer, HookSender } from "./send.ts";
import { signatureHeaders } from "./signing.ts";

export interface LaneDependencies extends PayloadDependencies {
  readonly sender: HookSender;
  readonly sealer: Sealer;
  readonly clock: { now(): Date };
  readonly scheduleMs: readonly number[];
  readonly random: () => number;
  /** Whether others wait for a lane. */
  readonly shouldYield: () => boolean;
  /** Every use of the database goes through it. */
  readonly gate: <T>(work: () => Promise<T>) => Promise<T>;
}

/** One hook being served. */
export interface Lane {
  /** Begins nothing more. */
  end(): void;
  /**
   * Resolves when nothing is due any more, or the lane was ended, and every result is written; with the time before
   * which the hook is not to be looked at again.
   */
  readonly done: Promise<Date | null>;
}

/** Deliveries prepared at a time: one statement renders them all. */
const batch = 250;
/** Of a hook whose payloads may hold whole transcripts, of megabytes each. */
const largeBatch = 4;
/** Of a hook that fails: the first failure ends the lane. */
const failingBatch = 4;
/** Requests to one receiver at a time, once it has answered. */
const atOnce = 16;
/** What was prepared longer ago is asked about once more before it is sent. */
const freshMs = 1000;

/** How soon to look again for what waits until another hook of the same address has sent an earlier event. */
const blockedMs = 25;

/** A delivery that is ready to be sent. */
interface Prepared {
  readonly delivery: DueDelivery;
  readonly body: string;
}

/**
 * Serves one hook: prepare, send, decide, settle. Attempts begin in the order they are due. A hook that has not
 * answered yet, or whose last attempt failed, gets one request at a time; one that answers gets more. The first failure ends
 * the lane, so that the hook goes on among those that fail.
 */
export function runLane(deps: LaneDependencies, hook: HookRow): Lane {
  let isEnding = false;
  return {
    end() {
      isEnding = true;
    },
    done: serve(deps, hook, () => isEnding),
  };
}

/**
 * A receiver that fails is tried a few deliveries at a time, with a pause of a twentieth of the time it has failed:
 * however much waits for it, it is noticed within a minute when it answers again.
 */
const pauseShare = 20;
const longestPauseMs = 60_000;

async function serve(deps: LaneDependencies, hook: HookRow, isEnding: () => boolean): Promise<Date | null> {
  const { db, clock, gate } = deps;
  const isFailing = hook.failing_since !== null;
  const outcome = createOutcome(hook);
  const secrets = openSecrets(deps.sealer, hook, clock.now());
  const results = createResults(deps, hook, outcome);
  const limit = isFailing ? failingBatch : hook.include.transcript ? largeBatch : batch;
  /** The next deliveries, ready to be sent. @param taken those that are being sent. */
  const next = async (taken: readonly DueDelivery[]): Promise<Batch> => {
    const except = [...taken.map(({ id }) => id), ...results.unwritten()];
    const due = await gate(() => findDue(db.pool, hook.id, { now: clock.now(), except, limit }));
    return { due, ...(await prepare(deps, hook, due)), preparedAt: Date.now() };
  };
  const send = async ({ delivery, body }: Prepared, preparedAt: number): Promise<void> => {
    // Meanwhile it may have been unshared or deleted, or the hook switched off.
    const isOld = Date.now() - preparedAt > freshMs;
    if (isOld && !(await gate(() => mayStillSend(db.pool, hook.id, delivery.id)))) return;
    const startedAt = clock.now();
    const headers: Record<string, string> = {
      ...signatureHeaders({
        id: delivery.message_id,
        timestampSec: Math.floor(startedAt.getTime() / 1000),
        body,
        secrets,
      }),
    };
    const answer = await deps.sender.send({ url: hook.hook_url, headers, body });
    // The server is stopping, which says nothing about the receiver: it stays due.
    if (answer.isStopped) return;
    results.add(conclude(deps, outcome, { delivery, body, headers, answer, startedAt }));
  };
  let following: Promise<Batch> | null = null;
  try {
    let current = await next([]);
    while (!isEnding() && outcome.mayGoOn()) {
      if (current.due.length === 0) {
        const isBlocked = await gate(() => hasDue(db.pool, hook.id, clock.now()));
        // A pause of this process, not a time of the schedule.
        return isBlocked ? new Date(Date.now() + blockedMs) : null;
      }
      const { due, prepared, withheld, preparedAt } = current;
      for (const settlement of withheld) results.add(settlement);
      // Where there is more, it is made ready while this is sent and written down.
      following = due.length === limit && !isFailing ? next(due) : null;
      // It is awaited below; until then its failure must not count as unhandled.
      following?.catch(() => {});
      await sendInOrder(prepared, outcome, isEnding, (one) => send(one, preparedAt));
      if (following === null) await results.flush();
      else await results.keepUp();
      if (!isFailing && deps.shouldYield()) return null;
      if (isFailing && outcome.failingSince !== null) {
        const now = clock.now().getTime();
        const failingMs = Math.max(0, now - outcome.failingSince.getTime());
        return new Date(now + Math.min(longestPauseMs, failingMs / pauseShare));
      }
      current = await (following ?? next([]));
      if (current.due.length === 0) {
        // What was being sent or written was left out: it is looked at again once all is written.
        await results.flush();
        current = await next([]);
      }
    }
    return null;
  } finally {
    // Whoever waits for the lane may close the database then.
    await following?.catch(() => {});
    await results.flush();
  }
}

/** Deliveries of one look. */
interface Batch {
  readonly due: readonly DueDelivery[];
  readonly prepared: readonly Prepared[];
  readonly withheld: readonly Settlement[];
  readonly preparedAt: number;
}

/** Both while an old secret is still good, so that a receiver can change over at its own time. */
function openSecrets(sealer: Sealer, hook: HookRow, now: Date): string[] {
  const isOverlapping = hook.previous_secret !== null && (hook.previous_secret_until ?? now) > now;
  return [
    sealer.open(hook.secret),
    ...(isOverlapping && hook.previous_secret ? [sealer.open(hook.previous_secret)] : []),
  ];
}

/** Renders what is to be sent. What the owner may not hear of any more, and what is gone, is withheld for good. */
async function prepare(
  { gate, ...deps }: LaneDependencies,
  hook: HookRow,
  due: readonly DueDelivery[],
): Promise<{ prepared: Prepared[]; withheld: Settlement[] }> {
  const fresh = due.filter((delivery) => delivery.may_hear && delivery.payload === null);
  const rendered = fresh.length === 0 ? new Map() : await gate(() => renderPayloads(deps, hook, fresh));
  const prepared: Prepared[] = [];
  const withheld: Settlement[] = [];
  for (const delivery of due) {
    const body: string | null = delivery.may_hear
      ? (delivery.payload ?? rendered.get(delivery.id) ?? null)
      : null;
    if (body !== null) prepared.push({ delivery, body });
    else withheld.push({ id: delivery.id, state: "withheld", due_at: null, payload: null, attempt: null });
  }
  return { prepared, withheld };
}

/**
 * Begins in order, as many at a time as the receiver has shown to answer, and of one subject one after the other: two
 * at a time would travel on two connections, and could arrive the other way round.
 */
async function sendInOrder(
  prepared: readonly Prepared[],
  outcome: Outcome,
  isEnding: () => boolean,
  send: (one: Prepared) => Promise<void>,
): Promise<void> {
  const waiting = [...prepared];
  const underWay = new Map<string, Promise<void>>();
  while (waiting.length > 0 && !isEnding() && outcome.mayGoOn()) {
    const index =
      underWay.size < (outcome.isAnswering ? atOnce : 1)
        ? waiting.findIndex(({ delivery }) => !underWay.has(delivery.subject_id))
        : -1;
    const [next] = index === -1 ? [] : waiting.splice(index, 1);
    if (next === undefined) {
      await Promise.race(underWay.values());
      continue;
    }
    const subjectId = next.delivery.subject_id;
    underWay.set(
      subjectId,
      send(next).finally(() => underWay.delete(subjectId)),
    );
  }
  await Promise.all(underWay.values());
}

/**
 * Whether a payload is kept, so that every attempt sends the same bytes. A story shows parts of several recordings, each of
 * which may be unshared or deleted meanwhile: it is rendered anew.
 */
function isKept(type: DueDelivery["event_type"]): boolean {
  return type !== "story_added" && type !== "story_updated";
}

/** Decides what an answer means for the delivery and for the hook. */
function conclude(
  { clock, scheduleMs, random }: LaneDependencies,
  outcome: Outcome,
  made: {
    delivery: DueDelivery;
    body: string;
    headers: Readonly<Record<string, string>>;
    answer: HookAnswer;
    startedAt: Date;
  },
): Settlement {
  const { delivery, answer, startedAt } = made;
  const now = clock.now();
  const number = delivery.attempts + 1;
  const decision = decide({
    answer,
    attempt: number - delivery.attempts_before,
    now,
    scheduleMs,
    random,
  });
  outcome.isAnswering = decision.outcome === "delivered";
  if (outcome.isAnswering) outcome.failingSince = null;
  else {
    outcome.hasFailed = true;
    outcome.failingSince ??= startedAt;
    if (decision.outcome === "gone") outcome.disable = "the receiver answered 410 Gone";
    else if (isDeadFor(outcome.failingSince, now)) outcome.disable = "every attempt of five days failed";
  }
  return {
    id: delivery.id,
    state: decision.outcome === "retry" ? "pending" : decision.outcome,
    due_at: decision.outcome === "retry" ? decision.at : null,
    payload: delivery.payload === null && isKept(delivery.event_type) ? made.body : null,
    attempt: {
      number,
      started_at: startedAt,
      duration_ms: Math.round(answer.durationMs),
      status: answer.status,
      error: answer.error,
      answer: answer.body,
      request_headers: made.headers,
    },
  };
}
