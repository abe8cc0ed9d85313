import type { FastifyBaseLogger } from "fastify";
import type { Sealer } from "../links/sealer.ts";
import { decide, isDeadFor, restAskedMs } from "./backoff.ts";
import { unpackAround } from "./batch-queries.ts";
import { mayStillSend } from "./delivery-queries.ts";
import { byDue, type DueDelivery, type DueRequest, hasDue } from "./due-queries.ts";
import { createBatchSize } from "./lane-batch.ts";
import { createSending } from "./lane-order.ts";
import { createPace, type Pace } from "./lane-pace.ts";
import { type Prepared, prepare } from "./lane-prepare.ts";
import { createOutcome, createResults, type Outcome } from "./lane-results.ts";
import type { PayloadDependencies } from "./payloads.ts";
import type { HookRow } from "./queries.ts";
import type { HookAnswer, HookSender } from "./send.ts";
import type { HookResults, Settlement } from "./settlement.ts";
import { createSigner, type Signer } from "./signing.ts";

export interface LaneDependencies extends PayloadDependencies {
  readonly sender: HookSender;
  readonly sealer: Sealer;
  readonly clock: { now(): Date };
  readonly scheduleMs: readonly number[];
  readonly random: () => number;
  readonly log: Pick<FastifyBaseLogger, "error">;
  /** Whether others wait for a lane. */
  readonly shouldYield: () => boolean;
  readonly findDue: (request: DueRequest) => Promise<DueDelivery[]>;
  readonly settle: (results: HookResults) => Promise<void>;
  /** Every use of the database goes through it. */
  readonly gate: <T>(work: () => Promise<T>) => Promise<T>;
}

/** One hook being served. */
export interface Lane {
  /** Begins nothing more. */
  end(): void;
  /** Whether the receiver takes its time: the last answer did, or one that is waited for does. */
  isSlow(): boolean;
  /**
   * Resolves when nothing is due any more, or the lane was ended, and every result is written; with the time before
   * which the hook is not to be looked at again.
   */
  readonly done: Promise<Date | null>;
}

/** Requests to one receiver at a time, once it has answered. */
const atOnce = 16;
/** What was prepared longer ago is asked about once more before it is sent. */
const freshMs = 1000;

/** How soon to look again for what waits until another hook of the same address has sent an earlier event. */
const blockedMs = 25;

/** So many looks later the next begins with what is due first: replayed events may have come before what was sent. */
const lookBackAfter = 40;

/** However long a receiver asks for rest, it is asked again after an hour: other deliveries wait as well. */
const longestRestMs = 3_600_000;

/**
 * Serves one hook: prepare, send, decide, settle. Attempts begin in the order they are due. A hook that has not
 * answered yet, or whose last attempt failed, gets one request at a time; one that answers gets more. The first failure ends
 * the lane, so that the hook goes on among those that fail.
 */
export function runLane(deps: LaneDependencies, hook: HookRow): Lane {
  let isEnding = false;
  const pace = createPace();
  return {
    end() {
      isEnding = true;
    },
    isSlow: pace.isSlow,
    done: serve(deps, hook, pace, () => isEnding),
  };
}

/**
 * A receiver that fails is tried a few deliveries at a time, with a pause of a twentieth of the time it has failed:
 * however much waits for it, it is noticed within a minute when it answers again.
 */
const pauseShare = 20;
const longestPauseMs = 60_000;

async function serve(
  deps: LaneDependencies,
  hook: HookRow,
  pace: Pace,
  isEnding: () => boolean,
): Promise<Date | null> {
  const { db, clock, gate } = deps;
  const isFailing = hook.failing_since !== null;
  const outcome = createOutcome(hook);
  const sign = openSecrets(deps, hook, clock.now());
  const results = createResults(deps, hook, outcome);
  const batch = createBatchSize({ isFailing, isLarge: hook.include.transcript === true });
  /** The last of all that was taken, in the order of what is due. */
  let furthest: DueDelivery | undefined;
  /** The next deliveries, ready to be sent. @param after those before it are being sent. */
  const next = async (after: DueDelivery | null, taken: readonly DueDelivery[] = []): Promise<Batch> => {
    const looksDue = [...taken, ...sending.underway().map(({ delivery }) => delivery)].map(({ id }) => id);
    // Behind the furthest there is nothing of them. Where something came before them, such as a replay, there may be.
    const isBeyond = after !== null && after === furthest;
    const except = isBeyond ? [] : [...looksDue, ...results.unwritten()];
    const limit = batch.size;
    const due = await deps.findDue({ hookId: hook.id, now: clock.now(), except, after, limit });
    const { prepared, withheld } = await prepare(deps, hook, due);
    const preparedAt = Date.now();
    const isFull = due.length === limit;
    return { due, isFull, prepared: prepared.map((one) => ({ ...one, preparedAt })), withheld };
  };
  const send = async ({ delivery, preparedAt, ...made }: Ready): Promise<void> => {
    // Meanwhile it may have been unshared or deleted, or the hook switched off.
    const isOld = Date.now() - preparedAt > freshMs;
    if (isOld && !(await gate(() => mayStillSend(db.pool, hook.id, delivery)))) return;
    const startedAt = clock.now();
    const { body } = made;
    if (typeof sign === "string" || body === null) {
      const fault = typeof sign === "string" ? sign : made.problem;
      results.add(conclude(deps, outcome, { delivery, body: null, answer: unsent(fault), startedAt }));
      return;
    }
    const headers = sign(delivery.message_id, Math.floor(startedAt.getTime() / 1000), body);
    const begun = pace.begin();
    const answer = await deps.sender.send({ url: hook.hook_url, headers, body });
    pace.end(begun);
    // The server is stopping, which says nothing about the receiver: it stays due.
    if (answer.isStopped) return;
    const signature = headers["webhook-signature"];
    results.add(conclude(deps, outcome, { delivery, body, answer, startedAt, signature }));
  };
  const sending = createSending<Ready>({
    subjectOf: ({ delivery }) => delivery.subject_id,
    // Of those with transcripts no more than are prepared at a time: each is held until it is answered.
    places: () => (outcome.isAnswering ? Math.min(atOnce, batch.size) : 1),
    mayBegin: () => !isEnding() && outcome.mayGoOn(),
    send,
  });
  let following: Promise<Batch> | null = null;
  try {
    let current = await next(null);
    for (let looks = 1; !isEnding() && outcome.mayGoOn(); looks += 1) {
      if (current.due.length === 0) {
        const isBlocked = await gate(() => hasDue(db.pool, hook.id, clock.now()));
        if (!isBlocked) return null;
        await gate(() => unpackAround(db.pool, hook.id));
        // A pause of this process, not a time of the schedule.
        return new Date(Date.now() + blockedMs);
      }
      const { due, isFull, prepared, withheld } = current;
      const last = due.at(-1);
      if (last !== undefined && (furthest === undefined || byDue(furthest, last) < 0)) furthest = last;
      for (const settlement of withheld) results.add(settlement);
      // Where there is more, it is made ready while this is sent and written down.
      following = null;
      if (isFull && !isFailing) {
        // What another hook of the address held back comes before what follows it: then all is looked at again.
        const isAnew = last === undefined || last.has_siblings || looks % lookBackAfter === 0;
        following = next(isAnew ? null : last, due);
        // It is awaited below; until then its failure must not count as unhandled.
        following.catch(() => {});
      }
      const begunAt = performance.now();
      await sending.begin(prepared);
      batch.sent(prepared.length, bytesOf(prepared), performance.now() - begunAt);
      if (following !== null) await results.keepUp();
      else {
        await sending.over();
        await results.flush();
      }
      // Behind those that wait already.
      if (!isFailing && deps.shouldYield()) return clock.now();
      if (isFailing && outcome.failingSince !== null) {
        const now = clock.now().getTime();
        const failingMs = Math.max(0, now - outcome.failingSince.getTime());
        return new Date(now + Math.min(longestPauseMs, failingMs / pauseShare));
      }
      current = await (following ?? next(null));
      if (current.due.length === 0) {
        // What was being sent or written was left out: it is looked at again once all is written.
        await sending.over();
        await results.flush();
        current = await next(null);
      }
    }
    return isEnding() ? clock.now() : null;
  } finally {
    // Whoever waits for the lane may close the database then.
    await following?.catch(() => {});
    try {
      await sending.over();
    } finally {
      await results.flush();
    }
  }
}

const bytesOf = (prepared: readonly Ready[]): number =>
  prepared.reduce((sum, { body }) => sum + (body?.length ?? 0), 0);

/** Ready to be sent, since when: by `Date.now()`. */
type Ready = Prepared & { readonly preparedAt: number };

/** Deliveries of one look. */
interface Batch {
  readonly due: readonly DueDelivery[];
  /** As many as were asked for: there may be more. */
  readonly isFull: boolean;
  readonly prepared: readonly Ready[];
  readonly withheld: readonly Settlement[];
}

/**
 * Signs with both secrets while an old one is still good, so that a receiver can change over at its own time.
 * @returns in place of it what is wrong, where the secret can't be had: attempts fail by it, for all to see.
 */
function openSecrets({ sealer, log }: LaneDependencies, hook: HookRow, now: Date): Signer | string {
  const isOverlapping = hook.previous_secret !== null && (hook.previous_secret_until ?? now) > now;
  try {
    return createSigner([
      sealer.open(hook.secret),
      ...(isOverlapping && hook.previous_secret ? [sealer.open(hook.previous_secret)] : []),
    ]);
  } catch (error) {
    log.error({ err: error, hookId: hook.id }, "the secret of a hook can't be used");
    return "nothing was sent: the secret of the hook can't be read, as PARLEY_SECRET was changed; rotate the hook's secret";
  }
}

/** In place of an answer, where nothing could be sent. */
function unsent(error: string | null): JudgedAttempt {
  return { ok: false, status: null, headers: {}, body: "", error, durationMs: 0 };
}

/**
 * Whether a payload is kept, so that every attempt sends the same bytes. A story shows parts of several recordings, each of
 * which may be unshared or deleted meanwhile: it is rendered anew.
 */
function isKept(type: DueDelivery["event_type"]): boolean {
  return type !== "story_added" && type !== "story_updated";
}

/** What of an answer counts and is written down. */
type JudgedAttempt = Pick<HookAnswer, "ok" | "status" | "headers" | "body" | "error" | "durationMs">;

/** Decides what an answer means for the delivery and for the hook. */
function conclude(
  { clock, scheduleMs, random }: LaneDependencies,
  outcome: Outcome,
  made: {
    delivery: DueDelivery;
    /** Null: nothing was sent. */
    body: Buffer | null;
    answer: JudgedAttempt;
    startedAt: Date;
    signature?: string;
  },
): Settlement {
  const { delivery, answer, startedAt } = made;
  const now = clock.now();
  const number = delivery.attempts + 1;
  const attempt = number - delivery.attempts_before;
  const decision = decide({ answer, attempt, now, scheduleMs, random });
  outcome.isAnswering = decision.outcome === "delivered";
  if (outcome.isAnswering) outcome.failingSince = null;
  else {
    outcome.hasFailed = true;
    outcome.failingSince ??= startedAt;
    const restMs = Math.min(restAskedMs(answer, now), longestRestMs);
    if (restMs > 0) outcome.pauseUntil = new Date(now.getTime() + restMs);
    if (decision.outcome === "gone") outcome.disable = "the receiver answered 410 Gone";
    else if (isDeadFor(outcome.failingSince, now)) outcome.disable = "every attempt of five days failed";
  }
  return {
    id: delivery.id,
    batch_id: delivery.batch_id,
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
      signature: made.signature ?? "",
    },
  };
}
