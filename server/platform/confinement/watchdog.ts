import { workerData } from "node:worker_threads";

/** The limits that a confined program enforces on itself. */
export interface Watch {
  /** The program ends when this process ends. */
  readonly parentPid: number;
  /** Limit of the program's lifetime, whatever the parent does. */
  readonly timeoutMs: number;
}

/**
 * Runs in a thread beside the work, whose own thread is busy for minutes and may hang in native code. Ends the process
 * when the parent is gone (the operating system gives an orphan another parent) or the time is over. SIGKILL, because
 * an orderly exit would wait for the hanging thread.
 */
const watch = workerData as Watch;
const end = performance.now() + watch.timeoutMs;
setInterval(() => {
  if (process.ppid !== watch.parentPid || performance.now() > end) process.kill(process.pid, "SIGKILL");
}, 250);
