import type { FastifyInstance } from "fastify";
import type { Database } from "../db/database.ts";
import type { ObjectStore } from "../storage/local.ts";

/** How long a part may take to answer before it counts as unreachable. */
const patienceMs = 3000;

/** `/healthz`: the process is alive. `/readyz`: database and storage can be reached, so that requests can be served. */
export function healthRoutes(
  app: FastifyInstance,
  { db, store }: { db: Database; store: ObjectStore },
): void {
  app.get("/healthz", async () => ({ status: "ok" }));

  app.get("/readyz", async (request, reply) => {
    const checks = {
      database: await isReachable(request.log.warn.bind(request.log), "database", () =>
        db.pool.query("select 1"),
      ),
      storage: await isReachable(request.log.warn.bind(request.log), "storage", () => store.probe()),
    };
    const isReady = Object.values(checks).every(Boolean);
    const words = Object.fromEntries(
      Object.entries(checks).map(([name, reachable]) => [name, reachable ? "reachable" : "unreachable"]),
    );
    return reply.code(isReady ? 200 : 503).send({ status: isReady ? "ready" : "not ready", ...words });
  });
}

async function isReachable(
  warn: (detail: object, message: string) => void,
  name: string,
  check: () => Promise<unknown>,
): Promise<boolean> {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no answer within ${patienceMs} ms`)), patienceMs);
  try {
    await Promise.race([check(), timeout]);
    return true;
  } catch (error) {
    warn({ err: error }, `${name} can't be reached`);
    return false;
  } finally {
    clearTimeout(timer);
  }
}
