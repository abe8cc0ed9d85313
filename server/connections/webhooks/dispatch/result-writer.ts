import type { HookRow } from "../api/queries.ts";
import type { DeliveryResult, HookHealth, HookResults } from "../deliveries/save-results.ts";

interface ResultDependencies {
  readonly saveResults: (results: HookResults) => Promise<void>;
}

/** Results are saved when there are this many, or after this time, or when they have this many bytes. */
const saveAt = 200;
const saveAfterMs = 200;
const saveAtBytes = 4 * 1024 * 1024;
/**
 * With more results than this to be saved, the next batch waits. A crash repeats what is not saved yet: these, as many that
 * are being saved, a batch and what is in flight.
 */
const maxUnsaved = 600;

/** What is known of the receiver since the hook worker started. */
export interface ReceiverState {
  /** Whether the last attempt succeeded; null before the first. */
  isResponding: boolean | null;
  failingSince: Date | null;
  /** The reason to disable the hook. */
  disable: string | null;
  /** When sending may resume, as the receiver asked. */
  pauseUntil: Date | null;
  /** Whether an attempt of this worker failed. */
  hasFailed: boolean;
  mayContinue(): boolean;
}

export function createReceiverState(hook: HookRow): ReceiverState {
  const initial = hook.failing_since;
  return {
    isResponding: null,
    failingSince: initial,
    disable: null,
    pauseUntil: null,
    hasFailed: false,
    mayContinue() {
      if (this.disable !== null || this.hasFailed) return false;
      // A hook that has recovered is served by a worker of the other kind.
      return initial === null || this.failingSince !== null;
    },
  };
}

/** Saves the results of attempts. */
export interface ResultWriter {
  add(result: DeliveryResult): void;
  /** Ids of deliveries that still look due in the database. */
  unsaved(): string[];
  /** Waits while much more was added than is saved. */
  keepUp(): Promise<void>;
  /** Resolves when everything is saved. */
  flush(): Promise<void>;
}

/** Collects results and saves them, one statement after the other: what is added during one goes with the next. */
export function createResultWriter(
  { saveResults }: ResultDependencies,
  hook: HookRow,
  receiver: ReceiverState,
): ResultWriter {
  let waiting: DeliveryResult[] = [];
  let beingSaved: readonly DeliveryResult[] = [];
  let bytes = 0;
  let lastAt = Date.now();
  let saving: Promise<void> | null = null;
  let failure: { readonly error: unknown } | null = null;
  let savedFailingSince = hook.failing_since;
  let timer: NodeJS.Timeout | null = null;

  const isWorthSaving = (): boolean =>
    waiting.length >= saveAt || bytes >= saveAtBytes || Date.now() - lastAt >= saveAfterMs;

  /** Saves at once if it is worth it, or else soon, even if no other result is added. */
  function saveSoon(): void {
    if (isWorthSaving()) save();
    else timer ??= setTimeout(save, saveAfterMs);
  }

  /** What has changed for the hook since it was last saved. */
  function changedHealth(): HookHealth {
    const { failingSince, disable, pauseUntil } = receiver;
    return {
      ...(failingSince?.getTime() === savedFailingSince?.getTime() ? {} : { failingSince }),
      ...(disable === null ? {} : { disable }),
      ...(pauseUntil === null ? {} : { pauseUntil }),
    };
  }

  function save(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (saving !== null || failure !== null || waiting.length === 0) return;
    const results = waiting;
    waiting = [];
    beingSaved = results;
    bytes = 0;
    lastAt = Date.now();
    const health = changedHealth();
    savedFailingSince = receiver.failingSince;
    saving = saveResults({ hookId: hook.id, results, health })
      // Thrown by the next `keepUp` or `flush`; nothing more is saved after it.
      .catch((error: unknown) => {
        failure = { error };
      })
      .finally(() => {
        saving = null;
        beingSaved = [];
        if (waiting.length > 0) saveSoon();
      });
  }
  return {
    add(result) {
      waiting.push(result);
      bytes += (result.payload?.length ?? 0) + (result.attempt?.response.length ?? 0);
      saveSoon();
    },
    unsaved: () => [...beingSaved, ...waiting].map(({ id }) => id),
    async keepUp() {
      while (saving !== null && (waiting.length > maxUnsaved || bytes >= saveAtBytes)) await saving;
      if (failure !== null) throw failure.error;
    },
    async flush() {
      for (save(); saving !== null; save()) await saving;
      if (failure !== null) throw failure.error;
    },
  };
}
