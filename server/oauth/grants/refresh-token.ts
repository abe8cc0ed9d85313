import { sql } from "kysely";
import { hashToken } from "../../accounts/access-tokens.ts";
import { recordAudit } from "../../audit/record.ts";
import type { Database, Tx } from "../../db/database.ts";
import { actorOfGrant, endReusedFamily, lockGrant } from "../families.ts";
import { issueTokens } from "../issue.ts";
import { type GrantRequest, type GrantResult, refused } from "./result.ts";

/** How long after its first use a refresh token may be used again by a client that did not get the answer. */
export const graceSec = 30;

/** A client that loses more answers than this within the grace is not losing answers. */
const mostSuccessors = 100;

/** A family that isn't used for this long ends (RFC 9700, section 4.14.2). */
export const refreshIdleDays = 180;

const unknown = refused(
  "the refresh token is unknown, expired, revoked or was made for another client",
  true,
);

/**
 * Gives new tokens in place of a refresh token, which is then used up.
 *
 * - A token not used yet is rotated: a successor and an access token come in its place. Its own use proves that the
 *   answer it came in had arrived, so the token before it and that one's other successors are spent from now on, and
 *   the access tokens of those successors end.
 * - A token rotated within the grace and not spent lost its answer: it gets another successor. All of them are good
 *   until one is used.
 * - A spent token, or one rotated before the grace, is in two hands: the whole family ends (RFC 9700, section 4.14.2).
 */
export async function refresh(
  db: Database,
  request: GrantRequest,
  refreshToken: string,
): Promise<GrantResult> {
  const found = await db.kysely
    .selectFrom("oauth_refresh_tokens as t")
    .innerJoin("oauth_families as f", "f.id", "t.family_id")
    .select(["t.id", "t.family_id", "f.grant_id"])
    .where("t.hash", "=", hashToken(refreshToken))
    .executeTakeFirst();
  if (found === undefined) return unknown;
  return db.kysely.transaction().execute(async (tx) => {
    const grant = await lockGrant(tx, found.grant_id);
    if (grant === undefined || grant.client_id !== request.client.id) return unknown;
    const token = await readToken(tx, found.id);
    if (token === undefined || token.is_idle) return unknown;
    if (request.isGone()) return refused("the client went away", false);
    if (token.is_reused || token.successors >= mostSuccessors) {
      await endReusedFamily(tx, grant, found.family_id, "refresh_token", request.origin);
      return refused("the refresh token was used before; all tokens that came of it are revoked", false);
    }
    if (!token.is_rotated) await rotate(tx, found.id, token.parent_id);
    const { accessTokenId, answer } = await issueTokens(tx, {
      client: request.client,
      grant,
      familyId: found.family_id,
      parentId: found.id,
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
    return { ok: true, answer } as const;
  });
}

/** The state of a token, read while its grant is held. */
function readToken(tx: Tx, id: string) {
  return tx
    .selectFrom("oauth_refresh_tokens as t")
    .innerJoin("oauth_families as f", "f.id", "t.family_id")
    .select("t.parent_id")
    .select([
      sql<boolean>`t.rotated_at is not null`.as("is_rotated"),
      sql<boolean>`t.spent_at is not null
        or coalesce(t.rotated_at < clock_timestamp() - make_interval(secs => ${graceSec}), false)`.as(
        "is_reused",
      ),
      sql<boolean>`f.last_used_at < clock_timestamp() - make_interval(days => ${refreshIdleDays})`.as(
        "is_idle",
      ),
      sql<number>`(select count(*)::int from oauth_refresh_tokens s where s.parent_id = t.id)`.as(
        "successors",
      ),
    ])
    .where("t.id", "=", id)
    .executeTakeFirst();
}

/** The first use of a token: it has arrived, so what could have come instead of it is spent. */
async function rotate(tx: Tx, id: string, parentId: string | null): Promise<void> {
  await tx
    .updateTable("oauth_refresh_tokens")
    .set({ rotated_at: sql`clock_timestamp()` })
    .where("id", "=", id)
    .execute();
  if (parentId === null) return;
  const siblings = await tx
    .updateTable("oauth_refresh_tokens")
    .set({ spent_at: sql`clock_timestamp()` })
    .where((eb) => eb.or([eb("id", "=", parentId), eb("parent_id", "=", parentId)]))
    .where("id", "!=", id)
    .returning("id")
    .execute();
  const lost = siblings.map((sibling) => sibling.id).filter((sibling) => sibling !== parentId);
  if (lost.length > 0) await tx.deleteFrom("access_tokens").where("oauth_refresh_id", "in", lost).execute();
}
