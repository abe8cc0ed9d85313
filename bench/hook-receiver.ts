import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";

/** The number of requests at which counting restarts. */
export interface ReceiverOrder {
  readonly expect: number;
}

/** A request as it came, without what a client adds by itself. */
export interface SentMessage {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What came since the counting began; times by `process.hrtime`, the same clock in every process. */
export interface Arrivals {
  readonly firstMs: number;
  readonly lastMs: number;
  readonly count: number;
  /** How many of them had a webhook-id of their own. */
  readonly distinct: number;
  /** The first of them. */
  readonly samples: readonly SentMessage[];
}

export interface BarePosts {
  /** `request` is undici at its barest; `fetch` is what most people write. */
  readonly client: "request" | "fetch";
  readonly origin: string;
  readonly path: string;
  readonly count: number;
  readonly concurrency: number;
  readonly messages: readonly SentMessage[];
}

/** A receiver of hooks in a process of its own, and the loop it is compared with. */
export interface Receiver {
  readonly port: number;
  /**
   * Counts requests from now on.
   * @returns what waits for the last of them; it fails when not all have come in time.
   */
  expect(count: number, timeoutMs?: number): Promise<() => Promise<Arrivals>>;
  /** Posts from a process of its own. */
  postBare(posts: BarePosts): Promise<void>;
  stop(): void;
}

export async function startReceiver(): Promise<Receiver> {
  const child = fork(new URL("./hook-receiver-process.ts", import.meta.url));
  const bare = fork(new URL("./hook-bare-process.ts", import.meta.url));
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
    async postBare(posts) {
      bare.send(posts);
      const { error } = await heard<{ error?: string }>(bare, 120_000);
      if (error !== undefined) throw new Error(error);
    },
    stop() {
      child.disconnect();
      bare.disconnect();
    },
  };
}

async function heard<T>(child: ChildProcess, timeoutMs: number): Promise<T> {
  try {
    const [message] = (await once(child, "message", { signal: AbortSignal.timeout(timeoutMs) })) as [T];
    return message;
  } catch (error) {
    throw new Error(`the receiver or the loop sent nothing for ${timeoutMs / 1000} s`, { cause: error });
  }
}
