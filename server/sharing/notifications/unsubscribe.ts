import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { notificationKindNames } from "../../../contract/workspace/notification-kinds.ts";
import { servePages } from "../../people/accounts/pages/page-parts.ts";
import type { Encryptor } from "../../platform/crypto/encryptor.ts";
import type { Database } from "../../platform/db/database.ts";
import { html } from "../../platform/html.ts";
import type { I18n } from "../../platform/language/i18n.ts";
import { i18nOf } from "../../platform/language/request-language.ts";
import { sendPage } from "../../platform/pages/page.ts";
import { readSettings, saveSettings } from "./queries.ts";

const Token = z.object({
  encryptedFor: z.literal("unsubscribe"),
  userId: z.uuid(),
  from: z.enum(["notifications", "summaries"]).default("notifications"),
});
type Unsubscription = z.output<typeof Token>;

/** The link that stops emails of a user, also when they are signed out. Encryption also proves that Parley made it. */
export function unsubscribeUrl(
  encryptor: Encryptor,
  baseUrl: string,
  { userId, from }: Pick<Unsubscription, "userId" | "from">,
): string {
  const token = encryptor.encrypt(JSON.stringify({ encryptedFor: "unsubscribe", userId, from }));
  return `${baseUrl}/unsubscribe/${token.toString("base64url")}`;
}

/** What mail programs unsubscribe with. Source: RFC 8058, "3". */
export function unsubscribeHeaders(url: string): Record<string, string> {
  return {
    "Auto-Submitted": "auto-generated",
    "List-Unsubscribe": `<${url}>`,
    "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
  };
}

/** The page behind the link. Only POST changes something: mail programs and scanners open links. Source: RFC 8058. */
export async function unsubscribePages(
  app: FastifyInstance,
  { db, encryptor }: { readonly db: Database; readonly encryptor: Encryptor },
): Promise<void> {
  servePages(app);

  app.get("/unsubscribe/:token", async (request, reply) => {
    const i18n = await i18nOf(request);
    const found = readToken(encryptor, request);
    const email = await emailOf(db, found?.userId ?? null);
    if (found === null || email === undefined) return sendInvalid(reply, i18n);
    const isOfSummaries = found.from === "summaries";
    return sendPage(reply, {
      title: isOfSummaries ? i18n.t("Stop emails with summaries") : i18n.t("Stop notification emails"),
      i18n,
      body: isOfSummaries
        ? html`<h1>${i18n.t("Stop emails with summaries of your meetings?")}</h1>
<p>${email}</p>
<p>${i18n.t("The summaries are still in the app.")}</p>
<form method="post"><button>${i18n.t("Stop emails")}</button></form>`
        : html`<h1>${i18n.t("Stop all notification emails to {email}?", { email })}</h1>
<p>${i18n.t("This stops the emails sent at once and the daily email, for every kind of notification. Notifications still appear in the app.")}</p>
<form method="post"><button>${i18n.t("Stop emails")}</button></form>`,
    });
  });

  app.post("/unsubscribe/:token", async (request, reply) => {
    const i18n = await i18nOf(request);
    const found = readToken(encryptor, request);
    const email = await emailOf(db, found?.userId ?? null);
    if (found === null || email === undefined) return sendInvalid(reply, i18n);
    await stopEmails(db, found);
    return sendPage(reply, {
      title: i18n.t("Emails stopped"),
      i18n,
      body: html`<h1>${i18n.t("Emails stopped")}</h1>
<p>${
        found.from === "summaries"
          ? i18n.t("You get no more emails with summaries of your meetings.")
          : i18n.t("{email} gets no more notification emails. Notifications still appear in the app.", {
              email,
            })
      }</p>
<p><a class="button quiet" href="/settings/notifications">${i18n.t("Choose your notifications")}</a></p>`,
    });
  });
}

async function stopEmails(db: Database, { userId, from }: Unsubscription): Promise<void> {
  await db.kysely.transaction().execute(async (tx) => {
    if (from === "summaries") return saveSettings(tx, userId, [{ kind: "summary_emailed", channel: "off" }]);
    const settings = await readSettings(tx, userId);
    const emailed = notificationKindNames.filter((kind) => ["email", "daily"].includes(settings[kind]));
    await saveSettings(
      tx,
      userId,
      emailed.map((kind) => ({ kind, channel: "app" as const })),
    );
  });
}

/** null: the link is not one of Parley's, or PARLEY_SECRET has changed. */
function readToken(encryptor: Encryptor, { params }: FastifyRequest): Unsubscription | null {
  const { token } = params as { readonly token: string };
  try {
    return Token.parse(JSON.parse(encryptor.decrypt(Buffer.from(token, "base64url"))));
  } catch {
    return null;
  }
}

/** Where the emails go; undefined: there is no such user. */
async function emailOf(db: Database, userId: string | null): Promise<string | undefined> {
  if (userId === null) return undefined;
  const user = await db.kysely
    .selectFrom("users")
    .select("email")
    .where("id", "=", userId)
    .executeTakeFirst();
  return user?.email;
}

function sendInvalid(reply: FastifyReply, i18n: I18n): FastifyReply {
  return sendPage(reply, {
    title: i18n.t("Invalid link"),
    i18n,
    status: 404,
    body: html`<h1>${i18n.t("This link doesn't work")}</h1>
<p>${i18n.t("Choose your notifications in the app instead.")}</p>
<p><a class="button quiet" href="/settings/notifications">${i18n.t("Open settings")}</a></p>`,
  });
}
