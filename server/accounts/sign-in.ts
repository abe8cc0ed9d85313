import type { FastifyRequest } from "fastify";
import { sql } from "kysely";
import { originOf, recordAudit } from "../audit/record.ts";
import type { Database, Tx } from "../db/database.ts";
import { pretendToVerify, verifyPassword } from "./passwords.ts";
import { createSession, type SignInMethod } from "./sessions.ts";
import {
  foldEmail,
  forgetAttempts,
  giveBack,
  isKnownPlace,
  keyOf,
  type Limit,
  placeOf,
  rememberPlace,
  takeAttempt,
  touchAttempt,
} from "./throttle.ts";

/** What became of an attempt to sign in. Nothing here tells whether there is such an account. */
export type SignInResult =
  | {
      readonly outcome: "signed_in";
      readonly userId: string;
      readonly sessionId: string;
      readonly cookie: string;
    }
  | { readonly outcome: "refused" }
  | { readonly outcome: "wait"; readonly retryAfterSec: number };

/** Who signs in. */
export interface SigningIn {
  readonly id: string;
  readonly workspace_id: string;
  readonly email_key: string;
}

/**
 * Signs a person in with email and password. Attempts are slowed down for the pair of account and place, for the place,
 * and for the account, known or not; the last two only where the person has not signed in from before, so that nobody can
 * lock anybody out of their own place, also not from the next desk.
 * @throws ProblemError `unavailable` when too many sign in at this moment.
 */
export async function signIn(
  db: Database,
  request: FastifyRequest,
  input: { readonly email: string; readonly password: string },
): Promise<SignInResult> {
  const { ip, userAgent } = originOf(request);
  const email = await foldEmail(db, input.email);
  const limits = limitsFor(email, ip, await isKnownPlace(db, email, ip));
  const keys = limits.map(({ key }) => key);
  const retryAfterSec = await takeAttempt(db, limits);
  if (retryAfterSec > 0) return { outcome: "wait", retryAfterSec };
  const user = await findForSignIn(db, email);
  const isRight = await request.server.passwordWork
    .run(async () => {
      if (user?.password_hash != null) return verifyPassword(user.password_hash, input.password);
      await pretendToVerify(input.password);
      return false;
    })
    .catch(async (error: unknown) => {
      await giveBack(db.kysely, keys);
      throw error;
    });
  return db.kysely.transaction().execute(async (tx): Promise<SignInResult> => {
    // Meanwhile the person may have been deactivated, or the password changed.
    const isGood = isRight && user !== undefined && (await isStill(tx, user));
    if (!isGood) {
      await touchAttempt(tx, keys);
      if (user !== undefined) await recordFailure(tx, user, { ip, userAgent });
      return { outcome: "refused" };
    }
    await giveBack(tx, keys);
    const { id, cookie } = await beginSession(tx, user, "password", { ip, userAgent });
    return { outcome: "signed_in", userId: user.id, sessionId: id, cookie };
  });
}

/**
 * Begins a session of a person who has shown who they are. The place is known from now on, and what was counted there
 * against the person is forgotten.
 */
export async function beginSession(
  tx: Tx,
  user: SigningIn,
  method: SignInMethod,
  from: { readonly ip: string; readonly userAgent: string },
): Promise<{ id: string; cookie: string }> {
  await forgetAttempts(tx, [pairKey(user.email_key, from.ip)]);
  await rememberPlace(tx, user.email_key, from.ip);
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
    // Many people may share an address.
    { key: keyOf("place", placeOf(ip)), free: 50, leakSec: 30 },
    { key: keyOf("account", email), free: 20, leakSec: 900 },
  ];
}

function pairKey(email: string, ip: string): Buffer {
  return keyOf("pair", email, placeOf(ip));
}

/** Who is meant, for the audit log. */
export function actorFor(user: SigningIn) {
  return { workspaceId: user.workspace_id, userId: user.id, userEmail: user.email_key };
}

async function recordFailure(
  tx: Tx,
  user: SigningIn,
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

/** Locks the account, so that a deactivation comes either before and is seen, or after and ends the session. */
async function isStill(tx: Tx, user: { id: string; password_hash: string | null }): Promise<boolean> {
  const row = await tx
    .selectFrom("users")
    .select("password_hash")
    .where("id", "=", user.id)
    .where("deactivated_at", "is", null)
    .forNoKeyUpdate()
    .executeTakeFirst();
  return row !== undefined && row.password_hash === user.password_hash;
}
