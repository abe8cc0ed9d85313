import { randomUUID } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { sql } from "kysely";
import { z } from "zod";
import { originOf, recordAudit } from "../../../platform/audit/record.ts";
import type { Encryptor } from "../../../platform/crypto/encryptor.ts";
import type { Database, Tx } from "../../../platform/db/database.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import { ipPrefixOf } from "../../../platform/http/limits/ip-prefix.ts";
import { defineJob } from "../../../platform/jobs/define.ts";
import type { JobQueue } from "../../../platform/jobs/queue.ts";
import { type I18n, i18nFor } from "../../../platform/language/i18n.ts";
import { languageOf } from "../../../platform/language/request-language.ts";
import { actorFor } from "../sign-in/sign-in.ts";
import { foldEmail, keyOf, takeAttempt } from "../sign-in/throttle.ts";
import { isOutsideItsDomain } from "../workspaces/email-domains.ts";
import { enqueueMail, type Mail } from "./mailer.ts";
import { passwordResetMail, resetWaitsMail } from "./mails.ts";
import { createLink, findResetByAdmin, resetByMailTtlMs } from "./one-time-links.ts";

/** How often emails are sent to one recipient, across all requesters. */
const perEmail = { free: 3, leakSec: 900 };
const perIpPrefix = { free: 20, leakSec: 60 };

/**
 * Requests a password reset. A job looks up the account, so neither the response nor its timing reveals whether it exists.
 * @returns 0, or the seconds after which this IP prefix may ask again.
 */
export async function requestPasswordReset(
  deps: { readonly db: Database; readonly jobs: JobQueue },
  request: FastifyRequest,
  given: string,
): Promise<number> {
  const { ip, userAgent } = originOf(request);
  const language = languageOf(request);
  const email = await foldEmail(deps.db, given.slice(0, 1000));
  const wait = await takeAttempt(deps.db, [{ key: keyOf("reset place", ipPrefixOf(ip)), ...perIpPrefix }]);
  if (wait > 0) return wait;
  // Too often for this email: the response stays the same, so that it does not reveal earlier requests.
  if ((await takeAttempt(deps.db, [{ key: keyOf("reset", email), ...perEmail }])) > 0) return 0;
  await deps.db.kysely
    .transaction()
    .execute((tx) =>
      deps.jobs.enqueue(tx, "request_password_reset", { email, ip, userAgent, language }, randomUUID()),
    );
  deps.jobs.wake();
  return 0;
}

/** Creates the link and the email, if the account exists. */
async function requestPasswordResetJob(
  deps: {
    readonly db: Database;
    readonly jobs: JobQueue;
    readonly encryptor: Encryptor;
    readonly config: { readonly baseUrl: string };
  },
  data: z.infer<typeof payload>,
): Promise<void> {
  const requested = deps.db.kysely.transaction().execute(async (tx) => {
    const user = await tx
      .selectFrom("users")
      .select([
        ...(["id", "workspace_id", "email", "email_key", "email_proven_at", "name"] as const),
        ...(["email_language", "email_time_zone"] as const),
      ])
      .where("email_key", "=", sql<string>`parley_lower(${data.email})`)
      .where("deactivated_at", "is", null)
      .where("invited_at", "is", null)
      .forNoKeyUpdate()
      .executeTakeFirst();
    if (user === undefined) return;
    // Otherwise the email's owner would unknowingly prove it for the person who registered it outside the domain's workspace.
    if (user.email_proven_at === null && (await isOutsideItsDomain(tx, user))) return;
    const of = { kind: "password_reset", workspaceId: user.workspace_id } as const;
    const i18n = await i18nFor(user.email_language ?? data.language ?? null);
    const refused = await enqueueMail(tx, deps, await createMail(tx, i18n, user, deps.config.baseUrl), of);
    // Rolls back, so that the link of the last email stays valid.
    if (refused !== null) throw refused;
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
  await requested.catch((error: unknown) => {
    // Over the limit nothing is sent; telling anyone would reveal that the account exists.
    if (!(error instanceof ProblemError) || error.code !== "rate_limited") throw error;
  });
  deps.jobs.wake();
}

/** An email with a new link, unless an admin's link is active: a mere request must not end that one. */
async function createMail(
  tx: Tx,
  i18n: I18n,
  user: {
    readonly id: string;
    readonly email: string;
    readonly name: string;
    readonly email_time_zone: string | null;
  },
  baseUrl: string,
): Promise<Mail> {
  const byAdmin = await findResetByAdmin(tx, user.id);
  if (byAdmin !== undefined) return resetWaitsMail(i18n, user, byAdmin);
  const link = await createLink(tx, {
    userId: user.id,
    purpose: "password_reset",
    ttlMs: resetByMailTtlMs,
    baseUrl,
    creator: null,
  });
  return passwordResetMail(i18n, user, { ...link, url: link.mailedUrl });
}

const payload = z.object({
  email: z.string(),
  ip: z.string(),
  userAgent: z.string(),
  /** Of the page on which it was requested. */
  language: z.string().exactOptional(),
});

declare module "../../../platform/jobs/define.ts" {
  interface JobPayloads {
    request_password_reset: z.infer<typeof payload>;
  }
}

export const requestPasswordResetKind = defineJob({
  name: "request_password_reset",
  label: (i18n) => i18n.t("Reset password"),
  schema: payload,
  subject: "password_reset",
  owner: null,
  concurrency: 2,
  discard: { lost: (i18n) => i18n.t("The email is not sent. The user can request another one.") },
  handler: (deps, data) => requestPasswordResetJob(deps, data),
});
