import type { HookRow } from "./queries.ts";
import type { HookResults, HookVerdict, Settlement } from "./settlement.ts";

interface ResultDependencies {
  readonly settle: (results: HookResults) => Promise<void>;
}

/** Results are written when there are so many, or after so long, or when they hold so much. */
const settleAt = 200;
const settleAfterMs = 200;
const settleAtBytes = 4 * 1024 * 1024;
/**
 * With more than this still to be written, the next batch waits. A crash repeats what is not written yet: these, as many that
 * are being written, a batch and what is on its way.
 */
const mostWaiting = 600;

/** What has been seen of the receiver since the lane began. */
export interface Outcome {
  /** Whether the last attempt succeeded; null before the first. */
  isAnswering: boolean | null;
  failingSince: Date | null;
  disable: string | null;
  /** Until when the receiver has asked for rest. */
  pauseUntil: Date | null;
  /** A failure since the lane began. */
  hasFailed: boolean;
  mayGoOn(): boolean;
}

export function createOutcome(hook: HookRow): Outcome {
  const began = hook.failing_since;
  return {
    isAnswering: null,
    failingSince: began,
    disable: null,
    pauseUntil: null,
    hasFailed: false,
    mayGoOn() {
      if (this.disable !== null || this.hasFailed) return false;
      // A change of heart, either way, is for another kind of lane.
      return began === null || this.failingSince !== null;
    },
  };
}

/** Results of attempts on their way into the database. */
export interface Results {
  add(settlement: Settlement): void;
  /** Ids of what still looks due in the database. */
  unwritten(): string[];
  /** Waits while much more has come than is written. */
  keepUp(): Promise<void>;
  /** Resolves when all are written. */
  flush(): Promise<void>;
}

/** Gathers results and writes them, one statement after the other: what comes while one is written goes with the next. */
export function createResults({ settle }: ResultDependencies, hook: HookRow, outcome: Outcome): Results {
  let waiting: Settlement[] = [];
  let beingWritten: readonly Settlement[] = [];
  let bytes = 0;
  let lastAt = Date.now();
  let writing: Promise<void> | null = null;
  let failure: { readonly error: unknown } | null = null;
  let written = hook.failing_since;
  let timer: NodeJS.Timeout | null = null;

  const isWorthWriting = (): boolean =>
    waiting.length >= settleAt || bytes >= settleAtBytes || Date.now() - lastAt >= settleAfterMs;

  /** Writes at once what is worth it, and the rest before long, also if no other result comes. */
  function writeInTime(): void {
    if (isWorthWriting()) write();
    else timer ??= setTimeout(write, settleAfterMs);
  }

  function write(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (writing !== null || failure !== null || waiting.length === 0) return;
    const settlements = waiting;
    waiting = [];
    beingWritten = settlements;
    bytes = 0;
    lastAt = Date.now();
    const verdict: HookVerdict = {
      ...(outcome.failingSince?.getTime() === written?.getTime()
        ? {}
        : { failingSince: outcome.failingSince }),
      ...(outcome.disable === null ? {} : { disable: outcome.disable }),
      ...(outcome.pauseUntil === null ? {} : { pauseUntil: outcome.pauseUntil }),
    };
    written = outcome.failingSince;
    writing = settle({ hookId: hook.id, settlements, verdict })
      // For whoever waits next; nothing more is written after it.
      .catch((error: unknown) => {
        failure = { error };
      })
      .finally(() => {
        writing = null;
        beingWritten = [];
        if (waiting.length > 0) writeInTime();
      });
  }
  return {
    add(settlement) {
      waiting.push(settlement);
      bytes += (settlement.payload?.length ?? 0) + (settlement.attempt?.answer.length ?? 0);
      writeInTime();
    },
    unwritten: () => [...beingWritten, ...waiting].map(({ id }) => id),
    async keepUp() {
      while (writing !== null && (waiting.length > mostWaiting || bytes >= settleAtBytes)) await writing;
      if (failure !== null) throw failure.error;
    },
    async flush() {
      for (write(); writing !== null; write()) await writing;
      if (failure !== null) throw failure.error;
    },
  };
}
