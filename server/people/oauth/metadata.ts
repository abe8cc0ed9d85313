import type { FastifyInstance } from "fastify";
import { mcpPath, oauthPaths } from "../../../contract/accounts/oauth.ts";
import type { Config } from "../../platform/config/config.ts";

/** Authorization server metadata for clients. Sources: RFC 8414; RFC 9728, section 4. */
function serverMetadata(baseUrl: string, allowsRegistration: boolean) {
  const clientAuthentication = ["client_secret_basic", "client_secret_post", "none"];
  return {
    issuer: baseUrl,
    authorization_endpoint: baseUrl + oauthPaths.authorize,
    token_endpoint: baseUrl + oauthPaths.token,
    revocation_endpoint: baseUrl + oauthPaths.revoke,
    ...(allowsRegistration
      ? {
          registration_endpoint: baseUrl + oauthPaths.register,
          client_id_metadata_document_supported: true,
        }
      : {}),
    protected_resources: [baseUrl + mcpPath, baseUrl],
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: ["authorization_code", "refresh_token"],
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: clientAuthentication,
    revocation_endpoint_auth_methods_supported: clientAuthentication,
    authorization_response_iss_parameter_supported: true,
    prompt_values_supported: ["none", "login", "consent", "select_account"],
    service_documentation: `${baseUrl}/docs`,
  };
}

/** Serves the metadata to everyone, from any page. */
export function metadataRoute(
  scope: FastifyInstance,
  config: Pick<Config, "baseUrl" | "oauthRegistration">,
): void {
  scope.get(oauthPaths.metadata, async (_request, reply) =>
    reply
      .type("application/json; charset=utf-8")
      .headers({ "access-control-allow-origin": "*", "cache-control": "public, max-age=300" })
      .send(JSON.stringify(serverMetadata(config.baseUrl, config.oauthRegistration))),
  );
  // Clients in a page may send custom headers, which need a preflight.
  scope.options(oauthPaths.metadata, async (_request, reply) =>
    reply
      .code(204)
      .headers({
        "access-control-allow-origin": "*",
        "access-control-allow-methods": "GET",
        "access-control-allow-headers": "*",
      })
      .send(),
  );
}
