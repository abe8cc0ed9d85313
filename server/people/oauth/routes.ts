import type { FastifyInstance } from "fastify";
import type { CompatibilityDefaults, Config } from "../../platform/config/config.ts";
import type { Encryptor } from "../../platform/crypto/encryptor.ts";
import type { LinkSigner } from "../../platform/crypto/link-signer.ts";
import type { Database } from "../../platform/db/database.ts";
import { readForms } from "../../platform/http/body/form-body.ts";
import type { RateLimiter } from "../../platform/http/limits/rate-limit.ts";
import { registerScope } from "../../platform/http/scope.ts";
import { type AuthorizeDependencies, authorizeRoutes } from "./authorize/authorize.ts";
import { createFormTokens } from "./authorize/form-token.ts";
import type { DocumentFetcher } from "./clients/self-registered/documents.ts";
import { createFindApp } from "./clients/self-registered/find.ts";
import { registrationRoute } from "./clients/self-registered/registration.ts";
import { metadataRoute } from "./metadata.ts";
import { handleOAuthError } from "./oauth-error.ts";
import { revocationRoute } from "./token/revocation.ts";
import { tokenRoute } from "./token/token-endpoint.ts";
import type { TrustedOrigins } from "./trusted-origins.ts";

/** The OAuth 2.0 server: the authorization page and the endpoints for apps. None needs a version or an access token. */
export async function oauthRoutes(
  app: FastifyInstance,
  deps: {
    readonly db: Database;
    readonly encryptor: Encryptor;
    readonly signer: LinkSigner;
    readonly config: Pick<Config, "baseUrl" | "oauthRegistration" | "oauthRedirectSchemes"> &
      CompatibilityDefaults;
    readonly limiter: RateLimiter;
    readonly documents: DocumentFetcher;
    readonly origins: TrustedOrigins;
    readonly otherWaysToSignIn: AuthorizeDependencies["otherWaysToSignIn"];
  },
): Promise<void> {
  metadataRoute(app, deps.config);
  const findApp = createFindApp({ ...deps, log: app.log });
  await registerScope(app, async (pages) => {
    readForms(pages);
    authorizeRoutes(pages, { ...deps, findApp, formTokens: createFormTokens(deps.signer) });
  });
  await registerScope(app, async (endpoints) => {
    readForms(endpoints);
    endpoints.setErrorHandler(handleOAuthError);
    tokenRoute(endpoints, deps);
    revocationRoute(endpoints, deps);
    registrationRoute(endpoints, deps);
  });
}
