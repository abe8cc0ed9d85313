import { randomUUIDv7 } from "node:crypto";
import { sql } from "kysely";
import type { TokenResponse } from "../../../../contract/accounts/oauth.ts";
import type { Resource } from "../../../platform/auth/audience.ts";
import type { Tx } from "../../../platform/db/database.ts";
import { generateToken, hashToken } from "../../accounts/tokens/access-tokens.ts";
import type { LockedGrant } from "../../accounts/tokens/oauth-grants.ts";
import type { ClientRow } from "../clients/queries.ts";
import { generateSecret } from "../clients/secrets.ts";

/** Lifetime of an access token. Source: design, section 4. */
const accessTokenTtlSec = 3600;

/**
 * Adds an access token and, unless the client is a legacy one, a refresh token to a family.
 * @param input.resource what the access token is restricted to; null: nothing.
 * @param input.parentId the refresh token they replace.
 */
export async function issueTokens(
  tx: Tx,
  input: {
    readonly client: ClientRow;
    readonly grant: LockedGrant;
    readonly familyId: string;
    readonly parentId: string | null;
    readonly resource: Resource | null;
  },
): Promise<{ readonly accessTokenId: string; readonly response: TokenResponse }> {
  const { client, grant, familyId, parentId, resource } = input;
  const refreshToken = client.is_legacy ? null : generateSecret("refresh");
  if (refreshToken !== null)
    await tx
      .insertInto("oauth_refresh_tokens")
      .values({
        id: randomUUIDv7(),
        family_id: familyId,
        hash: hashToken(refreshToken),
        parent_id: parentId,
      })
      .execute();
  const accessToken = generateToken("oauth");
  const accessTokenId = randomUUIDv7();
  await tx
    .insertInto("access_tokens")
    .values({
      id: accessTokenId,
      workspace_id: grant.workspace_id,
      user_id: grant.user_id,
      type: "oauth",
      name: client.name,
      hash: hashToken(accessToken),
      expires_at: client.is_legacy
        ? null
        : sql<Date>`clock_timestamp() + make_interval(secs => ${accessTokenTtlSec})`,
      oauth_family_id: familyId,
      resource,
    })
    .execute();
  await tx
    .updateTable("oauth_grants")
    .set({ last_used_at: sql`clock_timestamp()` })
    .where("id", "=", grant.id)
    .execute();
  const response: TokenResponse =
    refreshToken === null
      ? { token_type: "bearer", access_token: accessToken }
      : {
          token_type: "bearer",
          access_token: accessToken,
          refresh_token: refreshToken,
          expires_in: accessTokenTtlSec,
        };
  return { accessTokenId, response };
}
