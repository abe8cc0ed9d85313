import { sql } from "kysely";
import type { z } from "zod";
import type { previewWorkspaceSecurity, RuleRefusal } from "../../../../contract/accounts/security.ts";
import type { Role } from "../../../platform/auth/principal.ts";
import type { Executor } from "../../../platform/db/database.ts";
import type { StoredRules } from "../../../platform/db/json-columns.ts";
import { addressRefusal, ruleRefusal, secondFactorDue } from "../../access/security-rules.ts";
import { sessionIdleMs } from "../sign-in/sessions.ts";
import {
  ruledSession,
  ruledToken,
  type SessionRow,
  type TokenRow,
  userHasSecondFactor,
} from "../tokens/queries.ts";

type Preview = z.input<typeof previewWorkspaceSecurity.response>;

/** How many users a preview names, and how many IP addresses of each. */
const maxUsers = 200;
const maxAddresses = 5;

interface Credential
  extends Pick<TokenRow, "user_id" | "role" | "since" | "user_since" | "user_has_second_factor">,
    Pick<SessionRow, "last_used_at" | "has_second_factor"> {
  /** Null for a token. */
  readonly method: SessionRow["method"] | null;
  readonly ip: string | null;
}

interface User {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly role: Role;
  readonly user_since: Date;
  readonly has_second_factor: boolean;
}

/** What rules would refuse now, by the active sessions and tokens of the workspace and where they were last used. */
export async function previewRules(
  db: Executor,
  workspaceId: string,
  rules: StoredRules,
): Promise<Omit<Preview, "refuses_you" | "refuses_you_cause">> {
  const now = new Date();
  const users = await findUsers(db, workspaceId);
  const affected = new Map(users.map((user) => [user.id, affectedOf(user, rules)]));
  let unknown = 0;
  for (const row of await findCredentials(db, workspaceId)) {
    if (row.method === null && row.ip === null && rules.allowed_addresses.length > 0) unknown += 1;
    const { method } = row;
    const credential = method === null ? ruledToken(row, row.ip) : ruledSession({ ...row, method }, row.ip);
    const refusal = ruleRefusal(rules, credential, now);
    const user = affected.get(row.user_id);
    if (refusal === null || user === undefined) continue;
    user.reasons.add(refusal);
    if (method === null) user.tokens += 1;
    else user.sessions += 1;
    if (refusal === "address" && row.ip !== null && user.addresses.size < maxAddresses)
      user.addresses.add(row.ip);
  }
  const named = [...affected.values()].filter(({ reasons }) => reasons.size > 0);
  const sum = (of: "sessions" | "tokens") => named.reduce((total, user) => total + user[of], 0);
  return {
    users: named.slice(0, maxUsers).map((user) => ({
      ...user,
      reasons: [...user.reasons],
      addresses: [...user.addresses],
    })),
    user_count: named.length,
    session_count: sum("sessions"),
    token_count: sum("tokens"),
    unknown_address_count: unknown,
    scim_tokens: await findScimTokensOutside(db, workspaceId, rules),
  };
}

/** SCIM tokens that the allowed IP addresses refuse, or may refuse: their last one isn't known. No other rule is about them. */
async function findScimTokensOutside(
  db: Executor,
  workspaceId: string,
  rules: StoredRules,
): Promise<Preview["scim_tokens"]> {
  if (rules.allowed_addresses.length === 0) return [];
  const { rows } = await sql<{ id: string; name: string; address: string | null }>`
    select t.id, t.name, t.last_ip as address from scim_tokens t
    where t.workspace_id = ${workspaceId} and t.revoked_at is null
    order by t.name, t.id`.execute(db);
  return rows.filter(({ address }) => address === null || addressRefusal(rules, address) !== null);
}

function affectedOf({ id, name, email, role, user_since, has_second_factor }: User, rules: StoredRules) {
  const due = has_second_factor ? null : secondFactorDue(rules, { role, userSince: user_since });
  return {
    ...{ id, name, email, role },
    sessions: 0,
    tokens: 0,
    reasons: new Set<RuleRefusal>(due === null ? [] : ["second_factor"]),
    addresses: new Set<string>(),
    second_factor_due: due?.toISOString() ?? null,
  };
}

async function findUsers(db: Executor, workspaceId: string): Promise<User[]> {
  const { rows } = await sql<User>`
    select u.id, u.name, u.email, u.role, u.created_at as user_since,
      ${sql.raw(userHasSecondFactor)} as has_second_factor
    from users u where u.workspace_id = ${workspaceId} and u.deactivated_at is null
    order by u.name, u.id`.execute(db);
  return rows;
}

async function findCredentials(db: Executor, workspaceId: string): Promise<Credential[]> {
  const { rows } = await sql<Credential>`
    select s.user_id, u.role, s.method, s.last_used_at, s.second_factor is not null as has_second_factor,
      s.created_at as since, u.created_at as user_since, false as user_has_second_factor, coalesce(s.last_ip, s.ip) as ip
    from sessions s join users u on u.id = s.user_id
    where u.workspace_id = ${workspaceId} and u.deactivated_at is null and s.expires_at > now()
      and s.last_used_at > now() - make_interval(secs => ${sessionIdleMs / 1000})
    union all
    select t.user_id, u.role, null, now(), false, coalesce(f.created_at, t.created_at), u.created_at,
      ${sql.raw(userHasSecondFactor)}, t.last_ip
    from access_tokens t join users u on u.id = t.user_id
    left join oauth_families f on f.id = t.oauth_family_id
    where t.workspace_id = ${workspaceId} and u.deactivated_at is null and t.revoked_at is null
      and (t.expires_at is null or t.expires_at > now())`.execute(db);
  return rows;
}
