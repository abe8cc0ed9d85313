import { sql } from "kysely";
import { hashToken } from "../../accounts/access-tokens.ts";
import { recordAudit } from "../../audit/record.ts";
import type { Database, Tx } from "../../db/database.ts";
import { actorOfGrant, endReusedFamily, lockGrant } from "../families.ts";
import { issueTokens } from "../issue.ts";
import { countRefresh } from "../throttle.ts";
import { type GrantRequest, type GrantResult, refused } from "./result.ts";

/** How long after its first use a refresh token may be used again by a client that did not get the answer. */
export const graceSec = 30;

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
 *   answer it came in had arrived, so the token before it and that one's other successors are spent from now on. The
 *   access tokens of those live out their time: another thread of the same app may hold one.
 * - A token rotated within the grace and not spent lost its answer: it gets another successor. All of them are good
 *   until one is used.
 * - A spent successor that was never used, within the grace of the token it came of, is what another thread of the app
 *   got: it counts as one more use of the successor that was used instead, so that there are never two lines of tokens.
 * - Any other spent token within its grace is a request that was late or sent twice: refused, and nothing ends.
 * - A token used after the grace is in two hands: the whole family ends (RFC 9700, section 4.14.2).
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
    const use = readUse(token);
    if (use === "reuse") {
      await endReusedFamily(tx, grant, found.family_id, "refresh_token", request.origin);
      return refused("the refresh token was used before; all tokens that came of it are revoked", false);
    }
    if (use === "late") return refused("the refresh token was used before; use the newest one", false);
    await countRefresh(tx, found.family_id);
    if (use === "first") await rotate(tx, found.id, token.parent_id);
    const { accessTokenId, answer } = await issueTokens(tx, {
      client: request.client,
      grant,
      familyId: found.family_id,
      parentId: use === "sibling" ? token.used_instead : found.id,
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

type Token = NonNullable<Awaited<ReturnType<typeof readToken>>>;

/** What the use of a token means; the head of `refresh` says what follows. */
function readUse(token: Token): "first" | "again" | "sibling" | "late" | "reuse" {
  if (!token.is_rotated && !token.is_spent) return "first";
  if (!token.is_within_grace) return "reuse";
  if (!token.is_spent) return "again";
  return !token.is_rotated && token.used_instead !== null ? "sibling" : "late";
}

/** The state of a token, read while its grant is held. */
function readToken(tx: Tx, id: string) {
  return tx
    .selectFrom("oauth_refresh_tokens as t")
    .innerJoin("oauth_families as f", "f.id", "t.family_id")
    .leftJoin("oauth_refresh_tokens as p", "p.id", "t.parent_id")
    .select("t.parent_id")
    .select([
      sql<boolean>`t.rotated_at is not null`.as("is_rotated"),
      sql<boolean>`t.spent_at is not null`.as("is_spent"),
      // Of a successor that was never used the time that counts is the one of the token it came of.
      sql<boolean>`coalesce(coalesce(t.rotated_at, p.rotated_at)
        >= clock_timestamp() - make_interval(secs => ${graceSec}), false)`.as("is_within_grace"),
      sql<boolean>`f.last_used_at < clock_timestamp() - make_interval(days => ${refreshIdleDays})`.as(
        "is_idle",
      ),
      // One that is spent itself has a successor in use; another one beside that would be a second line.
      sql<string | null>`(select s.id from oauth_refresh_tokens s
        where s.parent_id = t.parent_id and s.id <> t.id and s.rotated_at is not null and s.spent_at is null)`.as(
        "used_instead",
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
  await tx
    .updateTable("oauth_refresh_tokens")
    .set({ spent_at: sql`clock_timestamp()` })
    .where((eb) => eb.or([eb("id", "=", parentId), eb("parent_id", "=", parentId)]))
    .where("id", "!=", id)
    .execute();
}
