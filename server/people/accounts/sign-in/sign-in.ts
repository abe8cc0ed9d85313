import type { FastifyRequest } from "fastify";
import { sql } from "kysely";
import { originOf, recordAudit } from "../../../platform/audit/record.ts";
import type { Database, Tx } from "../../../platform/db/database.ts";
import { ipPrefixOf } from "../../../platform/http/limits/ip-prefix.ts";
import { pretendToVerify, verifyPassword } from "./passwords.ts";
import { createSession, type SignInMethod } from "./sessions.ts";
import {
  deleteAttempts,
  foldEmail,
  isKnownIpPrefix,
  keyOf,
  type Limit,
  refundAttempt,
  rememberIpPrefix,
  takeAttempt,
  touchAttempt,
} from "./throttle.ts";

/** The result of a sign-in attempt. It does not reveal whether the account exists. */
export type SignInResult =
  | {
      readonly outcome: "signed_in";
      readonly userId: string;
      readonly sessionId: string;
      readonly cookie: string;
    }
  | { readonly outcome: "refused" }
  | { readonly outcome: "wait"; readonly retryAfterSec: number };

/** The user who signs in. */
export interface SignInUser {
  readonly id: string;
  readonly workspace_id: string;
  readonly email_key: string;
}

/**
 * Signs a user in with email and password. Attempts are throttled per account and IP prefix, per IP prefix, and per
 * account, whether or not the account exists. The last two apply only to IP prefixes the user has not signed in from, so
 * that attackers can't lock users out of the networks they use, even from the same network.
 * @throws ProblemError `unavailable` when too many users sign in at once.
 */
export async function signIn(
  db: Database,
  request: FastifyRequest,
  input: { readonly email: string; readonly password: string },
): Promise<SignInResult> {
  const { ip, userAgent } = originOf(request);
  const email = await foldEmail(db, input.email);
  const limits = limitsFor(email, ip, await isKnownIpPrefix(db, email, ip));
  const keys = limits.map(({ key }) => key);
  const retryAfterSec = await takeAttempt(db, limits);
  if (retryAfterSec > 0) return { outcome: "wait", retryAfterSec };
  const user = await findForSignIn(db, email);
  const isRight = await request.server.passwordWork
    .run(async (cost) => {
      if (user?.password_hash != null) return verifyPassword(user.password_hash, input.password);
      await pretendToVerify(input.password, cost);
      return false;
    })
    .catch(async (error: unknown) => {
      await refundAttempt(db.kysely, keys);
      throw error;
    });
  return db.kysely.transaction().execute(async (tx): Promise<SignInResult> => {
    // The user may have been deactivated, or the password changed, while it was verified.
    const isAccepted = isRight && user !== undefined && (await isUnchanged(tx, user));
    if (!isAccepted) {
      await touchAttempt(tx, keys);
      if (user !== undefined) await recordFailure(tx, user, { ip, userAgent });
      return { outcome: "refused" };
    }
    await refundAttempt(tx, keys);
    const { id, cookie } = await beginSession(tx, user, "password", { ip, userAgent });
    return { outcome: "signed_in", userId: user.id, sessionId: id, cookie };
  });
}

/**
 * Creates a session for an authenticated user, remembers the IP prefix, and deletes the failed attempts that were
 * counted for the user there.
 */
export async function beginSession(
  tx: Tx,
  user: SignInUser,
  method: SignInMethod,
  from: { readonly ip: string; readonly userAgent: string },
): Promise<{ id: string; cookie: string }> {
  await deleteAttempts(tx, [pairKey(user.email_key, from.ip)]);
  await rememberIpPrefix(tx, user.email_key, from.ip);
  await tx.updateTable("users").set({ last_signed_in_at: sql`now()` }).where("id", "=", user.id).execute();
  const session = await createSession(tx, { userId: user.id, method, ...from });
  await recordAudit(
    tx,
    { ...actorFor(user), ...from, credential: "session", credentialId: session.id },
    { action: "signed_in", details: { method } },
  );
  return session;
}

function limitsFor(email: string, ip: string, isKnown: boolean): Limit[] {
  const pair = { key: pairKey(email, ip), free: 5, leakSec: 900 };
  if (isKnown) return [pair];
  return [
    pair,
    // Many users may share an IP address.
    { key: keyOf("place", ipPrefixOf(ip)), free: 50, leakSec: 30 },
    { key: keyOf("account", email), free: 20, leakSec: 900 },
  ];
}

function pairKey(email: string, ip: string): Buffer {
  return keyOf("pair", email, ipPrefixOf(ip));
}

/** The user as the audit log names them. */
export function actorFor(user: SignInUser) {
  return { workspaceId: user.workspace_id, userId: user.id, userEmail: user.email_key };
}

async function recordFailure(
  tx: Tx,
  user: SignInUser,
  from: { readonly ip: string; readonly userAgent: string },
): Promise<void> {
  await recordAudit(
    tx,
    { ...actorFor(user), ...from, credential: null, credentialId: null },
    { action: "sign_in_failed" },
  );
}

function findForSignIn(db: Database, email: string) {
  return db.kysely
    .selectFrom("users")
    .select(["id", "workspace_id", "email_key", "password_hash"])
    .where("email_key", "=", email)
    .where("deactivated_at", "is", null)
    .executeTakeFirst();
}

/** Locks the account: a concurrent deactivation is either seen here, or comes later and ends the session. */
async function isUnchanged(tx: Tx, user: { id: string; password_hash: string | null }): Promise<boolean> {
  const row = await tx
    .selectFrom("users")
    .select("password_hash")
    .where("id", "=", user.id)
    .where("deactivated_at", "is", null)
    .forNoKeyUpdate()
    .executeTakeFirst();
  return row !== undefined && row.password_hash === user.password_hash;
}
