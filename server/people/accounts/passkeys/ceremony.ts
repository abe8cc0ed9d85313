import { createHash, randomBytes } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { sql } from "kysely";
import { z } from "zod";
import type { Encryptor } from "../../../platform/crypto/encryptor.ts";
import type { Database, Tx } from "../../../platform/db/database.ts";
import { defineRecurringJob } from "../../../platform/jobs/define.ts";
import { decryptState, encryptState } from "../sign-in/encrypted-state.ts";
import { ownCookie, ownCookieOf } from "../sign-in/session-cookie.ts";

/** How long a user may take at their authenticator. */
const ceremonyTtlSec = 15 * 60;

/** What a browser was asked to sign. It keeps it, encrypted, until it returns the signature. */
const Pending = z.object({
  encryptedFor: z.literal("passkey"),
  challenge: z.string(),
  /** Who adds a passkey; null: someone signs in, and the passkey says who. */
  userId: z.string().nullable(),
  expires: z.number(),
});

interface Dependencies {
  readonly encryptor: Encryptor;
  readonly baseUrl: string;
}

/** Creates a challenge that only this browser can sign. @returns 256 random bits as base64url, and the cookie to set. */
export function issueChallenge(
  { encryptor, baseUrl }: Dependencies,
  userId: string | null,
): { readonly challenge: string; readonly cookie: string } {
  const challenge = randomBytes(32).toString("base64url");
  const pending: z.input<typeof Pending> = {
    encryptedFor: "passkey",
    challenge,
    userId,
    expires: Date.now() + ceremonyTtlSec * 1000,
  };
  const value = encryptState(encryptor, pending);
  return { challenge, cookie: ownCookie(baseUrl, "passkey", value, ceremonyTtlSec) };
}

/** The challenge that this browser was given for this purpose; null when there is none or it has expired. */
export function challengeOf(
  request: FastifyRequest,
  { encryptor, baseUrl }: Dependencies,
  userId: string | null,
): string | null {
  const pending = decryptState(encryptor, Pending, ownCookieOf(request, baseUrl, "passkey"));
  return pending?.userId === userId ? pending.challenge : null;
}

/** Uses a challenge up. @returns false if it was used before. */
export async function consumeChallenge(tx: Tx, challenge: string): Promise<boolean> {
  const used = await tx
    .insertInto("used_challenges")
    .values({ hash: createHash("sha256").update(challenge).digest() })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return used.numInsertedOrUpdatedRows === 1n;
}

async function sweepChallenges(db: Database): Promise<void> {
  await sql`delete from used_challenges where used_at < now() - interval '1 day'`.execute(db.kysely);
}

export const deleteUsedChallengesKind = defineRecurringJob({
  name: "delete_used_challenges",
  label: (i18n) => i18n.t("Delete used challenges"),
  every: "1 h",
  guard: "age",
  handler: ({ db }) => sweepChallenges(db),
});
