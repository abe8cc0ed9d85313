import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Config, SingleSignOnSettings } from "../../../platform/config/config.ts";
import type { Encryptor } from "../../../platform/crypto/encryptor.ts";
import type { Database } from "../../../platform/db/database.ts";
import { servePages } from "../pages/page-parts.ts";
import type { createSingleSignOnPages } from "./pages.ts";

type Pages = ReturnType<typeof createSingleSignOnPages>;

/** Single sign-on with the provider of the settings, if there is one. */
export async function singleSignOnRoutes(
  app: FastifyInstance,
  deps: {
    readonly db: Database;
    readonly encryptor: Encryptor;
    readonly config: Pick<Config, "baseUrl" | "singleSignOn">;
    /** Takes the response to a sign-in that only tries settings; null: it is to another one. */
    readonly finishTest: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply | null>;
  },
): Promise<void> {
  const { db, encryptor, config } = deps;
  let last: { readonly settings: SingleSignOnSettings; readonly pages: Pages } | undefined;

  async function open(): Promise<Pages | null> {
    const settings = config.singleSignOn;
    if (settings === null) return null;
    if (last?.settings === settings) return last.pages;
    // Loaded only now: most servers have no provider.
    const { createSingleSignOnPages } = await import("./pages.ts");
    const pages = createSingleSignOnPages(settings, { db, encryptor, baseUrl: config.baseUrl });
    last = { settings, pages };
    return pages;
  }

  await app.register(async (scope) => {
    servePages(scope);
    for (const [path, page] of [
      ["/sign-in/sso", "start"],
      ["/sign-in/callback", "finish"],
    ] as const)
      scope.get(path, async (request, reply) => {
        const tested = page === "finish" ? await deps.finishTest(request, reply) : null;
        if (tested !== null) return tested;
        const pages = await open();
        return pages === null ? reply.callNotFound() : pages[page](request, reply);
      });
  });
}
