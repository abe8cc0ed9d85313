import { setTimeout as sleep } from "node:timers/promises";
import { DataFolderInUseError, messageOf } from "../errors.ts";
import { type Acquired, reacquire } from "../start.ts";
import type { Context } from "../types.ts";

/** Waits between attempts: at once first, then longer, about a minute in all. */
const PAUSES_MS = [0, 200, 500, 1000, 2000, 4000, 8000, 15_000, 30_000];
/** One that ran shorter than this is started again after a pause, so that a crash loop is no busy loop. */
const SHORT_LIFE_MS = 2000;
const SHORT_LIFE_PAUSE_MS = 500;

/**
 * Watches the connection that holds the cluster, and brings PostgreSQL back when it is lost: killed (by the
 * out-of-memory killer, by hand), or restarting itself after one of its processes crashed. A closed connection
 * shows both, and for an adopted postmaster as well as for a child of ours. Meanwhile requests fail; their pool
 * connects again at the same socket by itself.
 *
 * Ends when `context.signal` is aborted, or after `onLost`. Returns what is held at the end.
 */
export async function supervise(
  context: Context,
  first: Acquired,
  onLost: (error: Error) => void,
): Promise<Acquired> {
  const stopped = new Promise<"stopped">((resolve) => {
    context.signal.addEventListener("abort", () => resolve("stopped"), { once: true });
  });
  let current = first;
  for (;;) {
    const since = Date.now();
    if (context.signal.aborted || (await Promise.race([current.hold.lost, stopped])) === "stopped")
      return current;
    context.log("warn", "PostgreSQL was lost: starting it again", { pid: current.hold.pid });
    try {
      if (Date.now() - since < SHORT_LIFE_MS) await pause(context, SHORT_LIFE_PAUSE_MS);
      current = await bringBack(context, current);
      context.log("info", "PostgreSQL is back", { pid: current.hold.pid });
    } catch (error) {
      if (!context.signal.aborted) onLost(error instanceof Error ? error : new Error(messageOf(error)));
      return current;
    }
  }
}

async function bringBack(context: Context, before: Acquired): Promise<Acquired> {
  let failure: unknown;
  for (const pauseMs of PAUSES_MS) {
    await pause(context, pauseMs);
    try {
      return await reacquire(context, before);
    } catch (error) {
      context.signal.throwIfAborted();
      // Another server took the folder while PostgreSQL was down: it is not ours any more.
      if (error instanceof DataFolderInUseError) throw error;
      failure = error;
      context.log("error", "PostgreSQL could not be started again", { reason: messageOf(error) });
    }
  }
  throw failure;
}

async function pause(context: Context, ms: number): Promise<void> {
  if (ms > 0) await sleep(ms, undefined, { signal: context.signal });
}
