import type { FastifyRequest } from "fastify";
import { tooManyAttempts } from "../accounts/me.ts";
import { verifyPassword } from "../accounts/passwords.ts";
import { giveBack, keyOf, type Limit, placeOf, takeAttempt, touchAttempt } from "../accounts/throttle.ts";
import type { Database } from "../db/database.ts";
import { ProblemError } from "../http/problem.ts";
import type { LinkSigner } from "../links/signer.ts";
import { findGood } from "./open.ts";
import { makeAccess } from "./token.ts";

/**
 * Lets in who knows a link's password. Attempts are slowed down for the pair of link and place, for the place, and for
 * the link, so that many places together guess no faster.
 * @throws ProblemError `not_found`, `link_expired`, `password_wrong`, `rate_limited`.
 */
export async function unlockLink(
  { db, signer }: { readonly db: Database; readonly signer: LinkSigner },
  request: FastifyRequest,
  token: string,
  password: string,
): Promise<{ access: string; expires_datetime: string }> {
  const link = await findGood({ db: db.kysely, signer }, token);
  const stored = link.password_hash;
  if (stored !== null) {
    const limits = limitsFor(link.id, request.ip);
    const keys = limits.map(({ key }) => key);
    const wait = await takeAttempt(db, limits);
    if (wait > 0) throw tooManyAttempts(wait);
    const isRight = await request.server.passwordWork
      .run(() => verifyPassword(stored, password))
      .catch(async (error: unknown) => {
        await giveBack(db.kysely, keys);
        throw error;
      });
    if (!isRight) {
      await db.kysely.transaction().execute((tx) => touchAttempt(tx, keys));
      throw new ProblemError("password_wrong", "this is not the password of the link");
    }
    await giveBack(db.kysely, keys);
  }
  const { access, expiresAt } = makeAccess(signer, link, new Date());
  return { access, expires_datetime: expiresAt.toISOString() };
}

function limitsFor(linkId: string, ip: string): Limit[] {
  return [
    { key: keyOf("link pair", linkId, placeOf(ip)), free: 5, leakSec: 900 },
    // Many people may share an address.
    { key: keyOf("link place", placeOf(ip)), free: 50, leakSec: 30 },
    { key: keyOf("link", linkId), free: 100, leakSec: 60 },
  ];
}
