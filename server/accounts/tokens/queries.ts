import type pg from "pg";
import type { Compatibility, DatetimeFilters } from "../../../contract/common.ts";
import type { Resource } from "../../platform/auth/audience.ts";
import type { Role } from "../../platform/auth/principal.ts";
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
  /** Of the requested recording, when the token sees it. */
  readonly transcript_version?: number | null;
}

/** A session with its user. */
export interface SessionRow {
  readonly id: string;
  readonly workspace_id: string;
  readonly user_id: string;
  readonly user_name: string;
  readonly email_key: string;
  readonly role: Role;
  readonly expires_at: Date;
  readonly sees: readonly string[];
  readonly use_is_old: boolean;
}

const activeToken = `
  select t.id, coalesce(t.oauth_family_id, t.id) as counted_as, t.type, t.workspace_id, w.name as workspace_name,
         t.user_id, u.name as user_name, u.email_key, u.role, t.expires_at, t.resource,
         coalesce(t.datetime_filters, app.datetime_filters) as datetime_filters,
         coalesce(t.compatibility, app.compatibility) as compatibility,
         case t.type
           when 'workspace_access_token' then array[t.workspace_id]
           else array[t.user_id, w.members_id]
             || array(select m.team_id from team_members m where m.user_id = t.user_id)
         end as sees,
         (t.last_used_at is null or t.last_used_at < now() - interval '1 minute') as use_is_old
  from access_tokens t
  join users u on u.id = t.user_id
  join workspaces w on w.id = t.workspace_id
  left join lateral (
    select coalesce(g.datetime_filters, c.datetime_filters) as datetime_filters,
           coalesce(g.compatibility, c.compatibility) as compatibility
    from oauth_families f
    join oauth_grants g on g.id = f.grant_id
    join oauth_clients c on c.id = g.client_id
    where f.id = t.oauth_family_id) app on true
  where t.hash = $1
    and t.revoked_at is null
    and (t.expires_at is null or t.expires_at > now())
    and u.deactivated_at is null`;

/**
 * An active token with its user, workspace and teams. Runs on every request. With a single hash PostgreSQL keeps one plan;
 * an array of hashes is planned again each time, which takes longer than running it.
 */
export async function findToken(pool: pg.Pool, hash: Buffer): Promise<TokenRow | undefined> {
  const { rows } = await pool.query<TokenRow>({
    name: "find_token_by_hash",
    text: activeToken,
    values: [hash],
  });
  return rows[0];
}

/**
 * An active token, and in the same round trip the transcript version of a recording it sees. A second round
 * trip was half the cost of serving a cached transcript.
 */
export async function findTokenAndTranscript(
  pool: pg.Pool,
  hash: Buffer,
  recordingId: string,
): Promise<TokenRow | undefined> {
  const { rows } = await pool.query<TokenRow>({
    name: "find_token_and_transcript",
    text: `with token as (${activeToken})
           select token.*, (
             select r.transcript_version from recordings r
             where r.id = $2 and exists (
               select 1 from recording_grants g
               where g.recording_id = r.id and g.principal_id = any(token.sees))
           ) as transcript_version
           from token`,
    values: [hash, recordingId],
  });
  return rows[0];
}

/** The transcript version of a recording that one of these principals sees; null otherwise. */
export async function findTranscriptVersion(
  pool: pg.Pool,
  sees: readonly string[],
  recordingId: string,
): Promise<number | null> {
  const { rows } = await pool.query<{ transcript_version: number }>({
    name: "find_transcript_version",
    text: `select r.transcript_version from recordings r
           where r.id = $2 and exists (
             select 1 from recording_grants g where g.recording_id = r.id and g.principal_id = any($1))`,
    values: [sees, recordingId],
  });
  return rows[0]?.transcript_version ?? null;
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
