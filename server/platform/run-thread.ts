import { getCompileCacheDir } from "node:module";
import { Worker } from "node:worker_threads";

/** A thread took too long, or more memory than it may. */
export class ThreadLimitError extends Error {
  readonly limit: "time" | "memory";
  constructor(limit: "time" | "memory") {
    super(`the thread reached its limit of ${limit}`);
    this.limit = limit;
  }
}

/**
 * Starts a thread that does not see the server's settings, because it handles what others wrote. It shares the server's cache
 * of compiled code, without which each thread would remove the types of its files again.
 */
export function startThread(
  entry: URL,
  workerData: unknown,
  { maxHeapMb, maxYoungMb }: { readonly maxHeapMb: number; readonly maxYoungMb: number },
): Worker {
  const cache = getCompileCacheDir();
  return new Worker(entry, {
    workerData,
    env: cache === undefined ? {} : { NODE_COMPILE_CACHE: cache },
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMb, maxYoungGenerationSizeMb: maxYoungMb },
  });
}

/** Whether a thread ended because its heap was full. */
export function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
}

/**
 * Runs a thread that posts one message and ends.
 * @returns the message.
 * @throws ThreadLimitError; what the thread throws.
 */
export async function runThread<T>(
  entry: URL,
  workerData: unknown,
  limits: { readonly maxHeapMb: number; readonly maxYoungMb: number; readonly timeoutMs: number },
): Promise<T> {
  const worker = startThread(entry, workerData, limits);
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const timer = setTimeout(() => reject(new ThreadLimitError("time")), limits.timeoutMs);
  worker.on("message", resolve);
  worker.on("error", (error) => reject(isOutOfMemory(error) ? new ThreadLimitError("memory") : error));
  // The exit event may overtake the message.
  worker.on("exit", () =>
    setImmediate(setImmediate, () => reject(new Error("the thread ended without a result"))),
  );
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}
