import * as contract from "../../contract/account-tokens.ts";
import { parseTimestamp } from "../../contract/common.ts";
import { actorOf } from "../audit/record.ts";
import type { Database } from "../db/database.ts";
import { ProblemError } from "../http/problem.ts";
import { type Api, route } from "../http/route.ts";
import { findTokens, issueToken, type ListedToken, revokeToken } from "./tokens.ts";

/** Access tokens: issue, list, revoke. */
export function tokenRoutes(api: Api, { db }: { readonly db: Database }): void {
  route(api, contract.createToken, async ({ principal, request, body }) => {
    const expiresAt = body.expires_at === undefined ? null : parseTimestamp(body.expires_at);
    const { id, token } = await db.kysely
      .transaction()
      .execute((tx) =>
        issueToken(tx, actorOf(request), principal, { type: body.type, name: body.name, expiresAt }),
      );
    const [row] = await findTokens(db.kysely, principal.workspaceId, { id });
    if (row === undefined) throw new ProblemError("wrong_state", "the token was revoked at this moment");
    return { ...present(row), token };
  });

  route(api, contract.listTokens, async ({ principal, query }) => {
    const ofAll = query.of === "workspace";
    if (ofAll && principal.role !== "admin")
      throw new ProblemError("forbidden", "only admins list the tokens of everybody");
    const filter = ofAll ? {} : { userId: principal.userId };
    return { tokens: (await findTokens(db.kysely, principal.workspaceId, filter)).map(present) };
  });

  route(api, contract.revokeToken, async ({ principal, request, params }) => {
    const ofUser = principal.role === "admin" ? null : principal.userId;
    await db.kysely.transaction().execute((tx) => revokeToken(tx, actorOf(request), params.token_id, ofUser));
    return { success: true as const };
  });
}

function present(row: ListedToken) {
  return {
    id: row.id,
    type: row.type,
    name: row.name,
    user_id: row.user_id,
    created_datetime: row.created_at.toISOString(),
    last_used_datetime: row.last_used_at?.toISOString() ?? null,
    expires_at: row.expires_at?.toISOString() ?? null,
  };
}
