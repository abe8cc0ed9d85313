import { once } from "node:events";
import { createServer } from "node:http";
import type { FastifyBaseLogger } from "fastify";
import type { Database } from "./platform/db/database.ts";
import { isReachable } from "./platform/http/listening/health.ts";
import type { Worker } from "./worker.ts";

/** Jobs are fetched at least every few seconds; without a fetch for this long, none is processed any more. */
const stalledAfterMs = 60_000;

/**
 * Serves `/healthz` and `/readyz` for a process that has no API. Both return 503 when the worker has stopped fetching
 * jobs, so that a supervisor restarts it; `/readyz` also while the database is unreachable.
 * @returns closes it.
 * @throws the system's error when the port can't be used, such as EADDRINUSE.
 */
export async function reportWorkerHealth(
  address: { readonly host: string; readonly port: number },
  { db, worker, log }: { db: Database; worker: Worker; log: FastifyBaseLogger },
): Promise<() => Promise<void>> {
  const warn = log.warn.bind(log);
  const server = createServer({ requestTimeout: 10_000, maxHeaderSize: 8192 }, (request, response) => {
    const send = (status: number, body: object): void => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    };
    const isStalled = worker.msSinceLastFetch() > stalledAfterMs;
    const jobs = isStalled ? "stalled" : "processing";
    if (request.url === "/healthz") {
      send(isStalled ? 503 : 200, { status: isStalled ? "stalled" : "ok", jobs });
    } else if (request.url === "/readyz") {
      void isReachable(warn, "database", () => db.pool.query("select 1")).then((database) => {
        const isReady = database && !isStalled;
        send(isReady ? 200 : 503, {
          status: isReady ? "ready" : "not ready",
          database: database ? "reachable" : "unreachable",
          jobs,
        });
      });
    } else send(404, { status: "not found" });
  });
  server.listen(address);
  await once(server, "listening");
  log.info(address, "reporting health");
  return () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
}
