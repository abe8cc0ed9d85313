import type { FastifyInstance, FastifyRequest } from "fastify";
import { oauthPaths } from "../../../../contract/accounts/oauth.ts";
import { originOf } from "../../../platform/audit/record.ts";
import type { Resource } from "../../../platform/auth/audience.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { Database } from "../../../platform/db/database.ts";
import { allowOrigin, preflightRoute } from "../cors.ts";
import { refuseOtherMethods } from "../methods.ts";
import { OAuthError, sendJson } from "../oauth-error.ts";
import { readResource } from "../resource.ts";
import type { TrustedOrigins } from "../trusted-origins.ts";
import { authenticateClient, type Fields, readFields, requireField } from "./client-authentication.ts";
import { exchangeCode } from "./grants/authorization-code.ts";
import { refresh } from "./grants/refresh-token.ts";
import type { GrantRequest, GrantResult } from "./grants/result.ts";
import { type Attempt, countGuess, refuseGuessing } from "./throttle.ts";

interface GrantType {
  readonly guessesAt: Attempt["kind"];
  readonly run: (db: Database, request: GrantRequest, fields: Fields) => Promise<GrantResult>;
}

/** Supported grant types. */
const grantTypes: Readonly<Record<string, GrantType>> = {
  authorization_code: {
    guessesAt: "code",
    run: (db, request, fields) =>
      exchangeCode(db, request, {
        code: requireField(fields, "code"),
        verifier: fields.code_verifier,
        redirectUri: fields.redirect_uri,
      }),
  },
  refresh_token: {
    guessesAt: "refresh_token",
    run: (db, request, fields) => refresh(db, request, requireField(fields, "refresh_token")),
  },
};

/**
 * The token endpoint (contract, "OAuth 2.0 token endpoint"; RFC 6749, section 3.2): JSON and forms, client credentials
 * in the body or by HTTP Basic. Errors are those of RFC 6749.
 */
export function tokenRoute(
  scope: FastifyInstance,
  deps: {
    readonly db: Database;
    readonly config: Pick<Config, "baseUrl">;
    readonly origins: TrustedOrigins;
  },
): void {
  const { db, config, origins } = deps;
  preflightRoute(scope, oauthPaths.token, origins);
  refuseOtherMethods(scope, oauthPaths.token, ["POST", "OPTIONS"]);
  scope.post(oauthPaths.token, async (request, reply) => {
    reply.header("vary", "origin");
    const fields = readFields(request.body);
    const grantType = requireField(fields, "grant_type");
    const client = await authenticateClient(db, request, fields, (found) =>
      allowOrigin(request, reply, found),
    );
    const grant = Object.hasOwn(grantTypes, grantType) ? grantTypes[grantType] : undefined;
    if (grant === undefined)
      throw new OAuthError(
        "unsupported_grant_type",
        `grant_type must be one of: ${Object.keys(grantTypes).join(", ")}`,
      );
    const attempt: Attempt = { kind: grant.guessesAt, clientId: client.id, ip: request.ip };
    // A client that sent the right secret does not guess, even if its tokens are wrong: a server with many users has many
    // expired refresh tokens, and anyone can call its redirect URI with an invented code.
    const isCounted = client.is_public;
    if (isCounted) await refuseGuessing(db, attempt);
    const result = await grant.run(
      db,
      {
        client,
        origin: originOf(request),
        resource: resourceOf(config.baseUrl, fields),
        isGone: () => isGone(request),
      },
      fields,
    );
    if (result.ok) {
      // An application's server refreshes the tokens of all its users from one IP address.
      request.refundRateLimit?.();
      return sendJson(reply, 200, result.response);
    }
    if (isCounted && result.isGuess) await countGuess(db, attempt);
    throw new OAuthError(result.code ?? "invalid_grant", result.reason);
  });
}

/** @throws OAuthError `invalid_target` for a resource of another server. */
function resourceOf(baseUrl: string, { resource: asked }: Fields): Resource | null | undefined {
  if (asked === undefined) return undefined;
  const resource = readResource(baseUrl, asked);
  if (resource === undefined) throw new OAuthError("invalid_target", "resource is not a URL of this server");
  return resource;
}

function isGone(request: FastifyRequest): boolean {
  return request.raw.socket.destroyed;
}
