import type { FastifyInstance } from "fastify";
import { oauthPaths } from "../../../../contract/accounts/oauth.ts";
import { originOf, recordAudit } from "../../../platform/audit/record.ts";
import type { Database, Executor } from "../../../platform/db/database.ts";
import { hashToken } from "../../accounts/tokens/access-tokens.ts";
import { actorOfGrant, endFamily, lockGrant, type Origin } from "../../accounts/tokens/oauth-grants.ts";
import type { ClientRow } from "../clients/queries.ts";
import { allowOrigin, preflightRoute } from "../cors.ts";
import { refuseOtherMethods } from "../methods.ts";
import { OAuthError, sendJson } from "../oauth-error.ts";
import type { TrustedOrigins } from "../trusted-origins.ts";
import { authenticateClient, readFields, requireField } from "./client-authentication.ts";

/**
 * The revocation endpoint (RFC 7009). Revoking a refresh token, or the access token of a legacy client, revokes the whole
 * family. Any other access token is revoked alone. An unknown token counts as already revoked.
 */
export function revocationRoute(
  scope: FastifyInstance,
  { db, origins }: { readonly db: Database; readonly origins: TrustedOrigins },
): void {
  preflightRoute(scope, oauthPaths.revoke, origins);
  refuseOtherMethods(scope, oauthPaths.revoke, ["POST", "OPTIONS"]);
  scope.post(oauthPaths.revoke, async (request, reply) => {
    reply.header("vary", "origin");
    const fields = readFields(request.body);
    const client = await authenticateClient(db, request, fields, (found) =>
      allowOrigin(request, reply, found),
    );
    const isFound = await revoke(db, client, requireField(fields, "token"), originOf(request));
    if (isFound) request.refundRateLimit?.();
    return sendJson(reply, 200, {});
  });
}

/**
 * @returns whether the token existed.
 * @throws OAuthError `invalid_grant` for the token of another client, which stays valid.
 */
async function revoke(db: Database, client: ClientRow, token: string, origin: Origin): Promise<boolean> {
  const found = await findToken(db.kysely, hashToken(token));
  if (found === undefined) return false;
  if (found.client_id !== client.id)
    throw new OAuthError("invalid_grant", "the token was issued to another client");
  await db.kysely.transaction().execute(async (tx) => {
    const grant = await lockGrant(tx, found.grant_id);
    if (grant === undefined) return;
    const isAlone = found.kind === "access_token" && !client.is_legacy;
    if (isAlone) await tx.deleteFrom("access_tokens").where("id", "=", found.id).execute();
    else await endFamily(tx, grant.id, found.family_id);
    await recordAudit(tx, actorOfGrant(grant, null, origin), {
      action: "token_revoked",
      subject: { type: "oauth_client", id: client.id },
      details: { by: "client", kind: found.kind, grant_id: grant.id, family_id: found.family_id },
    });
  });
  return true;
}

interface FoundToken {
  readonly kind: "access_token" | "refresh_token";
  readonly id: string;
  readonly family_id: string;
  readonly grant_id: string;
  readonly client_id: string;
}

/** Searches both kinds of tokens and ignores the request's hint (RFC 7009, section 2.1). */
async function findToken(db: Executor, hash: Buffer): Promise<FoundToken | undefined> {
  return db
    .selectFrom((eb) =>
      eb
        .selectFrom("oauth_refresh_tokens")
        .select(["id", "family_id", eb.val<FoundToken["kind"]>("refresh_token").as("kind")])
        .where("hash", "=", hash)
        .unionAll(
          eb
            .selectFrom("access_tokens")
            .select([
              "id",
              "oauth_family_id as family_id",
              eb.val<FoundToken["kind"]>("access_token").as("kind"),
            ])
            .where("hash", "=", hash)
            .where("type", "=", "oauth")
            .$narrowType<{ family_id: string }>(),
        )
        .as("t"),
    )
    .innerJoin("oauth_families as f", "f.id", "t.family_id")
    .innerJoin("oauth_grants as g", "g.id", "f.grant_id")
    .select(["t.kind", "t.id", "t.family_id", "f.grant_id", "g.client_id"])
    .executeTakeFirst();
}
