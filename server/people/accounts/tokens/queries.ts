import type pg from "pg";
import type { Compatibility, DatetimeFilters } from "../../../../contract/common.ts";
import type { Resource } from "../../../platform/auth/audience.ts";
import type { Role } from "../../../platform/auth/principal.ts";
import type { AccessTokenType } from "./access-tokens.ts";

export interface TokenRow {
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
}

/** A session with its user. */
export interface SessionRow {
  readonly id: string;
  readonly workspace_id: string;
  readonly user_id: string;
  readonly user_name: string;
  readonly email_key: string;
  readonly role: Role;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly sees: readonly string[];
  readonly use_is_old: boolean;
}

/** SQL in which the types of tokens differ. What a type doesn't have is left out, which saves a quarter of the time. */
interface TypeParts {
  readonly sees: string;
  /** Settings of the token, its user's authorization of the app, or the app. */
  readonly setting: (column: string) => string;
  readonly join: string;
}

const personalSees =
  "array[t.user_id, w.members_id] || array(select m.team_id from team_members m where m.user_id = t.user_id order by m.team_id)";
const ownSetting = (column: string): string => `t.${column}`;

const typeParts: Readonly<Record<AccessTokenType, TypeParts>> = {
  personal_access_token: { sees: personalSees, setting: ownSetting, join: "" },
  workspace_access_token: { sees: "array[t.workspace_id]", setting: ownSetting, join: "" },
  oauth: {
    sees: personalSees,
    setting: (column) => `coalesce(t.${column}, g.${column}, c.${column})`,
    join: `left join oauth_families f on f.id = t.oauth_family_id
      left join oauth_grants g on g.id = f.grant_id
      left join oauth_clients c on c.id = g.client_id`,
  },
};

const texts = Object.fromEntries(
  Object.entries(typeParts).map(([type, { sees, setting, join }]) => [
    type,
    `select t.id, coalesce(t.oauth_family_id, t.id) as counted_as, t.type, t.workspace_id, w.name as workspace_name,
       t.user_id, u.name as user_name, u.email_key, u.role, t.expires_at, t.resource,
       ${setting("datetime_filters")} as datetime_filters, ${setting("compatibility")} as compatibility,
       ${sees} as sees,
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
export async function touchToken(pool: pg.Pool, id: string): Promise<void> {
  await pool.query({
    name: "touch_token",
    text: `update access_tokens set last_used_at = now()
           where id = $1 and (last_used_at is null or last_used_at < now() - interval '1 minute')`,
    values: [id],
  });
}
