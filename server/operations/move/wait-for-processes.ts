import { setTimeout as sleep } from "node:timers/promises";
import { findLaggards, type Laggard } from "../../platform/db/presence.ts";
import type { Migrating } from "./migration.ts";

const pollMs = 200;

/** A process whose session broke connects again at once, and must not be missed meanwhile. */
const quietMs = 1500;

/**
 * Waits until no process uses the stores of an earlier step.
 * @returns the processes that have not followed in time.
 */
export async function waitForProcesses(
  { client, onProgress }: Pick<Migrating, "client" | "onProgress">,
  step: number,
  maxMs: number,
): Promise<readonly Laggard[]> {
  const deadline = performance.now() + maxMs;
  let quietSince = Number.POSITIVE_INFINITY;
  for (let most = 0; ; ) {
    const laggards = await findLaggards(client, step);
    const now = performance.now();
    most = Math.max(most, laggards.length);
    onProgress({ phase: "waiting", total: most, done: most - laggards.length });
    quietSince = laggards.length > 0 ? Number.POSITIVE_INFINITY : Math.min(quietSince, now);
    if (now - quietSince >= quietMs) return [];
    if (laggards.length > 0 && now > deadline) return laggards;
    await sleep(pollMs);
  }
}
