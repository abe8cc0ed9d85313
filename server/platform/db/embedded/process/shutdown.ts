import { setTimeout as sleep } from "node:timers/promises";
import type { Context } from "../types.ts";
import { isPostmaster } from "./process-facts.ts";

const POLL_MS = 20;
/** Longest fast shutdown: it writes a checkpoint, at most the 512 MB of log we allow. */
const SHUTDOWN_MS = 60_000;

/**
 * Stops a postmaster and waits until it is gone: fast shutdown (SIGINT) and, should that hang, an immediate one
 * (SIGQUIT), from which the next start recovers.
 */
export async function shutDown(context: Context, pid: number, clusterDir: string): Promise<void> {
  for (const [signal, timeoutMs] of [
    ["SIGINT", SHUTDOWN_MS],
    ["SIGQUIT", SHUTDOWN_MS / 6],
  ] as const) {
    if (!(await isPostmaster(pid, clusterDir))) return;
    if (signal === "SIGQUIT") context.log("warn", "PostgreSQL does not stop: ending it at once", { pid });
    try {
      process.kill(pid, signal);
    } catch {
      return; // It ended between the look and the signal.
    }
    const deadline = Date.now() + timeoutMs;
    while (Date.now() < deadline) {
      if (!(await isPostmaster(pid, clusterDir))) return;
      await sleep(POLL_MS);
    }
  }
  context.log("error", "PostgreSQL could not be stopped", { pid });
}
