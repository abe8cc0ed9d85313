import { sql } from "kysely";
import { enqueueMail, type Mail } from "../../people/accounts/one-time-links/mailer.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Encryptor } from "../../platform/crypto/encryptor.ts";
import type { Database } from "../../platform/db/database.ts";
import type { JobQueue } from "../../platform/jobs/queue.ts";
import { type I18n, i18nFor } from "../../platform/language/i18n.ts";
import type { DestinationRow } from "./queries.ts";

/** How long the email is worth sending. */
const mailValidMs = 3 * 86_400_000;

/** Switches a delivery off and notifies its owner, in one transaction. */
export async function switchOff(
  deps: {
    readonly db: Database;
    readonly jobs: JobQueue;
    readonly encryptor: Encryptor;
    readonly config: Pick<Config, "baseUrl" | "smtp">;
  },
  { id, name }: Pick<DestinationRow, "id" | "name">,
  reason: string,
): Promise<void> {
  const { db, jobs, encryptor, config } = deps;
  await db.kysely.transaction().execute(async (tx) => {
    const { rows } = await sql<{ workspace_id: string; email: string | null; email_language: string | null }>`
      select h.workspace_id, u.email, u.email_language from hooks h
        left join users u on u.id = h.created_by and u.deactivated_at is null
      where h.id = ${id} and h.disabled_at is null for no key update of h`.execute(tx);
    const [found] = rows;
    if (found === undefined) return;
    await sql`select parley_disable_hooks(array[${id}::uuid], ${reason})`.execute(tx);
    if (found.email === null || config.smtp === null) return;
    const i18n = await i18nFor(found.email_language);
    const mail = switchedOffMail(i18n, found.email, { name, baseUrl: config.baseUrl });
    await enqueueMail(tx, { jobs, encryptor }, mail, {
      kind: "delivery_disabled",
      workspaceId: found.workspace_id,
    });
  });
  jobs.wake();
}

/** The email to the owner of a delivery that was switched off. */
export function switchedOffMail(
  i18n: I18n,
  to: string,
  { name, baseUrl }: { readonly name: string; readonly baseUrl: string },
): Mail {
  const delivery = name.replace(/\s+/g, " ");
  return {
    to,
    language: i18n.language,
    subject: i18n.t("Parley no longer sends to {delivery}", { delivery }),
    text: [
      i18n.t("The delivery {delivery} was switched off. Recordings are no longer sent there.", { delivery }),
      i18n.t("See what the service returned, correct the delivery and enable it again:"),
      `${baseUrl}/settings/deliveries\n`,
    ].join("\n\n"),
    expiresAtMs: Date.now() + mailValidMs,
  };
}
