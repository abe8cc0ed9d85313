import { runThread, ThreadLimitError } from "../../../platform/run-thread.ts";
import { NotCalendarError } from "./lines.ts";
import type { ReadCalendar, ReadWindow } from "./read-events.ts";

export type WorkerResult = { readonly calendar: ReadCalendar } | { readonly problem: string };

const limits = { timeoutMs: 60_000, maxHeapMb: 512, maxYoungMb: 32 };

/**
 * Reads a calendar in a thread, because rules of recurrence come from others: none of them may block the server.
 * @throws NotCalendarError when it is none, or takes too long or too much memory.
 */
export async function readInThread(bytes: Uint8Array, window: ReadWindow): Promise<ReadCalendar> {
  const result = await runThread<WorkerResult>(
    new URL("./worker.ts", import.meta.url),
    { bytes, window },
    limits,
  ).catch(problemOf);
  if ("problem" in result) throw new NotCalendarError(result.problem);
  return result.calendar;
}

function problemOf(error: unknown): WorkerResult {
  if (!(error instanceof ThreadLimitError)) throw error;
  return {
    problem:
      error.limit === "time"
        ? `takes longer than ${limits.timeoutMs / 1000} seconds to read`
        : "needs too much memory to read",
  };
}
