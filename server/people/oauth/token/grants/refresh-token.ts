import { sql } from "kysely";
import { recordAudit } from "../../../../platform/audit/record.ts";
import type { Resource } from "../../../../platform/auth/audience.ts";
import type { Database, Tx } from "../../../../platform/db/database.ts";
import { hashToken } from "../../../accounts/tokens/access-tokens.ts";
import {
  actorOfGrant,
  endReusedFamily,
  grantRefusal,
  lockGrant,
} from "../../../accounts/tokens/oauth-grants.ts";
import { issueTokens } from "../issue.ts";
import { countRefresh } from "../throttle.ts";
import { type GrantRequest, type GrantResult, refused, resourceFor } from "./result.ts";

/** How long after its first use a refresh token may be used again by a client that did not receive the response. */
const graceSec = 30;

/** A family that isn't used for this long ends (RFC 9700, section 4.14.2). */
export const refreshIdleDays = 180;

const unknown = refused("the refresh token is unknown, expired, revoked or issued to another client", true);

/**
 * Replaces a refresh token by new tokens.
 *
 * - An unused token is rotated: it gets a successor and an access token. Its use proves that the response with it arrived,
 *   so its predecessor and the predecessor's other successors are spent. Their access tokens stay valid until they
 *   expire, because another thread of the app may hold one.
 * - A rotated token that is not spent and within the grace period lost its response: it gets another successor. All of
 *   them are valid until one is used.
 * - A spent successor that was never used, within the grace period of its predecessor, is held by another thread of the
 *   app. It counts as one more use of the successor that was used instead, so that there is only one line of tokens.
 * - Any other spent token within its grace period is a late or duplicate request: refused, and nothing is revoked.
 * - A token used after the grace period was stolen: the whole family is revoked (RFC 9700, section 4.14.2).
 * @throws OAuthError with 429 for a family that is refreshed too often.
 */
export async function refresh(
  db: Database,
  request: GrantRequest,
  refreshToken: string,
): Promise<GrantResult> {
  const found = await db.kysely
    .selectFrom("oauth_refresh_tokens as t")
    .innerJoin("oauth_families as f", "f.id", "t.family_id")
    .select(["t.id", "t.family_id", "f.grant_id", "f.created_at as since"])
    .where("t.hash", "=", hashToken(refreshToken))
    .executeTakeFirst();
  if (found === undefined) return unknown;
  return db.kysely.transaction().execute(async (tx) => {
    const grant = await lockGrant(tx, found.grant_id);
    if (grant === undefined || grant.client_id !== request.client.id) return unknown;
    const token = await readToken(tx, found.id);
    if (token === undefined || token.is_idle) return unknown;
    if (request.isGone()) return refused("the client disconnected", false);
    const use = readUse(token);
    if (use === "reuse") {
      await endReusedFamily(tx, grant, found.family_id, "refresh_token", request.origin);
      return refused("the refresh token was already used; all its tokens are revoked", false);
    }
    if (use === "late") return refused("the refresh token was already used; use the newest one", false);
    // The token stays as it is: it works again when the rule no longer refuses it.
    const ruled = await grantRefusal(tx, grant, found.since, request.origin.ip);
    if (ruled !== null) return refused(ruled, false);
    const audience = resourceFor(request, token.resource as Resource | null);
    if ("ok" in audience) return audience;
    await countRefresh(tx, found.family_id);
    if (use === "first") await rotate(tx, found.id, token.parent_id);
    const { accessTokenId, response } = await issueTokens(tx, {
      client: request.client,
      grant,
      familyId: found.family_id,
      parentId: use === "sibling" ? token.used_instead : found.id,
      resource: audience.resource,
    });
    await tx
      .updateTable("oauth_families")
      .set({ last_used_at: sql`clock_timestamp()` })
      .where("id", "=", found.family_id)
      .execute();
    await recordAudit(tx, actorOfGrant(grant, accessTokenId, request.origin), {
      action: "oauth_token_refreshed",
      subject: { type: "oauth_client", id: grant.client_id },
      details: { grant_id: grant.id, family_id: found.family_id },
    });
    return { ok: true, response } as const;
  });
}

type Token = NonNullable<Awaited<ReturnType<typeof readToken>>>;

/** Classifies the use of a token; `refresh` describes the consequences. */
function readUse(token: Token): "first" | "again" | "sibling" | "late" | "reuse" {
  if (!token.is_rotated && !token.is_spent) return "first";
  if (!token.is_within_grace) return "reuse";
  if (!token.is_spent) return "again";
  return !token.is_rotated && token.used_instead !== null ? "sibling" : "late";
}

/** The state of a token. The caller has locked its grant. */
function readToken(tx: Tx, id: string) {
  return tx
    .selectFrom("oauth_refresh_tokens as t")
    .innerJoin("oauth_families as f", "f.id", "t.family_id")
    .leftJoin("oauth_refresh_tokens as p", "p.id", "t.parent_id")
    .select(["t.parent_id", "f.resource"])
    .select([
      sql<boolean>`t.rotated_at is not null`.as("is_rotated"),
      sql<boolean>`t.spent_at is not null`.as("is_spent"),
      // For a successor that was never used, the grace period of its predecessor counts.
      sql<boolean>`coalesce(coalesce(t.rotated_at, p.rotated_at)
        >= clock_timestamp() - make_interval(secs => ${graceSec}), false)`.as("is_within_grace"),
      sql<boolean>`f.last_used_at < clock_timestamp() - make_interval(days => ${refreshIdleDays})`.as(
        "is_idle",
      ),
      // Only one that is not spent: a spent one has a successor in use, and another beside it would be a second line.
      sql<string | null>`(select s.id from oauth_refresh_tokens s
        where s.parent_id = t.parent_id and s.id <> t.id and s.rotated_at is not null and s.spent_at is null)`.as(
        "used_instead",
      ),
    ])
    .where("t.id", "=", id)
    .executeTakeFirst();
}

/** Rotates a token on its first use. The token arrived, so its alternatives are spent. */
async function rotate(tx: Tx, id: string, parentId: string | null): Promise<void> {
  await tx
    .updateTable("oauth_refresh_tokens")
    .set({ rotated_at: sql`clock_timestamp()` })
    .where("id", "=", id)
    .execute();
  if (parentId === null) return;
  await tx
    .updateTable("oauth_refresh_tokens")
    .set({ spent_at: sql`clock_timestamp()` })
    .where((eb) => eb.or([eb("id", "=", parentId), eb("parent_id", "=", parentId)]))
    .where("id", "!=", id)
    .execute();
}
