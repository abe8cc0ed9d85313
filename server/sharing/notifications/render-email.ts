import type { Notification } from "../../../contract/workspace/notifications.ts";
import { plainName, quoteName } from "../../people/accounts/one-time-links/mails.ts";
import { type Html, html } from "../../platform/html.ts";
import { present } from "./describe.ts";
import type { NotificationRow } from "./queries.ts";

interface Links {
  readonly baseUrl: string;
  readonly unsubscribe: string;
}

/** Notifications about the same recording, or about none. */
interface Group {
  readonly heading: string | null;
  readonly notifications: readonly Notification[];
}

/** An email about notifications, as plain text and as HTML, grouped by recording. */
export function renderEmail(
  user: { readonly name: string },
  rows: readonly NotificationRow[],
  { baseUrl, unsubscribe }: Links,
): { readonly subject: string; readonly text: string; readonly html: string } {
  const notifications = rows.map((row) => present(row, baseUrl, plainName));
  const groups: Group[] = [...Map.groupBy(notifications, (one) => one.recording_id).values()].map(
    (group) => ({
      heading: group[0]?.recording_title == null ? null : quoteName(group[0].recording_title),
      notifications: group,
    }),
  );
  const greeting = `Hello ${plainName(user.name)},`;
  const settings = `${baseUrl}/settings/notifications`;
  const subject = subjectOf(groups);
  return {
    subject,
    text: [
      greeting,
      ...groups.flatMap(({ heading, notifications: group }) => [
        ...(heading === null ? [] : [heading]),
        ...group.map(textOf),
      ]),
      `--\nChoose your notifications: ${settings}\nStop these emails: ${unsubscribe}`,
    ].join("\n\n"),
    html: page(
      subject,
      html`<p>${greeting}</p>
${groups.map(
  ({ heading, notifications: group }) => html`${heading === null ? null : html`<h2>${heading}</h2>`}
${group.map(htmlOf)}`,
)}
<p class="soft foot"><a href="${settings}">Choose your notifications</a> · <a href="${unsubscribe}">Stop these emails</a></p>`,
    ).html,
  };
}

function subjectOf(groups: readonly Group[]): string {
  const [first] = groups;
  const count = groups.reduce((sum, { notifications }) => sum + notifications.length, 0);
  const about = groups.length === 1 ? (first?.heading ?? null) : null;
  const [only] = first?.notifications ?? [];
  if (count > 1 || only === undefined)
    return `${count} notifications ${about === null ? "from Parley" : `about ${about}`}`;
  return about === null ? only.title : `${only.title}: ${about}`;
}

function textOf({ title, text, timestamp, url }: Notification): string {
  return [
    `${title}${timestamp === null ? "" : ` at ${clock(timestamp)}`}`,
    ...(text === null ? [] : text.split("\n").map((line) => `> ${line}`)),
    url,
  ].join("\n");
}

function htmlOf({ title, text, timestamp, url }: Notification): Html {
  return html`<p class="what">${title}${timestamp === null ? "" : ` at ${clock(timestamp)}`}</p>
${text === null ? null : html`<blockquote>${text}</blockquote>`}
<p><a class="button" href="${url}">${timestamp === null ? "Open" : "Go to this moment"}</a></p>`;
}

/** As 4:05 or 1:02:03. */
function clock(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const pad = (value: number): string => String(value).padStart(2, "0");
  return `${hours > 0 ? `${hours}:${pad(minutes)}` : minutes}:${pad(seconds % 60)}`;
}

/** Mail programs with a dark theme use the colors of the media query, or invert the light ones. */
function page(title: string, body: Html): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${title}</title>
<style>
:root { color-scheme: light dark; }
body { margin: 0; padding: 24px 16px; background: #ffffff; color: #1c1c1e; font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 560px; margin: 0 auto; }
h2 { font-size: 18px; line-height: 1.3; margin: 28px 0 8px; }
p { margin: 0 0 12px; }
.what { font-weight: 600; margin-top: 20px; }
blockquote { margin: 0 0 12px; padding: 2px 0 2px 12px; border-left: 3px solid #c7c7cc; color: #48484a; white-space: pre-wrap; overflow-wrap: anywhere; }
a { color: #0b57d0; }
a.button { display: inline-block; padding: 8px 14px; border-radius: 8px; background: #0b57d0; color: #ffffff; text-decoration: none; }
.soft { color: #636366; font-size: 14px; }
.foot { margin-top: 36px; padding-top: 12px; border-top: 1px solid #d1d1d6; }
@media (prefers-color-scheme: dark) {
  body { background: #1c1c1e; color: #f2f2f7; }
  blockquote { border-left-color: #636366; color: #d1d1d6; }
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
