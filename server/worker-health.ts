import type { FastifyBaseLogger } from "fastify";
import type { Database } from "./platform/db/database.ts";
import { isReachable } from "./platform/http/listening/health.ts";
import { type StatusListener, sendJson } from "./platform/http/listening/status-listener.ts";
import type { Worker } from "./worker.ts";

/** Jobs are fetched at least every few seconds; without a fetch for this long, none is processed any more. */
const stalledAfterMs = 60_000;

/**
 * Serves `/healthz` and `/readyz` for a process that has no API. Both return 503 when the worker has stopped fetching
 * jobs, so that a supervisor restarts it; `/readyz` also while the database is unreachable.
 */
export function reportWorkerHealth(
  listener: StatusListener,
  {
    db,
    worker,
    versions,
    log,
  }: {
    db: Database;
    worker: Worker;
    versions: { readonly needed: string | null };
    log: FastifyBaseLogger;
  },
): void {
  const warn = log.warn.bind(log);
  const isStalled = (): boolean => versions.needed === null && worker.msSinceLastFetch() > stalledAfterMs;
  const jobs = (): string => (isStalled() ? "stalled" : "processing");
  listener.serve("/healthz", (_request, response) =>
    sendJson(response, isStalled() ? 503 : 200, { status: isStalled() ? "stalled" : "ok", jobs: jobs() }),
  );
  listener.serve("/readyz", async (_request, response) => {
    if (versions.needed !== null) {
      sendJson(response, 503, { status: "too old", needed_version: versions.needed });
      return;
    }
    const database = await isReachable(warn, "database", () => db.pool.query("select 1"));
    const isReady = database && !isStalled();
    sendJson(response, isReady ? 200 : 503, {
      status: isReady ? "ready" : "not ready",
      database: database ? "reachable" : "unreachable",
      jobs: jobs(),
    });
  });
}
