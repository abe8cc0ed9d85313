import { randomUUID } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { sql } from "kysely";
import { originOf, recordAudit } from "../audit/record.ts";
import type { Database, Tx } from "../db/database.ts";
import type { JobQueue } from "../jobs/queue.ts";
import type { Sealer } from "../links/sealer.ts";
import { enqueueMail, type Mail } from "./mailer.ts";
import { passwordResetMail, resetWaitsMail } from "./mails.ts";
import { findResetByAdmin, makeLink, resetByMailTtlMs } from "./one-time-links.ts";
import { actorFor } from "./sign-in.ts";
import { foldEmail, keyOf, placeOf, takeAttempt } from "./throttle.ts";

/** An address is not written to more often than this allows, whoever asks. */
const perEmail = { free: 3, leakSec: 900 };
const perPlace = { free: 20, leakSec: 60 };

/**
 * Takes the wish for a new password. Whether there is such an account is looked up by a job: neither the answer nor its
 * time tells.
 * @returns 0, or the seconds after which this place may ask again.
 */
export async function requestPasswordReset(
  deps: { readonly db: Database; readonly jobs: JobQueue },
  request: FastifyRequest,
  given: string,
): Promise<number> {
  const { ip, userAgent } = originOf(request);
  const email = await foldEmail(deps.db, given.slice(0, 1000));
  const wait = await takeAttempt(deps.db, [{ key: keyOf("reset place", placeOf(ip)), ...perPlace }]);
  if (wait > 0) return wait;
  // Too often for this address: the answer is the same, so that it does not tell who else has asked.
  if ((await takeAttempt(deps.db, [{ key: keyOf("reset", email), ...perEmail }])) > 0) return 0;
  await deps.db.kysely
    .transaction()
    .execute((tx) => deps.jobs.enqueue(tx, "request_password_reset", { email, ip, userAgent }, randomUUID()));
  deps.jobs.wake();
  return 0;
}

/** Makes the link and the mail, if there is such a person. */
export async function requestPasswordResetJob(
  deps: {
    readonly db: Database;
    readonly jobs: JobQueue;
    readonly sealer: Sealer;
    readonly config: { readonly baseUrl: string };
  },
  data: { readonly email: string; readonly ip: string; readonly userAgent: string },
): Promise<void> {
  await deps.db.kysely.transaction().execute(async (tx) => {
    const user = await tx
      .selectFrom("users")
      .select(["id", "workspace_id", "email", "email_key", "name"])
      .where("email_key", "=", sql<string>`lower(${data.email})`)
      .where("deactivated_at", "is", null)
      .where("invited_at", "is", null)
      .forNoKeyUpdate()
      .executeTakeFirst();
    if (user === undefined) return;
    await enqueueMail(tx, deps, await makeMail(tx, user, deps.config.baseUrl));
    await recordAudit(
      tx,
      {
        ...actorFor(user),
        userId: null,
        userEmail: null,
        ip: data.ip,
        userAgent: data.userAgent,
        credential: null,
        credentialId: null,
      },
      { action: "password_reset_requested", subject: { type: "user", id: user.id } },
    );
  });
  deps.jobs.wake();
}

/** A new link; but nobody who only asks ends one that an admin made for the person. */
async function makeMail(
  tx: Tx,
  user: { readonly id: string; readonly email: string; readonly name: string },
  baseUrl: string,
): Promise<Mail> {
  const byAdmin = await findResetByAdmin(tx, user.id);
  if (byAdmin !== undefined) return resetWaitsMail(user, byAdmin);
  const link = await makeLink(tx, {
    userId: user.id,
    purpose: "password_reset",
    ttlMs: resetByMailTtlMs,
    baseUrl,
  });
  return passwordResetMail(user, link);
}
