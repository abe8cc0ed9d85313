import type { FastifyBaseLogger } from "fastify";
import { sql } from "kysely";
import type { SecondFactorMethod } from "../../../../contract/errors.ts";
import type { Encryptor } from "../../../platform/crypto/encryptor.ts";
import type { Executor, Tx } from "../../../platform/db/database.ts";
import { findTotpStep, hashRecoveryCode, newRecoveryCodes } from "./codes.ts";

/** How long a secret may wait for the code that confirms it. */
const confirmMs = 60 * 60_000;

/** What is needed to check a code. */
export interface CodeDependencies {
  readonly encryptor: Encryptor;
  readonly log: FastifyBaseLogger;
}

/** A user's second factor, if they have turned it on, and how many recovery codes are left. */
export async function findSecondFactor(
  db: Executor,
  userId: string,
): Promise<{ readonly since: Date; readonly recoveryCodes: number } | undefined> {
  const { rows } = await sql<{ since: Date; recovery_codes: number }>`
    select confirmed_at as since,
      (select count(*)::int from recovery_codes c where c.user_id = f.user_id) as recovery_codes
    from second_factors f where user_id = ${userId} and confirmed_at is not null`.execute(db);
  const row = rows[0];
  return row && { since: row.since, recoveryCodes: row.recovery_codes };
}

/** Keeps a secret until a code confirms it; an earlier unconfirmed one is replaced. @returns false if one is confirmed already. */
export async function keepSecret(
  tx: Tx,
  encryptor: Encryptor,
  userId: string,
  secret: string,
): Promise<boolean> {
  const kept = await sql`
    insert into second_factors (user_id, encrypted_secret) values (${userId}, ${encryptSecret(encryptor, secret)})
    on conflict (user_id) do update set encrypted_secret = excluded.encrypted_secret, created_at = now(), last_step = 0
      where second_factors.confirmed_at is null`.execute(tx);
  return kept.numAffectedRows === 1n;
}

/** Turns the second factor on if the code is right. @returns recovery codes; null for a wrong code or without a waiting secret. */
export async function confirmSecret(
  tx: Tx,
  deps: CodeDependencies,
  userId: string,
  code: string,
): Promise<string[] | null> {
  const waiting = await lockFactor(tx, userId);
  if (waiting === undefined || waiting.confirmed_at !== null) return null;
  if (Date.now() - waiting.created_at.getTime() > confirmMs) return null;
  const step = await stepOf(deps, waiting.encrypted_secret, code);
  if (step === null) return null;
  await tx
    .updateTable("second_factors")
    .set({ confirmed_at: sql<Date>`now()`, last_step: String(step) })
    .where("user_id", "=", userId)
    .execute();
  return replaceCodes(tx, userId);
}

/** New recovery codes in place of all earlier ones; only their hashes are stored. */
export async function replaceCodes(tx: Tx, userId: string): Promise<string[]> {
  const codes = newRecoveryCodes();
  await tx.deleteFrom("recovery_codes").where("user_id", "=", userId).execute();
  await tx
    .insertInto("recovery_codes")
    .values(
      codes.map((code) => {
        const hash = hashRecoveryCode(code);
        if (hash === null) throw new Error("a new recovery code has the form of one");
        return { user_id: userId, hash };
      }),
    )
    .execute();
  return codes;
}

/** Turns the second factor off, with its recovery codes. @returns whether it was on. */
export async function deleteSecondFactor(tx: Tx, userId: string): Promise<boolean> {
  const deleted = await tx
    .deleteFrom("second_factors")
    .where("user_id", "=", userId)
    .returning("confirmed_at")
    .executeTakeFirst();
  await tx.deleteFrom("recovery_codes").where("user_id", "=", userId).execute();
  return deleted !== undefined && deleted.confirmed_at !== null;
}

/** Uses a code up: one of the authenticator app, or a recovery code. @returns which it was; null if it is neither, or was used. */
export async function consumeCode(
  tx: Tx,
  deps: CodeDependencies,
  userId: string,
  code: string,
): Promise<SecondFactorMethod | null> {
  const factor = await lockFactor(tx, userId);
  if (factor === undefined || factor.confirmed_at === null) return null;
  const step = await stepOf(deps, factor.encrypted_secret, code);
  if (step !== null) {
    if (step <= Number(factor.last_step)) return null;
    await tx
      .updateTable("second_factors")
      .set({ last_step: String(step) })
      .where("user_id", "=", userId)
      .execute();
    return "totp";
  }
  const hash = hashRecoveryCode(code);
  if (hash === null) return null;
  const used = await tx
    .deleteFrom("recovery_codes")
    .where("user_id", "=", userId)
    .where("hash", "=", hash)
    .executeTakeFirst();
  return used.numDeletedRows > 0n ? "recovery_code" : null;
}

/** Locks a user's row, so that one code can't be used twice at once. */
function lockFactor(tx: Tx, userId: string) {
  return tx
    .selectFrom("second_factors")
    .select(["encrypted_secret", "created_at", "confirmed_at", "last_step"])
    .where("user_id", "=", userId)
    .forUpdate()
    .executeTakeFirst();
}

function encryptSecret(encryptor: Encryptor, secret: string): Buffer {
  return encryptor.encrypt(JSON.stringify({ encryptedFor: "second_factor", secret }));
}

/** The time step of a code; null if it is wrong. Recovery codes still work when PARLEY_SECRET was changed. */
async function stepOf(
  { encryptor, log }: CodeDependencies,
  encrypted: Buffer,
  code: string,
): Promise<number | null> {
  try {
    const { secret } = JSON.parse(encryptor.decrypt(encrypted)) as { secret: string };
    return await findTotpStep(secret, code);
  } catch (error) {
    log.error({ err: error }, "the secret of an authenticator app can't be read: users need a recovery code");
    return null;
  }
}
