import { getCompileCacheDir } from "node:module";
import { Worker } from "node:worker_threads";
import { NotCalendarError } from "./lines.ts";
import type { ReadCalendar, ReadWindow } from "./read-events.ts";

export type WorkerResult = { readonly calendar: ReadCalendar } | { readonly problem: string };

const timeoutMs = 60_000;
const maxHeapMb = 512;

/**
 * Reads a calendar in a thread, because rules of recurrence come from others: none of them may block the server.
 * @throws NotCalendarError when it is none, or takes too long or too much memory.
 */
export async function readInThread(bytes: Uint8Array, window: ReadWindow): Promise<ReadCalendar> {
  const cache = getCompileCacheDir();
  const worker = new Worker(new URL("./worker.ts", import.meta.url), {
    workerData: { bytes, window },
    // Code that reads what others wrote must not see the server's settings.
    env: cache === undefined ? {} : { NODE_COMPILE_CACHE: cache },
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMb, maxYoungGenerationSizeMb: 32 },
  });
  const { promise, resolve, reject } = Promise.withResolvers<WorkerResult>();
  const timer = setTimeout(
    () => resolve({ problem: `takes longer than ${timeoutMs / 1000} seconds to read` }),
    timeoutMs,
  );
  worker.on("message", resolve);
  worker.on("error", (error: NodeJS.ErrnoException) =>
    error.code === "ERR_WORKER_OUT_OF_MEMORY"
      ? resolve({ problem: "needs too much memory to read" })
      : reject(error),
  );
  // The exit event may overtake the message.
  worker.on("exit", () =>
    setImmediate(setImmediate, () => reject(new Error("the thread ended without a result"))),
  );
  try {
    const result = await promise;
    if ("problem" in result) throw new NotCalendarError(result.problem);
    return result.calendar;
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}
