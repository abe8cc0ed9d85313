import type { FastifyInstance } from "fastify";
import { version } from "../../version.ts";
import { ProblemError, sendProblem } from "../errors/problem.ts";

/** These report the state themselves. */
const healthPaths = new Set(["/healthz", "/readyz"]);

/**
 * Refuses every request once the database needs a newer program: a proxy sends them to processes of the newer version.
 * @param versions.needed the version that the database needs; null: this one will do.
 */
export function refuseWhenTooOld(app: FastifyInstance, versions: { readonly needed: string | null }): void {
  app.addHook("onRequest", async (request, reply) => {
    if (versions.needed === null || healthPaths.has(request.url.split("?", 1)[0] ?? "")) return;
    // Not thrown, which would log an error for each request.
    return sendProblem(
      request,
      reply,
      new ProblemError(
        "unavailable",
        `this server runs Parley ${version}, and its database needs ${versions.needed} or newer; upgrade this server`,
        { headers: { "retry-after": "30", connection: "close" } },
      ),
    );
  });
}
