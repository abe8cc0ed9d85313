import { sql } from "kysely";
import type { Executor, Tx } from "../../../platform/db/database.ts";
import { deleteLinks } from "../one-time-links/one-time-links.ts";
import { endSessions, sessionIdleMs } from "../sign-in/sessions.ts";
import { revokeGrantsOfUser } from "../tokens/oauth-grants.ts";

/** What was ended. */
export interface EndedAccess {
  readonly sessions: number;
  readonly tokens: number;
}

/** What a user's access consists of, and what ends when they are deactivated. */
export interface AccessSummary extends EndedAccess {
  readonly apps: number;
  readonly personalHooks: number;
  readonly workspaceHooks: number;
  readonly uploads: number;
}

/** Counts what a deactivation of the user would end now. */
export async function summarizeAccess(db: Executor, userId: string): Promise<AccessSummary> {
  const { rows } = await sql<AccessSummary>`
    select
      (select count(*)::int from sessions s where s.user_id = ${userId} and s.expires_at > now()
        and s.last_used_at > now() - make_interval(secs => ${sessionIdleMs / 1000})) as sessions,
      (select count(*)::int from access_tokens t where t.user_id = ${userId} and t.type <> 'oauth'
        and t.revoked_at is null and (t.expires_at is null or t.expires_at > now()))
        + (select count(*)::int from scim_tokens c where c.created_by = ${userId} and c.revoked_at is null) as tokens,
      (select count(*)::int from oauth_grants g where g.user_id = ${userId}) as apps,
      (select count(*)::int from hooks h where h.created_by = ${userId} and h.scope = 'personal'
        and h.disabled_at is null) as "personalHooks",
      (select count(*)::int from hooks h where h.created_by = ${userId} and h.scope = 'workspace'
        and h.disabled_at is null) as "workspaceHooks",
      (select count(*)::int from uploads p where p.created_by = ${userId}
        and p.status in ('awaiting', 'processing', 'staged', 'promoting')) as uploads`.execute(db);
  if (rows[0] === undefined) throw new Error("counting returns one row");
  return rows[0];
}

/**
 * Ends everything by which a user, or programs acting for them, get access: sessions, personal tokens, connected apps,
 * workspace and SCIM tokens the user issued, and unused links. Recordings stay.
 */
export async function endAccess(tx: Tx, userId: string): Promise<EndedAccess> {
  const tokens = await endTokens(tx, userId);
  await deleteLinks(tx, userId);
  return { tokens, sessions: await endSessions(tx, userId) };
}

/** Revokes all tokens of a user, including those of apps. @returns how many were active. */
export async function endTokens(tx: Tx, userId: string): Promise<number> {
  const ofApps = await countAppTokens(tx, userId);
  // Before the tokens, because refreshing or revoking an app's token locks the grant first.
  await revokeGrantsOfUser(tx, userId);
  return ofApps + (await revokeTokens(tx, userId));
}

async function countAppTokens(tx: Tx, userId: string): Promise<number> {
  const row = await tx
    .selectFrom("access_tokens")
    .select((eb) => eb.fn.countAll<string>().as("count"))
    .where("user_id", "=", userId)
    .where("type", "=", "oauth")
    .where("revoked_at", "is", null)
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

/**
 * Revokes the tokens that a user issued: all of them, or those of the workspace, which need an admin. Tokens of apps end with
 * their grants, which must be locked first. @returns how many were active.
 */
export async function revokeTokens(tx: Tx, userId: string, type?: "workspace_access_token"): Promise<number> {
  const rows = await tx
    .updateTable("access_tokens")
    .set({ revoked_at: sql`now()` })
    .where("user_id", "=", userId)
    .where("revoked_at", "is", null)
    .where("type", "!=", "oauth")
    .$call((query) => (type === undefined ? query : query.where("type", "=", type)))
    .returning("id")
    .execute();
  const ofScim = await tx
    .updateTable("scim_tokens")
    .set({ revoked_at: sql`now()` })
    .where("created_by", "=", userId)
    .where("revoked_at", "is", null)
    .returning("id")
    .execute();
  return rows.length + ofScim.length;
}
