import * as contract from "../../../../contract/accounts/my-single-sign-on.ts";
import { because } from "../../../../contract/causes/causes.ts";
import type { Config } from "../../../platform/config/config.ts";
import { findProviderOf } from "../../../platform/config/sign-in-providers.ts";
import type { Database } from "../../../platform/db/database.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import { type Api, Ready, route } from "../../../platform/http/routing/route.ts";
import { findIdentities } from "../users/identities.ts";
import { mayConnect } from "../users/may-connect.ts";
import { canSignInWithout } from "../users/ways-to-sign-in.ts";
import type { OpenProvider } from "./open-provider.ts";

/** The providers of single sign-on that users connect with their accounts themselves. */
export function connectRoutes(
  api: Api,
  deps: {
    readonly db: Database;
    readonly config: Pick<Config, "signInProviders">;
    readonly open: OpenProvider;
  },
): void {
  const { db, config, open } = deps;

  route(api, contract.getMySingleSignOn, async ({ principal }) => {
    const { signInProviders: providers } = config;
    const user = { id: principal.userId, workspace_id: principal.workspaceId };
    const linked = await findIdentities(db.kysely, user.id);
    const connected = new Set(linked.map(({ issuer }) => findProviderOf(providers, issuer)));
    const allowed = await Promise.all(
      providers.map(async (provider) => ({
        provider,
        isAllowed: await mayConnect(db.kysely, user, provider.issuer, providers),
      })),
    );
    return {
      connections: await Promise.all(
        linked.map(async ({ issuer, created_at }) => ({
          issuer,
          name: findProviderOf(providers, issuer)?.name ?? null,
          connected_datetime: created_at.toISOString(),
          can_unlink: await canSignInWithout(db.kysely, user, { issuers: [issuer] }, providers),
        })),
      ),
      available: allowed
        .filter(({ provider, isAllowed }) => isAllowed && !connected.has(provider))
        .map(({ provider: { id, name } }) => ({ id, name })),
    };
  });

  route(api, contract.connectMySingleSignOn, async ({ principal, request, body }) => {
    const pages = await open(body.provider);
    const provider = config.signInProviders.find(({ id }) => id === body.provider);
    if (pages === null || provider === undefined)
      throw new ProblemError("not_found", `there is no provider ${body.provider} on this server`);
    const { name } = provider;
    const { signInProviders: providers } = config;
    const user = { id: principal.userId, workspace_id: principal.workspaceId };
    // Again when the user returns: rules and groups may change meanwhile.
    if (!(await mayConnect(db.kysely, user, provider.issuer, providers)))
      throw new ProblemError("wrong_state", because("provider_not_allowed", { provider: name }));
    const { url, cookie } = await pages
      .connect({ userId: principal.userId, sessionId: principal.tokenId })
      .catch((error: Error) => {
        request.log.warn(`a single sign-on provider can't be used: ${error.message}`);
        throw new ProblemError("wrong_state", because("provider_unreachable", { provider: name }));
      });
    return new Ready(JSON.stringify({ url }), { "set-cookie": cookie });
  });
}
