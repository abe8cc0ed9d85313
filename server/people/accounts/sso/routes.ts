import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { defaultProviderId } from "../../../../contract/default-provider.ts";
import type { Config } from "../../../platform/config/config.ts";
import { findProviderOf } from "../../../platform/config/sign-in-providers.ts";
import type { Database } from "../../../platform/db/database.ts";
import { html } from "../../../platform/html.ts";
import { limitForms } from "../../../platform/http/limits/form-limit.ts";
import type { RateLimiter } from "../../../platform/http/limits/rate-limit.ts";
import { registerScope } from "../../../platform/http/scope.ts";
import { i18nOf } from "../../../platform/language/request-language.ts";
import { sendPage } from "../../../platform/pages/page.ts";
import { backToSignIn, servePages } from "../pages/page-parts.ts";
import { sessionCookieOf } from "../sign-in/session-cookie.ts";
import { findIssuersOf } from "../sign-in/sessions.ts";
import type { OpenProvider } from "./open-provider.ts";

/** Single sign-on with the providers of the settings. */
export async function singleSignOnRoutes(
  app: FastifyInstance,
  deps: {
    readonly db: Database;
    /** The pages of a provider by its ID; null without it. */
    readonly open: OpenProvider;
    readonly limiter: RateLimiter;
    readonly config: Pick<Config, "baseUrl" | "rateLimitPerMinute" | "signInProviders">;
    /** Takes the response to a sign-in that only tries settings; null: it is to another one. */
    readonly finishTest: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply | null>;
  },
): Promise<void> {
  const { db, config, open } = deps;

  /** The provider for a request that names none: that of the user who is signed in, or else the first one. */
  async function choose(request: FastifyRequest): Promise<string | undefined> {
    const { signInProviders: providers, baseUrl } = config;
    const issuers = providers.length < 2 ? [] : await findIssuersOf(db, sessionCookieOf(request, baseUrl));
    const own = issuers.flatMap((issuer) => findProviderOf(providers, issuer) ?? []);
    return (own[0] ?? providers[0])?.id;
  }

  await registerScope(app, async (scope) => {
    servePages(scope);
    limitForms(scope, deps);
    scope.get("/sign-in/sso", async (request, reply) => {
      const { provider } = request.query as { provider?: unknown };
      const pages = await open(String(provider ?? (await choose(request))));
      return pages === null ? reply.callNotFound() : pages.start(request, reply);
    });
    scope.post<{ Params: { provider: string } }>(
      "/sign-in/back-channel-logout/:provider",
      async (request, reply) => {
        const pages = await open(request.params.provider);
        return pages === null ? reply.callNotFound() : pages.logOut(request, reply);
      },
    );
    for (const path of ["/sign-in/callback", "/sign-in/callback/:provider"])
      scope.get<{ Params: { provider?: string } }>(path, async (request, reply) => {
        const tested = await deps.finishTest(request, reply);
        if (tested !== null) return tested;
        if (config.signInProviders.length === 0) return reply.callNotFound();
        const pages = await open(request.params.provider ?? defaultProviderId);
        return pages === null ? sendUnknown(request, reply) : pages.finish(request, reply);
      });
  });
}

/** The provider was removed while the user was there, or never existed. */
async function sendUnknown(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const i18n = await i18nOf(request);
  return sendPage(reply, {
    i18n,
    title: i18n.t("Sign-in failed"),
    status: 403,
    body: html`<h1>${i18n.t("Sign-in failed")}</h1>
<p>${i18n.t("This server no longer has this provider. Choose another way to sign in.")}</p>
${backToSignIn(i18n)}`,
  });
}
