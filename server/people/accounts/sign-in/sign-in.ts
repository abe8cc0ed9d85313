import { createHash } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { sql } from "kysely";
import { type SecondFactorMethod, secondFactorMethods } from "../../../../contract/errors.ts";
import { recordAudit } from "../../../platform/audit/record.ts";
import type { Encryptor } from "../../../platform/crypto/encryptor.ts";
import type { Database, Tx } from "../../../platform/db/database.ts";
import { ipPrefixOf } from "../../../platform/http/limits/ip-prefix.ts";
import { noteDevice, type SignInOrigin, signInOriginOf } from "./devices.ts";
import { pretendToVerify, verifyPassword } from "./passwords.ts";
import { consumeCode, findSecondFactor } from "./second-factor.ts";
import { createSession, type Proof } from "./sessions.ts";
import { recordRefusal, refuseByRules } from "./sign-in-rules.ts";
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
  /** The password was right; the account asks for a code too. */
  | {
      readonly outcome: "code_required";
      /** What the account accepts. */
      readonly methods: readonly SecondFactorMethod[];
      readonly started: StartedSignIn;
    }
  | { readonly outcome: "refused" }
  | { readonly outcome: "code_refused" }
  | { readonly outcome: "wait"; readonly retryAfterSec: number };

/** A sign-in that lacks the code of the second factor. */
export interface StartedSignIn {
  readonly userId: string;
  readonly email: string;
  readonly method: "password" | "link";
  /** Of the password that was proven or just set: if it changes, the sign-in starts over. */
  readonly passwordKey: string;
}

/** What signing in needs. */
export interface SignInDependencies {
  readonly db: Database;
  readonly encryptor: Encryptor;
}

/** The user who signs in. */
export interface SignInUser {
  readonly id: string;
  readonly workspace_id: string;
  readonly email_key: string;
}

/**
 * Signs a user in with email and password. Attempts are throttled per account and IP prefix, per IP prefix, and per
 * account, whether or not the account exists. The last two apply only to IP prefixes the user has not signed in from, so
 * that attackers can't lock users out of the networks they use, even from the same network. Where the user has a second
 * factor, the session is created only with its code.
 * @throws RefusedSignIn as `beginSession` does.
 * @throws ProblemError `unavailable` when too many users sign in at once.
 */
export async function signIn(
  deps: SignInDependencies,
  request: FastifyRequest,
  input: { readonly email: string; readonly password: string; readonly code?: string | undefined },
): Promise<SignInResult> {
  const result = await checkPassword(deps.db, request, input);
  if (result.outcome !== "code_required" || input.code === undefined) return result;
  return finishSignIn(deps, request, result.started, input.code);
}

/**
 * Ends a sign-in with the code of the second factor. Guesses are throttled as those of passwords are, and each code is
 * accepted once.
 */
export async function finishSignIn(
  { db, encryptor }: SignInDependencies,
  request: FastifyRequest,
  started: StartedSignIn,
  code: string,
): Promise<SignInResult> {
  const from = signInOriginOf(request);
  const { email } = started;
  const limits = codeLimits(email, from.ip, await isKnownIpPrefix(db.kysely, email, from.ip));
  const keys = limits.map(({ key }) => key);
  const retryAfterSec = await takeAttempt(db, limits);
  if (retryAfterSec > 0) return { outcome: "wait", retryAfterSec };
  const use = (tx: Tx) => consumeCode(tx, { encryptor, log: request.log }, started.userId, code);
  const finish = async (tx: Tx): Promise<SignInResult> => {
    const user = await lockForSignIn(tx, started.userId);
    if (user === undefined || passwordKeyOf(user.password_hash) !== started.passwordKey)
      return { outcome: "refused" };
    const secondFactor = await use(tx);
    if (secondFactor === null) {
      await touchAttempt(tx, keys);
      await recordFailure(tx, user, from, { method: "second_factor" });
      return { outcome: "code_refused" };
    }
    await deleteAttempts(tx, [codeKey(email, from.ip)]);
    const { id, cookie } = await beginSession(tx, user, { method: started.method, secondFactor }, from);
    return { outcome: "signed_in", userId: user.id, sessionId: id, cookie };
  };
  return recordRefusal(db, from, () => db.kysely.transaction().execute(finish), use);
}

/** Begins a session, or, where the account has a second factor, a sign-in that its code ends. */
export async function beginSignIn(
  tx: Tx,
  user: SignInUser & { readonly password_hash: string | null },
  method: StartedSignIn["method"],
  from: SignInOrigin,
): Promise<Extract<SignInResult, { outcome: "signed_in" | "code_required" }>> {
  const factor = await findSecondFactor(tx, user.id);
  // Before the code is asked for, which would not help.
  await refuseByRules(
    tx,
    user.id,
    factor === undefined ? { method } : { method, secondFactor: "totp" },
    from.ip,
  );
  if (factor !== undefined) {
    const passwordKey = passwordKeyOf(user.password_hash);
    return {
      outcome: "code_required",
      methods: factor.recoveryCodes > 0 ? secondFactorMethods : ["totp"],
      started: { userId: user.id, email: user.email_key, method, passwordKey },
    };
  }
  const { id, cookie } = await beginSession(tx, user, { method }, from);
  return { outcome: "signed_in", userId: user.id, sessionId: id, cookie };
}

async function checkPassword(
  db: Database,
  request: FastifyRequest,
  input: { readonly email: string; readonly password: string },
): Promise<SignInResult> {
  const from = signInOriginOf(request);
  const { ip } = from;
  const email = await foldEmail(db, input.email);
  const limits = limitsFor(email, ip, await isKnownIpPrefix(db.kysely, email, ip));
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
  const accept = async (tx: Tx): Promise<SignInResult> => {
    // The user may have been deactivated, or the password changed, while it was verified.
    const isAccepted = isRight && user !== undefined && (await isUnchanged(tx, user));
    if (!isAccepted) {
      await touchAttempt(tx, keys);
      if (user !== undefined) await recordFailure(tx, user, from);
      return { outcome: "refused" };
    }
    await refundAttempt(tx, keys);
    return beginSignIn(tx, user, "password", from);
  };
  return recordRefusal(db, from, () => db.kysely.transaction().execute(accept));
}

/**
 * Creates a session for an authenticated user, remembers the IP prefix, and deletes the failed attempts that were
 * counted for the user there.
 * @throws RefusedSignIn where the workspace doesn't allow the way to sign in, or the IP address; see `recordRefusal`.
 */
export async function beginSession(
  tx: Tx,
  user: SignInUser,
  proof: Proof,
  from: SignInOrigin,
): Promise<{ id: string; cookie: string }> {
  await refuseByRules(tx, user.id, proof, from.ip);
  await deleteAttempts(tx, [pairKey(user.email_key, from.ip)]);
  await noteDevice(tx, user, from);
  await rememberIpPrefix(tx, user.email_key, from.ip);
  await tx.updateTable("users").set({ last_signed_in_at: sql`now()` }).where("id", "=", user.id).execute();
  const { ip, userAgent } = from;
  const session = await createSession(tx, { userId: user.id, ...proof, ip, userAgent });
  await recordAudit(
    tx,
    { ...actorFor(user), ip, userAgent, credential: "session", credentialId: session.id },
    {
      action: "signed_in",
      details: {
        method: proof.method,
        ...(proof.secondFactor === undefined ? {} : { second_factor: proof.secondFactor }),
      },
    },
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

function codeLimits(email: string, ip: string, isKnown: boolean): Limit[] {
  const pair = { key: codeKey(email, ip), free: 5, leakSec: 900 };
  return isKnown ? [pair] : [pair, { key: keyOf("code account", email), free: 20, leakSec: 900 }];
}

function codeKey(email: string, ip: string): Buffer {
  return keyOf("code", email, ipPrefixOf(ip));
}

/** Stands for a password hash where the hash itself must not go, such as in a cookie. */
function passwordKeyOf(passwordHash: string | null): string {
  return createHash("sha256").update(`password:${passwordHash}`).digest("base64url");
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
  { ip, userAgent }: SignInOrigin,
  details: { readonly method?: "second_factor" } = {},
): Promise<void> {
  await recordAudit(
    tx,
    { ...actorFor(user), ip, userAgent, credential: null, credentialId: null },
    { action: "sign_in_failed", details },
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
  const row = await lockForSignIn(tx, user.id);
  return row !== undefined && row.password_hash === user.password_hash;
}

function lockForSignIn(tx: Tx, userId: string) {
  return tx
    .selectFrom("users")
    .select(["id", "workspace_id", "email_key", "password_hash"])
    .where("id", "=", userId)
    .where("deactivated_at", "is", null)
    .forNoKeyUpdate()
    .executeTakeFirst();
}
