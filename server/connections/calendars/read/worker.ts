import { parentPort, workerData } from "node:worker_threads";
import { NotCalendarError } from "./lines.ts";
import { type ReadWindow, readCalendar } from "./read-events.ts";
import type { WorkerResult } from "./run-worker.ts";

/** The thread that reads one calendar and ends. */
const { bytes, window } = workerData as { bytes: Uint8Array; window: ReadWindow };

function read(): WorkerResult {
  try {
    return { calendar: readCalendar(bytes, window) };
  } catch (error) {
    if (error instanceof NotCalendarError) return { problem: error.message };
    throw error;
  }
}

parentPort?.postMessage(read());
