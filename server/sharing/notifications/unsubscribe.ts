import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { notificationKindNames } from "../../../contract/workspace/notification-kinds.ts";
import { servePages } from "../../people/accounts/pages/page-parts.ts";
import type { Encryptor } from "../../platform/crypto/encryptor.ts";
import type { Database } from "../../platform/db/database.ts";
import { html } from "../../platform/pages/html.ts";
import { sendPage } from "../../platform/pages/page.ts";
import { readSettings, saveSettings } from "./queries.ts";

const Token = z.object({ encryptedFor: z.literal("unsubscribe"), userId: z.uuid() });

/** The link that stops the emails of a user, also when they are signed out. Encryption also proves that Parley made it. */
export function unsubscribeUrl(encryptor: Encryptor, baseUrl: string, userId: string): string {
  const token = encryptor.encrypt(JSON.stringify({ encryptedFor: "unsubscribe", userId }));
  return `${baseUrl}/unsubscribe/${token.toString("base64url")}`;
}

/** The page behind the link. Only POST changes something: mail programs and scanners open links. Source: RFC 8058. */
export async function unsubscribePages(
  app: FastifyInstance,
  { db, encryptor }: { readonly db: Database; readonly encryptor: Encryptor },
): Promise<void> {
  servePages(app);

  app.get("/unsubscribe/:token", async (request, reply) =>
    userOf(encryptor, request) === null
      ? sendInvalid(reply)
      : sendPage(reply, {
          title: "Stop notification emails",
          body: html`<h1>Stop notification emails?</h1>
<p>Notifications still appear in the app.</p>
<form method="post"><button>Stop emails</button></form>`,
        }),
  );

  app.post("/unsubscribe/:token", async (request, reply) => {
    const userId = userOf(encryptor, request);
    if (userId === null) return sendInvalid(reply);
    await stopEmails(db, userId);
    return sendPage(reply, {
      title: "Notification emails stopped",
      body: html`<h1>Emails stopped</h1>
<p>You get no more notification emails. Notifications still appear in the app.</p>
<p><a class="button quiet" href="/settings/notifications">Choose your notifications</a></p>`,
    });
  });
}

async function stopEmails(db: Database, userId: string): Promise<void> {
  await db.kysely.transaction().execute(async (tx) => {
    const settings = await readSettings(tx, userId);
    const emailed = notificationKindNames.filter((kind) => ["email", "daily"].includes(settings[kind]));
    await saveSettings(
      tx,
      userId,
      emailed.map((kind) => ({ kind, channel: "app" as const })),
    );
  });
}

/** The user of the link; null: it is not one of Parley's, or PARLEY_SECRET has changed. */
function userOf(encryptor: Encryptor, { params }: FastifyRequest): string | null {
  const { token } = params as { readonly token: string };
  try {
    return Token.parse(JSON.parse(encryptor.decrypt(Buffer.from(token, "base64url")))).userId;
  } catch {
    return null;
  }
}

function sendInvalid(reply: FastifyReply): FastifyReply {
  return sendPage(reply, {
    title: "Invalid link",
    status: 404,
    body: html`<h1>This link doesn't work</h1>
<p>Choose your notifications in the app instead.</p>
<p><a class="button quiet" href="/settings/notifications">Open settings</a></p>`,
  });
}
