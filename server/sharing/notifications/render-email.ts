import type { Notification } from "../../../contract/workspace/notifications.ts";
import { directionOf } from "../../../shared/languages.ts";
import type { OutgoingMail } from "../../people/accounts/one-time-links/mailer.ts";
import { greeting, plainName, quotableName } from "../../people/accounts/one-time-links/mails.ts";
import { type Html, html } from "../../platform/html.ts";
import type { I18n } from "../../platform/language/i18n.ts";
import { isInEnglish, type Named, present } from "./describe.ts";
import type { NotificationRow } from "./queries.ts";

interface Linked extends Named {
  readonly unsubscribe: string;
}

/** Notifications about the same recording, or about none. */
interface Group {
  /** The recording's title, for quotes; null: they are about none. */
  readonly about: string | null;
  readonly notifications: readonly Notification[];
}

/** An email about notifications, as plain text and as HTML, grouped by recording. */
export function renderEmail(
  i18n: I18n,
  user: { readonly name: string; readonly email: string },
  rows: readonly NotificationRow[],
  { baseUrl, kinds, unsubscribe }: Linked,
): Pick<OutgoingMail, "subject" | "text" | "language"> & { readonly html: string } {
  const english = new Set(rows.filter((row) => isInEnglish(i18n, row)).map(({ id }) => id));
  const notifications = rows.map((row) => present(i18n, row, { baseUrl, kinds }, plainName));
  const groups: Group[] = [...Map.groupBy(notifications, (one) => one.recording_id).values()].map(
    (group) => ({
      about: group[0]?.recording_title == null ? null : quotableName(group[0].recording_title),
      notifications: group,
    }),
  );
  const hello = greeting(i18n, user.name);
  const settings = `${baseUrl}/settings/notifications`;
  const subject = subjectOf(i18n, groups);
  const headingOf = (title: string): string => i18n.t("“{title}”", { title });
  return {
    language: i18n.language,
    subject,
    text: [
      hello,
      ...groups.flatMap(({ about, notifications: group }) => [
        ...(about === null ? [] : [headingOf(about)]),
        ...group.map((one) => textOf(i18n, one)),
      ]),
      `--\n${i18n.t("Choose your notifications: {url}", { url: settings })}\n${i18n.t("Stop all notification emails to {email}: {url}", { email: user.email, url: unsubscribe })}`,
    ].join("\n\n"),
    html: page(
      i18n,
      subject,
      html`<p>${hello}</p>
${groups.map(
  ({ about, notifications: group }) => html`${about === null ? null : html`<h2>${headingOf(about)}</h2>`}
${group.map((one) => htmlOf(i18n, one, english.has(one.id)))}`,
)}
<p class="soft foot"><a href="${settings}">${i18n.t("Choose your notifications")}</a> · <a href="${unsubscribe}">${i18n.t("Stop all notification emails to {email}", { email: user.email })}</a></p>`,
    ).html,
  };
}

function subjectOf(i18n: I18n, groups: readonly Group[]): string {
  const [first] = groups;
  const count = groups.reduce((sum, { notifications }) => sum + notifications.length, 0);
  const about = groups.length === 1 ? (first?.about ?? null) : null;
  const [only] = first?.notifications ?? [];
  if (count > 1 || only === undefined)
    return about === null
      ? i18n.t("{count, plural, one {# notification} other {# notifications}} from Parley", { count })
      : i18n.t("{count, plural, one {# notification} other {# notifications}} about “{title}”", {
          count,
          title: about,
        });
  return about === null
    ? only.title
    : i18n.t("{notification}: “{title}”", { notification: only.title, title: about });
}

function textOf(i18n: I18n, notification: Notification): string {
  const { text, url } = notification;
  return [
    headlineOf(i18n, notification),
    ...(text === null ? [] : text.split("\n").map((line) => `> ${line}`)),
    url,
  ].join("\n");
}

function htmlOf(i18n: I18n, notification: Notification, isEnglish: boolean): Html {
  const { text, timestamp, url } = notification;
  return html`<p class="what">${headlineOf(i18n, notification)}</p>
${text === null ? null : html`<blockquote${isEnglish ? html` lang="en"` : null}>${text}</blockquote>`}
<p><a class="button" href="${url}">${timestamp === null ? i18n.t("Open") : i18n.t("Go to this moment")}</a></p>`;
}

function headlineOf(i18n: I18n, { title, timestamp }: Notification): string {
  return timestamp === null
    ? title
    : i18n.t("{notification} at {time}", { notification: title, time: clock(timestamp) });
}

/** As 4:05 or 1:02:03. */
function clock(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const pad = (value: number): string => String(value).padStart(2, "0");
  return `${hours > 0 ? `${hours}:${pad(minutes)}` : minutes}:${pad(seconds % 60)}`;
}

/** Mail programs with a dark theme use the colors of the media query, or invert the light ones. */
function page({ language }: I18n, title: string, body: Html): Html {
  return html`<!doctype html>
<html lang="${language}" dir="${directionOf(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${title}</title>
<style>
:root { color-scheme: light dark; }
body { margin: 0; padding: 24px 16px; background: #ffffff; color: #1c1c1e; font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
:lang(ja) body { font-family: system-ui, "Hiragino Sans", "Yu Gothic UI", "Noto Sans JP", Meiryo, sans-serif; line-break: strict; word-break: auto-phrase; }
main { max-width: 560px; margin: 0 auto; }
h2 { font-size: 18px; line-height: 1.3; margin: 28px 0 8px; }
p { margin: 0 0 12px; }
.what { font-weight: 600; margin-top: 20px; }
blockquote { margin: 0 0 12px; padding-block: 2px; padding-inline-start: 12px; border-inline-start: 3px solid #c7c7cc; color: #48484a; white-space: pre-wrap; overflow-wrap: anywhere; }
a { color: #0b57d0; }
a.button { display: inline-block; padding: 8px 14px; border-radius: 8px; background: #0b57d0; color: #ffffff; text-decoration: none; }
.soft { color: #636366; font-size: 14px; }
.foot { margin-top: 36px; padding-top: 12px; border-top: 1px solid #d1d1d6; }
@media (prefers-color-scheme: dark) {
  body { background: #1c1c1e; color: #f2f2f7; }
  blockquote { border-inline-start-color: #636366; color: #d1d1d6; }
  a { color: #8ab4f8; }
  a.button { background: #8ab4f8; color: #1c1c1e; }
  .soft { color: #aeaeb2; }
  .foot { border-top-color: #3a3a3c; }
}
</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`;
}
