import { createHash, randomBytes, randomUUIDv7 } from "node:crypto";
import { sql } from "kysely";
import type pg from "pg";
import type { SecondFactorMethod } from "../../../../contract/errors.ts";
import type { Database, Executor, Tx } from "../../../platform/db/database.ts";
import { defineRecurringJob } from "../../../platform/jobs/define.ts";
import type { SessionRow } from "../tokens/queries.ts";

/** A session that is not used for this long ends. */
export const sessionIdleMs = 14 * 86_400_000;

/** A session ends after this long even when it is in use. */
export const sessionTtlMs = 90 * 86_400_000;

export type SignInMethod = "password" | "single_sign_on" | "link" | "passkey";

/** How a session proved who its user is. Its age says when: a user who has to prove it again signs in again. */
export interface Proof {
  readonly method: SignInMethod;
  /** What was proven beside the password. */
  readonly secondFactor?: SecondFactorMethod;
  /** The passkey, whose removal ends the session. */
  readonly passkeyId?: string;
  /** The identity at a provider of single sign-on, which can end the session. */
  readonly identity?: { readonly issuer: string; readonly subject: string; readonly sid: string | null };
}

/** 256 random bits as base64url. */
const sessionPattern = /^[A-Za-z0-9_-]{43}$/;

/** The stored hash of a session cookie: as for tokens, a plain SHA-256 suffices for 256 random bits. */
export function hashSession(value: string): Buffer {
  return createHash("sha256").update(`session:${value}`).digest();
}

/** Whether a text has the form of a session cookie, so that noise never reaches the database. */
export function looksLikeSession(text: string): boolean {
  return sessionPattern.test(text);
}

/** Creates a session. @returns its id and the cookie value, which is not stored. */
export async function createSession(
  tx: Tx,
  input: Proof & { userId: string; ip: string; userAgent: string },
): Promise<{ id: string; cookie: string }> {
  const cookie = randomBytes(32).toString("base64url");
  const id = randomUUIDv7();
  await tx
    .insertInto("sessions")
    .values({
      id,
      user_id: input.userId,
      hash: hashSession(cookie),
      method: input.method,
      second_factor: input.secondFactor ?? null,
      passkey_id: input.passkeyId ?? null,
      sign_in_issuer: input.identity?.issuer ?? null,
      sign_in_subject: input.identity?.subject ?? null,
      sign_in_sid: input.identity?.sid ?? null,
      ip: input.ip,
      user_agent: input.userAgent,
      expires_at: new Date(Date.now() + sessionTtlMs),
    })
    .execute();
  return { id, cookie };
}

/** Notes that a session has proven its user with a second factor too. */
export async function addProof(tx: Tx, id: string, secondFactor: SecondFactorMethod): Promise<void> {
  await tx.updateTable("sessions").set({ second_factor: secondFactor }).where("id", "=", id).execute();
}

/** How a session proved its user; undefined for a token. */
export async function findProof(
  db: Executor,
  id: string,
): Promise<{ readonly method: SignInMethod; readonly hasSecondFactor: boolean } | undefined> {
  const row = await db
    .selectFrom("sessions")
    .select(["method", "second_factor"])
    .where("id", "=", id)
    .executeTakeFirst();
  return row && { method: row.method as SignInMethod, hasSecondFactor: row.second_factor !== null };
}

/** Takes what a user's second factor proved from their sessions, when it is turned off. */
export async function removeProof(tx: Tx, userId: string): Promise<void> {
  await tx.updateTable("sessions").set({ second_factor: null }).where("user_id", "=", userId).execute();
}

/** Ends the sessions that were started with a passkey, except the given one. @returns how many. */
export async function endSessionsOfPasskey(tx: Tx, passkeyId: string, except: string): Promise<number> {
  const ended = await tx
    .deleteFrom("sessions")
    .where("passkey_id", "=", passkeyId)
    .where("id", "!=", except)
    .executeTakeFirst();
  return Number(ended.numDeletedRows);
}

/** Ends one session. */
export async function endSession(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom("sessions").where("id", "=", id).execute();
}

/** Ends all sessions of a user except the given one; without one, their browsers count as new again. @returns how many. */
export async function endSessions(tx: Tx, userId: string, except?: string): Promise<number> {
  const ended = await tx
    .deleteFrom("sessions")
    .where("user_id", "=", userId)
    .$if(except !== undefined, (query) => query.where("id", "!=", except ?? ""))
    .executeTakeFirst();
  if (except === undefined) await tx.deleteFrom("known_devices").where("user_id", "=", userId).execute();
  return Number(ended.numDeletedRows);
}

/** An active session with its user, workspace and teams. */
export async function findSession(pool: pg.Pool, hash: Buffer): Promise<SessionRow | undefined> {
  const { rows } = await pool.query<SessionRow>({
    name: "find_session",
    text: `select s.id, w.id as workspace_id, s.user_id, u.name as user_name, u.email_key, u.role, u.language, u.browser_language, s.expires_at,
             s.created_at as since, u.created_at as user_since, s.last_used_at, s.method,
             s.second_factor is not null as has_second_factor, s.sign_in_issuer, w.security_rules,
             array[s.user_id, w.members_id]
               || array(select m.team_id from team_members m where m.user_id = s.user_id) as sees,
             s.last_used_at < now() - interval '1 minute' as use_is_old, coalesce(s.last_ip, s.ip) as seen_ip
           from sessions s
           join users u on u.id = s.user_id
           join workspaces w on w.id = u.workspace_id
           where s.hash = $1 and s.expires_at > now()
             and s.last_used_at > now() - make_interval(secs => $2)
             and u.deactivated_at is null`,
    values: [hash, sessionIdleMs / 1000],
  });
  return rows[0];
}

/** Records a use, at most once a minute. */
export async function touchSession(pool: pg.Pool, id: string, ip: string): Promise<void> {
  await pool.query({
    name: "touch_session",
    text: `update sessions set last_used_at = now(), last_ip = $2
           where id = $1 and last_used_at < now() - interval '1 minute'`,
    values: [id, ip],
  });
}

/** Records the IP address of a request that is no use. */
export async function noteAddress(pool: pg.Pool, id: string, ip: string): Promise<void> {
  await pool.query({
    name: "note_session_address",
    text: "update sessions set last_ip = $2 where id = $1",
    values: [id, ip],
  });
}

/** Active sessions of a user, the last used first. */
export function findSessions(db: Executor, userId: string) {
  return db
    .selectFrom("sessions")
    .select([
      "id",
      "method",
      "second_factor",
      "ip",
      "last_ip",
      "user_agent",
      "created_at",
      "last_used_at",
      "expires_at",
    ])
    .where("user_id", "=", userId)
    .where("expires_at", ">", sql<Date>`now()`)
    .where("last_used_at", ">", sql<Date>`now() - make_interval(secs => ${sessionIdleMs / 1000})`)
    .orderBy("last_used_at", "desc")
    .orderBy("id")
    .execute();
}

/** Ends one session of a user. @returns whether there was one. */
export async function endOwnSession(tx: Tx, userId: string, id: string): Promise<boolean> {
  const ended = await tx
    .deleteFrom("sessions")
    .where("id", "=", id)
    .where("user_id", "=", userId)
    .executeTakeFirst();
  return ended.numDeletedRows > 0n;
}

/** Ends the session of a cookie, if there is one, so that signing in again leaves no old session behind. */
export async function endSessionOf(db: Database, cookie: string | undefined): Promise<void> {
  if (cookie === undefined || !looksLikeSession(cookie)) return;
  await db.kysely.deleteFrom("sessions").where("hash", "=", hashSession(cookie)).execute();
}

/**
 * The issuers at which the user of a session can prove who they are, the one that began the session first. They are no proof
 * themselves: the session may have ended.
 */
export async function findIssuersOf(db: Database, cookie: string | undefined): Promise<string[]> {
  if (cookie === undefined || !looksLikeSession(cookie)) return [];
  const { rows } = await sql<{ issuer: string }>`
    select i.issuer from sessions s join identities i on i.user_id = s.user_id
    where s.hash = ${hashSession(cookie)}
    order by i.issuer is not distinct from s.sign_in_issuer desc, i.created_at, i.issuer`.execute(db.kysely);
  return rows.map(({ issuer }) => issuer);
}

/** Removes logout tokens that are too old to be accepted again. */
async function sweepLogoutTokens(db: Database): Promise<void> {
  await sql`delete from used_logout_tokens where expires_at < now()`.execute(db.kysely);
}

/**
 * Removes sessions a day after they have expired: requests that began in time may finish, and check their session. Those of
 * single sign-on without an issuer come from a process of an older version: nothing would end them with their provider.
 */
export async function sweepSessions(db: Database): Promise<void> {
  await sql`
    delete from sessions
    where expires_at < now() - interval '1 day'
      or last_used_at < now() - interval '1 day' - make_interval(secs => ${sessionIdleMs / 1000})
      or (method = 'single_sign_on' and sign_in_issuer is null)`.execute(db.kysely);
}

export const deleteEndedSessionsKind = defineRecurringJob({
  name: "delete_ended_sessions",
  label: (i18n) => i18n.t("Delete ended sessions"),
  every: "1 h",
  guard: "age",
  handler: async ({ db }) => {
    await sweepSessions(db);
    await sweepLogoutTokens(db);
  },
});
