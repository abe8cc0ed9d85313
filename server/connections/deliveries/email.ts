import { because } from "../../../contract/causes/causes.ts";
import { directionOf } from "../../../shared/languages.ts";
import { type OutgoingMail, sendMail } from "../../people/accounts/one-time-links/mailer.ts";
import type { Config } from "../../platform/config/config.ts";
import { escapeHtml, type Html, html } from "../../platform/html.ts";
import { type AttemptResponse, notSent } from "../webhooks/dispatch/attempt.ts";
import { dateMark, dateOf, type Message } from "./content.ts";
import { parseLines, type Style, writeLine } from "./formats/lines.ts";

/** Lines of an email may be long, but not endless. Source: RFC 5321, section 4.5.3.1.6. */
const maxLine = 900;

const signs = { item: "- ", open: "[ ] ", done: "[x] ", heading: "", text: "", blank: "" };

/** @param unsubscribe the link that stops such emails; none in a test or preview. */
export function emailOf(message: Message, to: string, unsubscribe: string | null = null): OutgoingMail {
  const style: Style = {
    text: (text) => text,
    bold: (text) => text,
    italic: (text) => text,
    code: (text) => text,
    // The links of moments are all to the same page.
    link: (text, url) => (url.startsWith(message.url) ? text : `${text} (${url})`),
    date: dateOf(message),
    prefix: (line) => "  ".repeat(line.indent) + signs[line.kind],
  };
  const lines = parseLines(message.text, dateMark).flatMap((line) =>
    writeLine(line, style, maxLine).map((text) => (line.kind === "heading" ? text.toUpperCase() : text)),
  );
  return {
    to,
    language: message.i18n.language,
    subject: message.title,
    text: [
      ...[message.title, message.url, "", ...lines, ""],
      ...(unsubscribe === null
        ? []
        : [
            "--",
            message.i18n.t("Stop emails with summaries to {email}: {url}", { email: to, url: unsubscribe }),
            "",
          ]),
    ].join("\n"),
    html: htmlOf(message, to, unsubscribe),
  };
}

/** The same with links to moments, in colors that programs may turn dark. */
function htmlOf(
  { title, url, start, text, i18n, timeZone }: Message,
  to: string,
  unsubscribe: string | null,
): string {
  const style: Style = {
    text: escapeHtml,
    bold: (inner) => html`<b>${inner}</b>`.html,
    italic: (inner) => html`<i>${inner}</i>`.html,
    code: (inner) => html`<code>${inner}</code>`.html,
    link: (inner, to) => html`<a href="${to}">${inner}</a>`.html,
    date: dateOf({ i18n, start, timeZone }),
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
${unsubscribe === null ? null : html`<p style="margin-top:32px;font-size:14px"><a href="${unsubscribe}">${i18n.t("Stop emails with summaries to {email}", { email: to })}</a></p>`}
</body></html>`.html;
}

/** What was queued is sent by a job. */
export function queued(body: string): AttemptResponse {
  return { ok: true, status: null, headers: {}, body, error: null, durationMs: 0 };
}

/** Sends an email now. */
export async function sendTestEmail(
  { config: { smtp } }: { readonly config: Pick<Config, "smtp"> },
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
