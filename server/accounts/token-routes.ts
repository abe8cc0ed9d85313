import * as contract from "../../contract/account-tokens.ts";
import { parseTimestamp } from "../../contract/common.ts";
import { actorOf } from "../audit/record.ts";
import type { Config } from "../config.ts";
import type { Database } from "../db/database.ts";
import { decodeCursor, encodeCursor } from "../http/cursor.ts";
import { ProblemError } from "../http/problem.ts";
import { type Api, route } from "../http/route.ts";
import { findIssuedToken, findTokens, issueToken, type ListedToken, revokeToken } from "./tokens.ts";

const cursorName = "tokens";

/** Access tokens: issue, list, revoke. */
export function tokenRoutes(
  api: Api,
  { db, config }: { readonly db: Database; readonly config: Pick<Config, "pageSize"> },
): void {
  route(api, contract.createToken, async ({ principal, request, body }) => {
    const expiresAt = body.expires_at === undefined ? null : parseTimestamp(body.expires_at);
    const { id, token } = await db.kysely
      .transaction()
      .execute((tx) =>
        issueToken(tx, actorOf(request), principal, { type: body.type, name: body.name, expiresAt }),
      );
    const row = await findIssuedToken(db.kysely, id);
    if (row === undefined) throw new ProblemError("wrong_state", "the token was revoked at this moment");
    return { ...present(row), token };
  });

  route(api, contract.listTokens, async ({ principal, query }) => {
    const ofAll = query.of === "workspace";
    if (ofAll && principal.role !== "admin")
      throw new ProblemError("forbidden", "only admins list the tokens of everybody");
    const rows = await findTokens(db.kysely, principal.workspaceId, {
      ...(ofAll ? {} : { userId: principal.userId }),
      after: query.cursor === undefined ? null : decodeCursor(cursorName, query.cursor),
      // One more than the page shows whether there is a next one.
      limit: config.pageSize + 1,
    });
    const page = rows.slice(0, config.pageSize);
    const last = page.at(-1);
    const cursor =
      rows.length > page.length && last
        ? encodeCursor(cursorName, { at: last.created_at, id: last.id })
        : null;
    return { tokens: page.map(present), cursor };
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
