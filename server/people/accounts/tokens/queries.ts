import type pg from "pg";
import type { Compatibility, DatetimeFilters } from "../../../../contract/common.ts";
import type { Resource } from "../../../platform/auth/audience.ts";
import type { Role } from "../../../platform/auth/principal.ts";
import type { StoredRules } from "../../../platform/db/json-columns.ts";
import type { RuledCredential } from "../../access/security-rules.ts";
import type { AccessTokenType } from "./access-tokens.ts";

/** What the rules of the workspace need to know about a session or token. */
interface RuledRow {
  readonly security_rules: StoredRules | null;
  readonly since: Date;
  readonly user_since: Date;
}

export interface TokenRow extends RuledRow {
  readonly id: string;
  /** What the rate limit counts by: all tokens of one OAuth code together, or the token alone. */
  readonly counted_as: string;
  readonly type: AccessTokenType;
  readonly workspace_id: string;
  readonly workspace_name: string;
  readonly user_id: string;
  readonly user_name: string;
  readonly email_key: string;
  readonly role: Role;
  /** The user's; null: the browser's. */
  readonly language: string | null;
  readonly expires_at: Date | null;
  /** Chosen for the token, the user's authorization of its app, or the app; null: as the server is set. */
  readonly datetime_filters: DatetimeFilters | null;
  readonly compatibility: Compatibility | null;
  /** What the token is restricted to; null: nothing. */
  readonly resource: Resource | null;
  /** Ids under which recording_grants lists what the token may see. */
  readonly sees: readonly string[];
  /** Its last recorded use is more than a minute ago. */
  readonly use_is_old: boolean;
  /** Read only where the workspace has rules. */
  readonly user_has_second_factor: boolean;
}

/** A session with its user. */
export interface SessionRow extends RuledRow {
  readonly id: string;
  readonly workspace_id: string;
  readonly user_id: string;
  readonly user_name: string;
  readonly email_key: string;
  readonly role: Role;
  /** The user's; null: the browser's. */
  readonly language: string | null;
  readonly browser_language: string | null;
  readonly expires_at: Date;
  readonly last_used_at: Date;
  readonly method: NonNullable<RuledCredential["session"]>["method"];
  readonly has_second_factor: boolean;
  /** The provider of single sign-on that began it; null: none, or not known. */
  readonly sign_in_issuer: string | null;
  readonly sees: readonly string[];
  readonly use_is_old: boolean;
  /** The IP address of the last request, as far as it was recorded. */
  readonly seen_ip: string;
}

/** SQL for whether a user u has a second factor, a passkey or single sign-on. */
export const userHasSecondFactor = `(
         exists (select 1 from second_factors s where s.user_id = u.id and s.confirmed_at is not null)
         or exists (select 1 from passkeys p where p.user_id = u.id)
         or exists (select 1 from identities i where i.user_id = u.id))`;

/** SQL of the columns of `RuledRow` and `user_has_second_factor`, of a token t, its user u and their workspace w. */
export const ruledTokenColumns = (since: string): string => `w.security_rules, ${since} as since,
       u.created_at as user_since,
       w.security_rules is not null and ${userHasSecondFactor} as user_has_second_factor`;

type RuledUserRow = Pick<TokenRow & SessionRow, "since" | "user_since" | "user_id" | "role">;

/** What the rules ask of both sessions and tokens. */
function ruledUser(row: RuledUserRow, ip: string | null) {
  return { userId: row.user_id, role: row.role, userSince: row.user_since, ip, since: row.since };
}

/** A token as the rules of its workspace see it. */
export function ruledToken(
  row: RuledUserRow & Pick<TokenRow, "user_has_second_factor">,
  ip: string | null,
): RuledCredential {
  return { ...ruledUser(row, ip), session: null, userHasSecondFactor: row.user_has_second_factor };
}

/** A session as the rules of its workspace see it. */
export function ruledSession(
  row: RuledUserRow & Pick<SessionRow, "method" | "has_second_factor" | "last_used_at">,
  ip: string | null,
): RuledCredential {
  return {
    ...ruledUser(row, ip),
    session: {
      method: row.method,
      hasSecondFactor: row.has_second_factor,
      lastUsedAt: row.last_used_at,
    },
    userHasSecondFactor: row.has_second_factor,
  };
}

/** SQL in which the types of tokens differ. What a type doesn't have is left out, which saves a quarter of the time. */
interface TypeParts {
  readonly sees: string;
  /** Settings of the token, its user's authorization of the app, or the app. */
  readonly setting: (column: string) => string;
  readonly join: string;
  /** When the token was created, or the authorization that it belongs to. */
  readonly since: string;
}

const personalSees =
  "array[t.user_id, w.members_id] || array(select m.team_id from team_members m where m.user_id = t.user_id order by m.team_id)";
const ownSetting = (column: string): string => `t.${column}`;

const typeParts: Readonly<Record<AccessTokenType, TypeParts>> = {
  personal_access_token: { sees: personalSees, setting: ownSetting, join: "", since: "t.created_at" },
  workspace_access_token: {
    sees: "array[t.workspace_id]",
    setting: ownSetting,
    join: "",
    since: "t.created_at",
  },
  oauth: {
    sees: personalSees,
    setting: (column) => `coalesce(t.${column}, g.${column}, c.${column})`,
    join: `left join oauth_families f on f.id = t.oauth_family_id
      left join oauth_grants g on g.id = f.grant_id
      left join oauth_clients c on c.id = g.client_id`,
    since: "coalesce(f.created_at, t.created_at)",
  },
};

const texts = Object.fromEntries(
  Object.entries(typeParts).map(([type, { sees, setting, join, since }]) => [
    type,
    `select t.id, coalesce(t.oauth_family_id, t.id) as counted_as, t.type, t.workspace_id, w.name as workspace_name,
       t.user_id, u.name as user_name, u.email_key, u.role, u.language, t.expires_at, t.resource,
       ${setting("datetime_filters")} as datetime_filters, ${setting("compatibility")} as compatibility,
       ${sees} as sees, ${ruledTokenColumns(since)},
       (t.last_used_at is null or t.last_used_at < now() - interval '1 minute') as use_is_old
     from access_tokens t
     join users u on u.id = t.user_id
     join workspaces w on w.id = t.workspace_id
     ${join}
     where t.hash = $1
       and t.type = '${type}'
       and t.revoked_at is null
       and (t.expires_at is null or t.expires_at > now())
       and u.deactivated_at is null`,
  ]),
);

/**
 * Finds an active token with its user, workspace and teams: one statement for each type. Runs on every request. With a
 * single hash PostgreSQL keeps one plan; an array of hashes is planned again each time, which takes longer than running it.
 */
export async function findToken(
  pool: pg.Pool,
  type: AccessTokenType,
  hash: Buffer,
): Promise<TokenRow | undefined> {
  const { rows } = await pool.query<TokenRow>({
    name: `find_${type}_by_hash`,
    text: texts[type] ?? "",
    values: [hash],
  });
  return rows[0];
}

/** Records a use, at most once a minute. */
export async function touchToken(pool: pg.Pool, id: string, ip: string): Promise<void> {
  await pool.query({
    name: "touch_token",
    text: `update access_tokens set last_used_at = now(), last_ip = $2
           where id = $1 and (last_used_at is null or last_used_at < now() - interval '1 minute')`,
    values: [id, ip],
  });
}
