import type { FastifyInstance } from "fastify";
import type { Database } from "../../db/database.ts";
import type { ObjectStore } from "../../storage/store.ts";

/** How long a check may take before the part counts as unreachable. */
const timeoutMs = 3000;

/**
 * `/healthz`: the process is alive. `/readyz`: requests can be served, which takes the database. Storage is reported
 * but decides nothing: without it everything but files still works, and another process would not have it either.
 */
export function healthRoutes(
  app: FastifyInstance,
  {
    db,
    store,
    draining,
    versions,
  }: {
    db: Database;
    store: ObjectStore;
    draining: { readonly isActive: boolean };
    versions: { readonly needed: string | null };
  },
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
  // The routes need no token, so one check serves all requests of a second.
  let last: { at: number; parts: ReturnType<typeof checkParts> } | null = null;

  app.get("/readyz", async (_request, reply) => {
    if (versions.needed !== null)
      return reply.code(503).send({ status: "too old", needed_version: versions.needed });
    if (draining.isActive) return reply.code(503).send({ status: "stopping" });
    if (last === null || performance.now() - last.at > 1000)
      last = { at: performance.now(), parts: checkParts() };
    const { database, storage } = await last.parts;
    return reply.code(database ? 200 : 503).send({
      status: database ? "ready" : "not ready",
      database: wordFor(database),
      storage: wordFor(storage),
    });
  });
}

function wordFor(isThere: boolean): string {
  return isThere ? "reachable" : "unreachable";
}

/** Whether a check succeeds in time; a failure is logged. */
export async function isReachable(
  warn: (detail: object, message: string) => void,
  name: string,
  check: () => Promise<unknown>,
): Promise<boolean> {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no response within ${timeoutMs} ms`)), timeoutMs);
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
