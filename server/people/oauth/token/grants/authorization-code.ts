import { randomUUIDv7 } from "node:crypto";
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
import { codeTtlSec } from "../../authorize/consent.ts";
import { pkceProblem } from "../../authorize/pkce.ts";
import { issueTokens } from "../issue.ts";
import { type GrantRequest, type GrantResult, refused, resourceFor } from "./result.ts";

const unknown = refused("the code is unknown, expired, used or issued to another client", true);

/**
 * Exchanges a code for tokens: once, by the client it was issued to, within a minute, with the matching verifier. Of
 * several concurrent exchanges one succeeds; each further one counts as reuse and revokes the tokens (RFC 6749, section
 * 4.1.2). A wrong verifier or redirect URI does not use the code up, so that the legitimate client can still exchange it.
 */
export async function exchangeCode(
  db: Database,
  request: GrantRequest,
  input: {
    readonly code: string;
    readonly verifier: string | undefined;
    readonly redirectUri: string | undefined;
  },
): Promise<GrantResult> {
  const hash = hashToken(input.code);
  const found = await db.kysely
    .selectFrom("oauth_codes")
    .select("grant_id")
    .where("hash", "=", hash)
    .executeTakeFirst();
  if (found === undefined) return unknown;
  return db.kysely.transaction().execute(async (tx) => {
    const grant = await lockGrant(tx, found.grant_id);
    if (grant === undefined || grant.client_id !== request.client.id) return unknown;
    const code = await readCode(tx, hash);
    if (code === undefined) return unknown;
    if (request.isGone()) return refused("the client disconnected", false);
    if (code.is_used) {
      if (code.family_id !== null) await endReusedFamily(tx, grant, code.family_id, "code", request.origin);
      return refused("the code was already used; its tokens are revoked", false);
    }
    if (code.is_expired) return unknown;
    if (input.redirectUri !== undefined && input.redirectUri !== code.redirect_uri)
      return refused("the redirect_uri differs from the one in the authorization request", true);
    const ruled = await grantRefusal(tx, grant, code.created_at, request.origin.ip);
    if (ruled !== null) return refused(ruled, false);
    const problem = pkceProblem(code.code_challenge, input.verifier);
    if (problem !== null) return refused(problem, true);
    const audience = resourceFor(request, code.resource as Resource | null);
    if ("ok" in audience) return audience;

    const familyId = randomUUIDv7();
    // Its age begins with the consent, so that tokens count as from before a rule that came between.
    await tx
      .insertInto("oauth_families")
      .values({
        id: familyId,
        grant_id: grant.id,
        resource: code.resource,
        created_at: code.created_at,
      })
      .execute();
    await tx
      .updateTable("oauth_codes")
      .set({ used_at: sql`clock_timestamp()`, family_id: familyId })
      .where("hash", "=", hash)
      .execute();
    const { accessTokenId, response } = await issueTokens(tx, {
      client: request.client,
      grant,
      familyId,
      parentId: null,
      resource: audience.resource,
    });
    await recordAudit(tx, actorOfGrant(grant, accessTokenId, request.origin), {
      action: "oauth_token_issued",
      subject: { type: "oauth_client", id: grant.client_id },
      details: { grant_id: grant.id, family_id: familyId },
    });
    return { ok: true, response } as const;
  });
}

function readCode(tx: Tx, hash: Buffer) {
  return tx
    .selectFrom("oauth_codes")
    .select(["family_id", "redirect_uri", "code_challenge", "resource"])
    .select([
      sql<Date>`expires_at - make_interval(secs => ${codeTtlSec})`.as("created_at"),
      sql<boolean>`used_at is not null`.as("is_used"),
      sql<boolean>`expires_at <= clock_timestamp()`.as("is_expired"),
    ])
    .where("hash", "=", hash)
    .executeTakeFirst();
}
