import type { FastifyInstance } from "fastify";
import type { Config } from "../config.ts";
import type { Database } from "../db/database.ts";
import { readForms } from "../http/form-body.ts";
import type { LinkSigner } from "../links/signer.ts";
import { type AuthorizeDependencies, authorizeRoutes } from "./authorize.ts";
import { createFormTokens } from "./form-token.ts";
import { metadataRoute } from "./metadata.ts";
import { handleOAuthError } from "./oauth-error.ts";
import { revocationRoute } from "./revocation.ts";
import { tokenRoute } from "./token-endpoint.ts";

/** The OAuth 2.0 server: its page for people and its endpoints for apps. None takes a version or an access token. */
export async function oauthRoutes(
  app: FastifyInstance,
  deps: {
    readonly db: Database;
    readonly signer: LinkSigner;
    readonly config: Pick<Config, "baseUrl">;
    readonly otherWaysToSignIn: AuthorizeDependencies["otherWaysToSignIn"];
  },
): Promise<void> {
  metadataRoute(app, deps.config.baseUrl);
  await app.register(async (pages) => {
    readForms(pages);
    authorizeRoutes(pages, { ...deps, formTokens: createFormTokens(deps.signer) });
  });
  await app.register(async (endpoints) => {
    readForms(endpoints);
    endpoints.setErrorHandler(handleOAuthError);
    tokenRoute(endpoints, deps);
    revocationRoute(endpoints, deps);
  });
}
