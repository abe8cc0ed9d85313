import { CompiledQuery } from "kysely";
import type pg from "pg";
import { type Principal, roles } from "../../../platform/auth/principal.ts";
import { coalesce } from "../../../platform/coalesce.ts";
import type { Tx } from "../../../platform/db/database.ts";
import type { StoredRules } from "../../../platform/db/json-columns.ts";
import { openRequestRefusal, ruleRefusal } from "../../access/security-rules.ts";
import { ruledSession, ruledToken, ruledTokenColumns, type SessionRow, type TokenRow } from "./queries.ts";

/** A running request. */
export interface OpenRequest {
  readonly principal: Principal;
  readonly ip: string;
  /** Whether the request has no end of its own, as streams of notifications. */
  readonly isOpenEnded?: boolean;
}

type Row = Pick<TokenRow, "id" | "role" | "user_id" | "since" | "user_since" | "user_has_second_factor"> &
  Pick<SessionRow, "last_used_at" | "has_second_factor" | "sign_in_issuer"> & {
    readonly security_rules: StoredRules | null;
    /** Null for a token. */
    readonly method: SessionRow["method"] | null;
  };

const activeCredentials = `select t.id, u.role, t.user_id, null as method, now() as last_used_at, false as has_second_factor, null as sign_in_issuer,
    ${ruledTokenColumns("coalesce(f.created_at, t.created_at)")}
  from access_tokens t join users u on u.id = t.user_id join workspaces w on w.id = t.workspace_id
  left join oauth_families f on f.id = t.oauth_family_id
  where t.id = any($1) and t.revoked_at is null and u.deactivated_at is null
  union all
  select s.id, u.role, s.user_id, s.method, s.last_used_at, s.second_factor is not null, s.sign_in_issuer,
    w.security_rules, s.created_at, u.created_at, false
  from sessions s join users u on u.id = s.user_id join workspaces w on w.id = u.workspace_id
  where s.id = any($1) and u.deactivated_at is null`;

type AcceptsIssuer = (issuer: string) => boolean;

/**
 * Whether a caller's token or session is still valid and its user active, without a lower role, and not refused by the rules
 * of the workspace or begun at a provider that was removed, while a request runs. Expiry and age count for open-ended requests only: others may finish.
 * @returns a check that shares its statement with concurrent ones.
 */
export function createCredentialCheck(
  pool: pg.Pool,
  acceptsIssuer: AcceptsIssuer,
): (request: OpenRequest) => Promise<boolean> {
  return coalesce(
    async (requests: readonly OpenRequest[]) => {
      const { rows } = await pool.query<Row>({
        name: "active_credentials",
        text: activeCredentials,
        values: [requests.map(({ principal }) => principal.tokenId)],
      });
      const current = new Map(rows.map((row) => [row.id, row]));
      return requests.map((request) =>
        isStillActive(current.get(request.principal.tokenId), request, acceptsIssuer),
      );
    },
    { concurrency: 1, maxItems: 1000 },
  );
}

/**
 * The same in a transaction that creates another credential and has locked the account. It has called `holdMembership` too, so
 * that the rules stay as they are until its end: rules that come later count what it creates as from before them.
 */
export async function mayCreateCredential(
  tx: Tx,
  request: OpenRequest,
  acceptsIssuer: AcceptsIssuer,
): Promise<boolean> {
  const { rows } = await tx.executeQuery<Row>(
    CompiledQuery.raw(activeCredentials, [[request.principal.tokenId]]),
  );
  return isStillActive(rows[0], request, acceptsIssuer);
}

function isStillActive(
  row: Row | undefined,
  { principal, ip, isOpenEnded = false }: OpenRequest,
  acceptsIssuer: AcceptsIssuer,
): boolean {
  // From admin to viewer.
  if (row === undefined || roles.indexOf(row.role) > roles.indexOf(principal.role)) return false;
  if (row.sign_in_issuer !== null && !acceptsIssuer(row.sign_in_issuer)) return false;
  const { expiresAt } = principal;
  if (isOpenEnded && expiresAt !== null && expiresAt <= new Date()) return false;
  if (row.security_rules === null) return true;
  const { method } = row;
  const credential = method === null ? ruledToken(row, ip) : ruledSession({ ...row, method }, ip);
  const refusal = (isOpenEnded ? ruleRefusal : openRequestRefusal)(row.security_rules, credential);
  // A session that only sets up a second factor continues to do that.
  return refusal === null || (refusal === "second_factor" && principal.mustSetUpSecondFactor === true);
}
