import * as contract from "../../../../contract/accounts/scim-tokens.ts";
import { because } from "../../../../contract/causes/causes.ts";
import { actorOf } from "../../../platform/audit/record.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { Database } from "../../../platform/db/database.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import { type Api, route } from "../../../platform/http/routing/route.ts";
import { scimPath } from "../scim-path.ts";
import { createScimToken, findScimTokens, revokeScimToken, type ScimTokenRow } from "./tokens.ts";

/** Tokens for SCIM: created, listed and revoked by admins. */
export function scimTokenRoutes(
  api: Api,
  { db, config }: { readonly db: Database; readonly config: Pick<Config, "baseUrl"> },
): void {
  route(api, contract.listScimTokens, async ({ principal }) => ({
    url: config.baseUrl + scimPath,
    tokens: (await findScimTokens(db.kysely, principal.workspaceId)).map(present),
  }));

  route(api, contract.createScimToken, async ({ principal, request, body }) => {
    const { id, token } = await db.kysely
      .transaction()
      .execute((tx) => createScimToken(tx, actorOf(request), body.name));
    const row = (await findScimTokens(db.kysely, principal.workspaceId)).find((found) => found.id === id);
    if (row === undefined) throw new ProblemError("wrong_state", because("token_revoked"));
    return { ...present(row), token };
  });

  route(api, contract.revokeScimToken, async ({ request, params }) => {
    await db.kysely
      .transaction()
      .execute((tx) => revokeScimToken(tx, actorOf(request), params.scim_token_id));
    return { success: true as const };
  });
}

function present(row: ScimTokenRow) {
  return {
    id: row.id,
    name: row.name,
    created_by: row.created_by,
    created_datetime: row.created_at.toISOString(),
    last_used_datetime: row.last_used_at?.toISOString() ?? null,
    ignored_attributes: row.ignored,
  };
}
