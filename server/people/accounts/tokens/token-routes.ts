import * as contract from "../../../../contract/accounts/account-tokens.ts";
import { because } from "../../../../contract/causes/causes.ts";
import { parseTimestamp } from "../../../../shared/times/timestamp.ts";
import { actorOf } from "../../../platform/audit/record.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { Database } from "../../../platform/db/database.ts";
import type { StoredRules } from "../../../platform/db/json-columns.ts";
import { transactWithRetry } from "../../../platform/db/retry.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import { readPage, timeCursor } from "../../../platform/http/page.ts";
import { type Api, route } from "../../../platform/http/routing/route.ts";
import { endOf, findRules } from "../../access/security-rules.ts";
import { findIssuedToken, findTokens, issueToken, type ListedToken, revokeToken } from "./tokens.ts";

const cursorFormat = timeCursor("tokens");

/** Access tokens: issue, list, revoke. */
export function tokenRoutes(
  api: Api,
  {
    db,
    config,
  }: {
    readonly db: Database;
    readonly config: Pick<Config, "pageSize" | "tokensPerUser" | "datetimeFilters" | "compatibility">;
  },
): void {
  route(api, contract.createToken, async ({ principal, request, body }) => {
    const expiresAt = body.expires_at === undefined ? null : parseTimestamp(body.expires_at);
    const { id, token } = await db.kysely.transaction().execute((tx) =>
      issueToken(
        tx,
        actorOf(request),
        request,
        {
          type: body.type,
          name: body.name,
          expiresAt,
          datetimeFilters: body.datetime_filters ?? config.datetimeFilters,
          compatibility: body.compatibility ?? config.compatibility,
        },
        config.tokensPerUser,
      ),
    );
    const row = await findIssuedToken(db.kysely, id);
    if (row === undefined) throw new ProblemError("wrong_state", because("token_revoked"));
    return { ...present(row, await findRules(db.kysely, principal.workspaceId), config), token };
  });

  route(api, contract.listTokens, async ({ principal, query }) => {
    const ofAll = query.of === "workspace";
    if (ofAll && principal.role !== "admin")
      throw new ProblemError("forbidden", "only admins can list other users' tokens");
    const owner = ofAll ? {} : { userId: principal.userId };
    const { rows, cursor } = await readPage({
      cursor: query.cursor,
      size: config.pageSize,
      format: cursorFormat,
      fetch: (page) => findTokens(db.kysely, principal.workspaceId, { ...owner, ...page }),
      positionOf: ({ created_at: at, id }) => ({ at, id }),
    });
    const rules = await findRules(db.kysely, principal.workspaceId);
    return { tokens: rows.map((row) => present(row, rules, config)), cursor };
  });

  route(api, contract.revokeToken, async ({ principal, request, params }) => {
    const ofUser = principal.role === "admin" ? null : principal.userId;
    const revoked = await transactWithRetry(db, (tx) =>
      revokeToken(tx, actorOf(request), params.token_id.toLowerCase(), ofUser),
    );
    return { success: true as const, revoked_tokens: revoked.length };
  });
}

function present(
  row: ListedToken,
  rules: StoredRules | null,
  setting: Pick<Config, "datetimeFilters" | "compatibility">,
) {
  const end = endOf(rules, { since: row.created_at, expiresAt: row.expires_at, kind: "token" });
  return {
    id: row.id,
    type: row.type,
    name: row.name,
    user_id: row.user_id,
    created_datetime: row.created_at.toISOString(),
    last_used_datetime: row.last_used_at?.toISOString() ?? null,
    expires_at: end?.toISOString() ?? null,
    datetime_filters: row.datetime_filters ?? setting.datetimeFilters,
    compatibility: row.compatibility ?? setting.compatibility,
  };
}
