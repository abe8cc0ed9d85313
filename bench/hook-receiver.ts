import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";

/** The number of requests at which counting restarts. */
export interface ReceiverOrder {
  readonly expect: number;
}

/** What came since the counting began; times by `process.hrtime`, the same clock in every process. */
export interface Arrivals {
  readonly firstMs: number;
  readonly lastMs: number;
  readonly count: number;
  /** How many of them had a webhook-id of their own. */
  readonly distinct: number;
}

/** A receiver of hooks in a process of its own. */
export interface Receiver {
  readonly port: number;
  /**
   * Counts requests from now on.
   * @returns what waits for the last of them; it fails when not all have come in time.
   */
  expect(count: number, timeoutMs?: number): Promise<() => Promise<Arrivals>>;
  stop(): void;
}

export async function startReceiver(): Promise<Receiver> {
  const child = fork(new URL("./hook-receiver-process.ts", import.meta.url));
  const { port } = await heard<{ port: number }>(child, 10_000);
  return {
    port,
    async expect(count, timeoutMs = 120_000) {
      child.send({ expect: count } satisfies ReceiverOrder);
      await heard(child, 10_000);
      const arrivals = heard<{ arrivals: Arrivals }>(child, timeoutMs);
      // It is awaited below; until then its failure must not count as unhandled.
      arrivals.catch(() => {});
      return async () => (await arrivals).arrivals;
    },
    stop() {
      child.disconnect();
    },
  };
}

async function heard<T>(child: ChildProcess, timeoutMs: number): Promise<T> {
  try {
    const [message] = (await once(child, "message", { signal: AbortSignal.timeout(timeoutMs) })) as [T];
    return message;
  } catch (error) {
    throw new Error(`the receiver sent nothing for ${timeoutMs / 1000} s`, { cause: error });
  }
}
