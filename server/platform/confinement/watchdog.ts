import { Worker } from "node:worker_threads";

/** The limits that a confined program enforces on itself. */
export interface Watch {
  /** The program ends when this process ends. */
  readonly parentPid: number;
  /** Limit of the program's lifetime, whatever the parent does. */
  readonly timeoutMs: number;
}

/**
 * Starts a thread beside the work, whose own thread is busy for minutes and may hang in native code. It ends the process
 * when the parent is gone or the time is over.
 */
export function startWatchdog(watch: Watch): void {
  // As text, because Node would load its remover of types, 50 ms of processor time, for a thread with a file.
  new Worker(`(${endWithParent})(${JSON.stringify(watch)})`, { eval: true }).unref();
}

/**
 * Runs in the thread, so it uses nothing from outside itself. The operating system gives an orphan another parent. SIGKILL,
 * because an orderly exit would wait for the hanging thread. Wakes the thread pool, as ../thread-pool.ts does in a server.
 */
function endWithParent(watch: Watch): void {
  const end = performance.now() + watch.timeoutMs;
  const { fstat } = process.getBuiltinModule("node:fs");
  setInterval(() => {
    if (process.ppid !== watch.parentPid || performance.now() > end) process.kill(process.pid, "SIGKILL");
    fstat(0, () => undefined);
  }, 250);
}
