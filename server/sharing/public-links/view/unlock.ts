import type { FastifyRequest } from "fastify";
import { verifyPassword } from "../../../people/accounts/sign-in/passwords.ts";
import {
  keyOf,
  type Limit,
  refundAttempt,
  takeAttempt,
  tooManyAttempts,
  touchAttempt,
} from "../../../people/accounts/sign-in/throttle.ts";
import type { LinkSigner } from "../../../platform/crypto/link-signer.ts";
import type { Database } from "../../../platform/db/database.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import { ipPrefixOf } from "../../../platform/http/limits/ip-prefix.ts";
import { makeAccess } from "../../../recordings/public-link-records/token.ts";
import { findActive } from "./open.ts";

/**
 * Grants access to a visitor who knows a link's password. Attempts are throttled per link and IP prefix, per IP prefix, and
 * per link, so that guessing from many IP addresses is no faster.
 * @throws ProblemError `not_found`, `link_expired`, `password_wrong`, `rate_limited`.
 */
export async function unlockLink(
  { db, signer }: { readonly db: Database; readonly signer: LinkSigner },
  request: FastifyRequest,
  token: string,
  password: string,
): Promise<{ access: string; expires_datetime: string }> {
  const link = await findActive({ db: db.kysely, signer }, token);
  const stored = link.password_hash;
  if (stored !== null) {
    const limits = limitsFor(link.id, request.ip);
    const keys = limits.map(({ key }) => key);
    const wait = await takeAttempt(db, limits);
    if (wait > 0) throw tooManyAttempts(wait);
    const isRight = await request.server.passwordWork
      .run(() => verifyPassword(stored, password))
      .catch(async (error: unknown) => {
        await refundAttempt(db.kysely, keys);
        throw error;
      });
    if (!isRight) {
      await db.kysely.transaction().execute((tx) => touchAttempt(tx, keys));
      throw new ProblemError("password_wrong", "incorrect password");
    }
    await refundAttempt(db.kysely, keys);
  }
  const { access, expiresAt } = makeAccess(signer, link, new Date());
  return { access, expires_datetime: expiresAt.toISOString() };
}

function limitsFor(linkId: string, ip: string): Limit[] {
  return [
    { key: keyOf("link pair", linkId, ipPrefixOf(ip)), free: 5, leakSec: 900 },
    // Many users may share an IP address.
    { key: keyOf("link place", ipPrefixOf(ip)), free: 50, leakSec: 30 },
    { key: keyOf("link", linkId), free: 100, leakSec: 60 },
  ];
}
