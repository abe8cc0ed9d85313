import { createHash } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { sql } from "kysely";
import { originOf, recordAudit } from "../audit/record.ts";
import type { Database } from "../db/database.ts";
import { pretendToVerify, verifyPassword } from "./passwords.ts";
import { createSession } from "./sessions.ts";

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

/** Failures that cost nothing, before waiting begins. */
const freeFailures = { account: 5, address: 20 } as const;

/** The longest wait; also how long it takes until failures are forgotten. */
const longestWaitSec = 15 * 60;

/**
 * Signs a person in with email and password. Attempts are slowed down per account, known or not, and per address: the
 * wait doubles with each failure.
 */
export async function signIn(
  db: Database,
  request: FastifyRequest,
  input: { readonly email: string; readonly password: string },
): Promise<SignInResult> {
  const { ip, userAgent } = originOf(request);
  const email = input.email.trim().toLowerCase();
  const keys = [
    { key: keyOf(`account:${email}`), free: freeFailures.account },
    { key: keyOf(`address:${ip}`), free: freeFailures.address },
  ];
  const retryAfterSec = await secondsToWait(db, keys);
  if (retryAfterSec > 0) return { outcome: "wait", retryAfterSec };
  // Counted before it is known, so that many attempts at once are many.
  await countFailure(db, keys);
  const user = await findForSignIn(db, email);
  const isRight =
    user?.password_hash == null
      ? await pretendToVerify(input.password).then(() => false)
      : await verifyPassword(user.password_hash, input.password);
  if (user === undefined || !isRight) {
    if (user !== undefined)
      await db.kysely
        .transaction()
        .execute((tx) =>
          recordAudit(
            tx,
            { ...actorFor(user), ip, userAgent, credential: null, credentialId: null },
            { action: "sign_in_failed" },
          ),
        );
    return { outcome: "refused" };
  }
  // It was counted before it was known: an office behind one address signs in as often as it likes. By itself, since
  // attempts lock these rows in the order of their keys.
  await db.kysely
    .updateTable("sign_in_failures")
    .set({ count: sql<number>`greatest(count - 1, 0)` })
    .where("key", "=", keyOf(`address:${ip}`))
    .execute();
  return db.kysely.transaction().execute(async (tx) => {
    await tx
      .deleteFrom("sign_in_failures")
      .where("key", "=", keyOf(`account:${email}`))
      .execute();
    const { id, cookie } = await createSession(tx, { userId: user.id, method: "password", ip, userAgent });
    await recordAudit(
      tx,
      { ...actorFor(user), ip, userAgent, credential: "session", credentialId: id },
      { action: "signed_in", details: { method: "password" } },
    );
    return { outcome: "signed_in", userId: user.id, sessionId: id, cookie } as const;
  });
}

interface Counted {
  readonly key: Buffer;
  readonly free: number;
}

function keyOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function actorFor(user: { id: string; workspace_id: string; email_key: string }) {
  return { workspaceId: user.workspace_id, userId: user.id, userEmail: user.email_key };
}

function findForSignIn(db: Database, email: string) {
  return db.kysely
    .selectFrom("users")
    .select(["id", "workspace_id", "email_key", "password_hash"])
    .where("email_key", "=", email)
    .where("deactivated_at", "is", null)
    .executeTakeFirst();
}

/** The longest of the waits that earlier failures ask for. */
async function secondsToWait(db: Database, counted: readonly Counted[]): Promise<number> {
  const rows = await db.kysely
    .selectFrom("sign_in_failures")
    .select(["key", "count", sql<number>`extract(epoch from now() - last_at)::float8`.as("ago")])
    .where(
      "key",
      "in",
      counted.map(({ key }) => key),
    )
    .execute();
  const waits = rows.map(({ key, count, ago }) => {
    const free = counted.find((one) => one.key.equals(key))?.free ?? 0;
    if (count < free) return 0;
    return Math.min(longestWaitSec, 2 ** (count - free)) - ago;
  });
  return Math.ceil(Math.max(0, ...waits));
}

async function countFailure(db: Database, counted: readonly Counted[]): Promise<void> {
  await sql`
    insert into sign_in_failures as f (key, count, last_at)
    select key, 1, now() from unnest(${counted.map(({ key }) => key)}::bytea[]) as key order by key
    on conflict (key) do update set
      count = case when f.last_at < now() - make_interval(secs => ${longestWaitSec}) then 1 else f.count + 1 end,
      last_at = now()`.execute(db.kysely);
}
