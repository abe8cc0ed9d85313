import type { Registry } from "prom-client";
import type { Replica } from "../../platform/db/replica.ts";

/** A value is at least this old before it is read again. */
const maxAgeMs = 5000;

/**
 * The state of the read replica, as this process sees it.
 * @param replica null: there is none, and no value.
 * @returns a function that reads the values again.
 */
export function measureReplica(
  prom: typeof import("prom-client"),
  registry: Registry,
  replica: Replica | null,
): () => Promise<void> {
  const registers = [registry];
  const up = new prom.Gauge({
    name: "parley_replica_up",
    help: "Whether this process can read the replica: 1 or 0. At 0, the primary serves its reads.",
    registers,
  });
  const lag = new prom.Gauge({
    name: "parley_replica_lag_bytes",
    help: "Bytes of changes that the replica has not replayed.",
    registers,
  });
  for (const gauge of [up, lag]) gauge.remove();
  let measuredAt = Number.NEGATIVE_INFINITY;
  return async () => {
    if (replica === null || performance.now() - measuredAt < maxAgeMs) return;
    measuredAt = performance.now();
    try {
      lag.set(await replica.measureLag());
      up.set(replica.isPaused() ? 0 : 1);
    } catch {
      // Without a value: how far the replica is behind is unknown. Reads of it log the reason.
      lag.remove();
      up.set(0);
    }
  };
}
