import type { FastifyInstance } from "fastify";
import type { Database } from "../db/database.ts";
import type { ObjectStore } from "../storage/store.ts";

/** How long a part may take to answer before it counts as unreachable. */
const patienceMs = 3000;

/** `/healthz`: the process is alive. `/readyz`: database and storage can be reached, so that requests can be served. */
export function healthRoutes(
  app: FastifyInstance,
  { db, store, started }: { db: Database; store: ObjectStore; started: { readonly isComplete: boolean } },
): void {
  app.get("/healthz", async () => ({ status: "ok" }));

  const checkParts = async () => {
    const warn = app.log.warn.bind(app.log);
    const [database, storage] = await Promise.all([
      isReachable(warn, "database", () => db.pool.query("select 1")),
      isReachable(warn, "storage", () => store.check()),
    ]);
    return { database, storage };
  };
  // Anybody may ask, so one check serves everybody for a second.
  let last: { at: number; parts: ReturnType<typeof checkParts> } | null = null;

  app.get("/readyz", async (_request, reply) => {
    if (last === null || Date.now() - last.at > 1000) last = { at: Date.now(), parts: checkParts() };
    const checks = await last.parts;
    const isReady = started.isComplete && Object.values(checks).every(Boolean);
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
