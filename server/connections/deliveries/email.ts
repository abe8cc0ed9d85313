import { createHash } from "node:crypto";
import { sql } from "kysely";
import { because } from "../../../contract/causes/causes.ts";
import { sentenceOf } from "../../../contract/sentences.ts";
import { directionOf } from "../../../shared/languages.ts";
import { enqueueMail, type Mail, sendMail } from "../../people/accounts/one-time-links/mailer.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Encryptor } from "../../platform/crypto/encryptor.ts";
import type { Database } from "../../platform/db/database.ts";
import { escapeHtml, type Html, html } from "../../platform/html.ts";
import type { JobQueue } from "../../platform/jobs/queue.ts";
import { type AttemptResponse, notSent } from "../webhooks/dispatch/attempt.ts";
import { dateInUtc, dateMark, type Message } from "./content.ts";
import { parseLines, type Style, writeLine } from "./formats/lines.ts";
import { type Attempt, beginAttempt } from "./queries.ts";

interface Dependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly encryptor: Encryptor;
  readonly config: Pick<Config, "smtp">;
}

/** How long an email is worth sending. */
const mailValidMs = 3 * 86_400_000;

/** Lines of an email may be long, but not endless. Source: RFC 5321, section 4.5.3.1.6. */
const maxLine = 900;

const signs = { item: "- ", open: "[ ] ", done: "[x] ", heading: "", text: "", blank: "" };

export function emailOf(message: Message, to: string): Mail {
  const style: Style = {
    text: (text) => text,
    bold: (text) => text,
    italic: (text) => text,
    code: (text) => text,
    // The links of moments are all to the same page.
    link: (text, url) => (url.startsWith(message.url) ? text : `${text} (${url})`),
    date: dateInUtc(message),
    prefix: (line) => "  ".repeat(line.indent) + signs[line.kind],
  };
  const lines = parseLines(message.text, dateMark).flatMap((line) =>
    writeLine(line, style, maxLine).map((text) => (line.kind === "heading" ? text.toUpperCase() : text)),
  );
  return {
    to,
    language: message.i18n.language,
    subject: message.title,
    text: [message.title, message.url, "", ...lines, ""].join("\n"),
    html: htmlOf(message),
    expiresAtMs: Date.now() + mailValidMs,
  };
}

/** The same with links to moments, in colors that programs may turn dark. */
function htmlOf({ title, url, start, text, i18n }: Message): string {
  const style: Style = {
    text: escapeHtml,
    bold: (inner) => html`<b>${inner}</b>`.html,
    italic: (inner) => html`<i>${inner}</i>`.html,
    code: (inner) => html`<code>${inner}</code>`.html,
    link: (inner, to) => html`<a href="${to}">${inner}</a>`.html,
    date: dateInUtc({ i18n, start }),
    prefix: ({ kind }) => ({ item: "• ", open: "☐ ", done: "☑ ", heading: "", text: "", blank: "" })[kind],
  };
  const lines = parseLines(text, dateMark).map((line): Html => {
    const [content = ""] = writeLine(line, style, Number.POSITIVE_INFINITY);
    if (line.kind === "blank") return html`<br>`;
    if (line.kind === "heading") return html`<h3 style="margin:12px 0 4px">${{ html: content }}</h3>`;
    return html`<div style="margin-inline-start:${line.indent * 16}px">${{ html: content }}</div>`;
  });
  return html`<!doctype html><html lang="${i18n.language}" dir="${directionOf(i18n.language)}"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark"></head>
<body style="font-family:sans-serif;max-width:640px"><h2><a href="${url}">${title}</a></h2>
${lines}
</body></html>`.html;
}

interface Recipient {
  readonly email: string;
  readonly email_language: string | null;
}

/** The participants who are users of the workspace and can see the recording at this moment. */
async function findRecipients({ db }: Dependencies, recordingId: string): Promise<readonly Recipient[]> {
  const { rows } = await sql<Recipient>`
    select distinct u.email, u.email_language from participants p
      join users u on u.workspace_id = p.workspace_id and u.email_key = p.email_key
      join workspaces w on w.id = u.workspace_id
    where p.recording_id = ${recordingId} and u.deactivated_at is null and u.invited_at is null and exists (
      select 1 from recording_grants g
      where g.recording_id = p.recording_id and g.principal_id = any(parley_principals(u.id, w.members_id)))
    order by u.email`.execute(db.kysely);
  return rows;
}

/**
 * Queues an email for each participant, in the language of their account, all with the note that this attempt was
 * made, so that none is queued twice.
 * @param compose the message in a user's language; null: it is not known.
 */
export async function sendEmails(
  deps: Dependencies,
  attempt: Attempt,
  compose: (language: string | null) => Promise<Message>,
): Promise<AttemptResponse> {
  const { db, jobs, config } = deps;
  if (config.smtp === null) return notSent(because("mail_server_missing").detail);
  const recipients = await findRecipients(deps, attempt.recordingId);
  let refused = 0;
  await db.kysely.transaction().execute(async (tx) => {
    for (const { email: to, email_language } of recipients) {
      const message = await compose(email_language);
      const kind = "delivery" as const;
      const mail = {
        ...emailOf(message, to),
        messageId: messageIdOf(attempt, to, message.url),
        recordingId: attempt.recordingId,
      };
      if ((await enqueueMail(tx, deps, mail, { kind, workspaceId: null })) !== null) refused += 1;
    }
    await beginAttempt(tx, attempt);
  });
  jobs.wake();
  const count = recipients.length - refused;
  return queued(
    refused === 0
      ? sentenceOf("delivery_queued_some", { count })
      : sentenceOf("delivery_queued_limited", { count, limited: refused }),
  );
}

/** The same however often its job runs, so that a mail server can discard a repetition. */
function messageIdOf({ hookId, deliveryId, attempt }: Attempt, to: string, url: string): string {
  const hash = createHash("sha256").update([hookId, deliveryId, attempt, to].join(" ")).digest("hex");
  return `<${hash.slice(0, 40)}@${new URL(url).hostname}>`;
}

/** Emails that were queued are sent by their own jobs. */
export function queued(body: string): AttemptResponse {
  return { ok: true, status: null, headers: {}, body, error: null, durationMs: 0 };
}

/** Sends an email now. */
export async function sendTestEmail(
  { config: { smtp } }: Pick<Dependencies, "config">,
  message: Message,
  to: string,
): Promise<AttemptResponse> {
  if (smtp === null) return notSent(because("mail_server_missing").detail);
  const startedAt = performance.now();
  try {
    await sendMail(smtp, emailOf(message, to));
    return { ...queued("the mail server accepted the email"), durationMs: performance.now() - startedAt };
  } catch (error) {
    return notSent(error instanceof Error ? error.message : String(error));
  }
}
