import type { FastifyInstance } from "fastify";
import { oauthPaths } from "../../../../../contract/accounts/oauth.ts";
import type { Config } from "../../../../platform/config/config.ts";
import type { Database } from "../../../../platform/db/database.ts";
import { ipPrefixOf } from "../../../../platform/http/limits/ip-prefix.ts";
import type { RateLimiter } from "../../../../platform/http/limits/rate-limit.ts";
import { refuseOtherMethods } from "../../methods.ts";
import { OAuthError, sendJson } from "../../oauth-error.ts";
import { readMetadata } from "./metadata.ts";
import { registerClient } from "./store.ts";

/** Registrations a minute of one IP prefix. */
const maxRegistrations = 20;

/**
 * The registration endpoint (RFC 7591), open to everyone: a registration gives no access until a user consents. Apps can't
 * change their registration; they register again.
 */
export function registrationRoute(
  scope: FastifyInstance,
  {
    db,
    limiter,
    config,
  }: {
    readonly db: Database;
    readonly limiter: RateLimiter;
    readonly config: Pick<Config, "oauthRegistration" | "oauthRedirectSchemes">;
  },
): void {
  scope.addHook("onRequest", async (request, reply) => {
    if (request.url.split("?", 1)[0] === oauthPaths.register && !config.oauthRegistration) {
      reply.callNotFound();
      return reply;
    }
  });
  refuseOtherMethods(scope, oauthPaths.register, ["POST", "OPTIONS"]);
  // Pages of every origin may register: the response holds only what they sent and a new id.
  scope.options(oauthPaths.register, async (_request, reply) =>
    reply
      .code(204)
      .headers({
        "access-control-allow-origin": "*",
        "access-control-allow-methods": "POST",
        "access-control-allow-headers": "content-type, mcp-protocol-version",
      })
      .send(),
  );
  scope.post(oauthPaths.register, { bodyLimit: 64 * 1024 }, async (request, reply) => {
    reply.header("access-control-allow-origin", "*");
    const { exceeded, resetMs } = await limiter.take(
      `oauth:register:${ipPrefixOf(request.ip)}`,
      maxRegistrations,
    );
    if (exceeded) throw tooMany(Math.ceil(resetMs / 1000));
    const metadata = readMetadata(request.body, {
      isDocument: false,
      schemes: config.oauthRedirectSchemes,
    });
    if ("code" in metadata) throw new OAuthError(metadata.code, metadata.description);
    const { client, secret } = await registerClient(db, metadata);
    request.log.info({ client_id: client.id, name: client.name }, "an app registered itself");
    return sendJson(reply, 201, {
      client_id: client.id,
      client_id_issued_at: Math.floor(client.created_at.getTime() / 1000),
      ...(secret === null ? {} : { client_secret: secret, client_secret_expires_at: 0 }),
      client_name: client.name,
      redirect_uris: client.redirect_uris,
      token_endpoint_auth_method: metadata.authMethod,
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
    });
  });
}

function tooMany(seconds: number): OAuthError {
  return new OAuthError("slow_down", `too many registrations; try again in ${seconds} s`, {
    status: 429,
    headers: { "retry-after": String(seconds) },
  });
}
