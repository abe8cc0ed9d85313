import type { ChatKind } from "../../../../contract/deliveries/deliveries.ts";
import { escapeMarkdown } from "../../exports/markdown.ts";
import { dateMark, dateOf, type Message } from "../content.ts";
import { type Cut, cutToFit, type Line, parseLines, type Style, writeLine } from "./lines.ts";

/** The body of a request to an incoming webhook. */
export interface ChatPayload {
  readonly body: string;
  readonly isCut: boolean;
}

const format: Readonly<Record<ChatKind, (message: Message) => { payload: object; isCut: boolean }>> = {
  slack,
  teams,
  mattermost,
  discord,
};

/** Several times what any service takes: the rest is cut in any case. */
const maxCharacters = 60_000;

/** What an incoming webhook of the service takes, within its published limits. */
export function chatPayload(kind: ChatKind, message: Message): ChatPayload {
  const { payload, isCut } = format[kind]({ ...message, text: message.text.slice(0, maxCharacters) });
  return { body: JSON.stringify(payload), isCut };
}

function unixSeconds(start: string): number {
  return Math.floor(Date.parse(start) / 1000);
}

function indent(line: Line): string {
  return "    ".repeat(line.indent);
}

/** Bullets as characters, for services whose Markdown has no lists, or no check boxes. */
function bullet(line: Line): string {
  const signs = { item: "• ", open: "☐ ", done: "☑ ", heading: "", text: "", blank: "" };
  return indent(line) + signs[line.kind];
}

/*
 * Slack: docs.slack.dev, "Formatting message text" and "Section block" (3,000 characters of text), "Blocks" (50 of them).
 */
const slackLimits = { section: 3000, total: 12_000 } as const;

function escapeSlack(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function slackLink(text: string, url: string): string {
  return `<${escapeSlack(url).replaceAll("|", "%7C")}|${escapeSlack(text).replaceAll("|", "¦")}>`;
}

function slack({ title, url, start, text, i18n, timeZone }: Message) {
  const around = (mark: string) => (inner: string) => `${mark}${escapeSlack(inner)}${mark}`;
  const date = dateOf({ i18n, start, timeZone });
  const style: Style = {
    text: escapeSlack,
    bold: around("*"),
    italic: around("_"),
    code: around("`"),
    link: slackLink,
    date: `<!date^${unixSeconds(start)}^{date_short_pretty} {time}|${date}>`,
    prefix: bullet,
  };
  const lines = parseLines(text, dateMark).flatMap((line) =>
    writeLine(line, style, slackLimits.section - 2).map((written) =>
      line.kind === "heading" ? `*${written.replaceAll("*", "")}*` : written,
    ),
  );
  const cut = cutToFit(lines, slackLimits.total, slackLink(i18n.t("Read more"), url));
  const sections = [`*${slackLink(title, url)}*`, ...groupLines(cut.lines, slackLimits.section)];
  return {
    payload: {
      // What notifications show.
      text: `${escapeSlack(title)} (${date})`,
      blocks: sections.map((section) => ({ type: "section", text: { type: "mrkdwn", text: section } })),
      unfurl_links: false,
      unfurl_media: false,
    },
    isCut: cut.isCut,
  };
}

/** Joins lines to texts of at most so many characters. */
function groupLines(lines: readonly string[], max: number): string[] {
  const groups: string[] = [];
  for (const line of lines) {
    const last = groups.at(-1);
    if (last !== undefined && last.length + line.length + 1 <= max)
      groups[groups.length - 1] = `${last}\n${line}`;
    else groups.push(line);
  }
  // Slack refuses a section without text.
  return groups.map((group) => group.trim()).filter((group) => group !== "");
}

/*
 * Microsoft Teams: an Adaptive Card in the message that the workflow "Post to a channel when a webhook request is received"
 * takes; learn.microsoft.com, "Create Incoming Webhooks" (28 kB) and "Text features in Adaptive Cards".
 */
const teamsBytes = 20_000;

function teams({ title, url, start, text, i18n }: Message) {
  const at = `${start.slice(0, 19)}Z`;
  const around = (mark: string) => (inner: string) => `${mark}${inner}${mark}`;
  const style: Style = {
    text: (inner) => inner,
    bold: around("**"),
    italic: around("_"),
    code: (inner) => inner,
    link: (inner, to) => `[${inner.replace(/[[\]]/g, "")}](${to})`,
    date: `{{DATE(${at},SHORT)}} {{TIME(${at})}}`,
    prefix: bullet,
  };
  const lines = parseLines(text, dateMark);
  const written = lines.flatMap((line) =>
    line.kind === "blank" ? [] : writeLine(line, style, 4000).map((words) => ({ words, kind: line.kind })),
  );
  const cut = cutToFit(
    written.map(({ words }) => words),
    teamsBytes,
    `[${i18n.t("Read more")}](${url})`,
    // With the card's JSON around it.
    (line) => Buffer.byteLength(JSON.stringify(line)) + 60,
  );
  const body = cut.lines.map((words, index) =>
    written[index]?.kind === "heading" && written[index].words === words
      ? { type: "TextBlock", text: words, wrap: true, weight: "Bolder", spacing: "Medium" }
      : { type: "TextBlock", text: words, wrap: true, spacing: "Small" },
  );
  const heading = style.link(title, url);
  const card = {
    $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
    type: "AdaptiveCard",
    version: "1.4",
    body: [{ type: "TextBlock", text: heading, wrap: true, weight: "Bolder", size: "Large" }, ...body],
    actions: [{ type: "Action.OpenUrl", title: i18n.t("Open recording"), url }],
    msteams: { width: "Full" },
  };
  return {
    payload: {
      type: "message",
      attachments: [
        { contentType: "application/vnd.microsoft.card.adaptive", contentUrl: null, content: card },
      ],
    },
    isCut: cut.isCut,
  };
}

/** Markdown as Mattermost and Discord take it. */
function markdownStyle(date: string, prefix: Style["prefix"]): Style {
  return {
    text: escapeMarkdown,
    bold: (text) => `**${escapeMarkdown(text)}**`,
    italic: (text) => `_${escapeMarkdown(text)}_`,
    code: (text) => `\`${text}\``,
    link: (text, url) => `[${escapeMarkdown(text)}](${url})`,
    date,
    prefix,
  };
}

function markdownLines(text: string, style: Style, max: number): string[] {
  return parseLines(text, dateMark).flatMap((line) => writeLine(line, style, max));
}

/* Mattermost: docs.mattermost.com, "Incoming webhooks"; a post has at most 16,383 characters. */
const mattermostCharacters = 16_000;

function mattermost({ title, url, start, text, i18n, timeZone }: Message) {
  const signs = { item: "- ", open: "- [ ] ", done: "- [x] ", heading: "##### ", text: "", blank: "" };
  const style = markdownStyle(dateOf({ i18n, start, timeZone }), (line) => indent(line) + signs[line.kind]);
  const cut: Cut = cutToFit(
    [`#### ${style.link(title, url)}`, ...markdownLines(text, style, 4000)],
    mattermostCharacters,
    style.link(i18n.t("Read more"), url),
  );
  return { payload: { text: withoutMentions(cut.lines.join("\n")) }, isCut: cut.isCut };
}

/** A summary that quotes `@channel` must not notify a channel; email addresses stay. */
function withoutMentions(text: string): string {
  return text.replace(/(?<![\p{L}\p{N}._-])@(?=[\p{L}])/gu, "@\u200B");
}

/* Discord: discord.com/developers/docs, "Embed limits": a title of 256 characters, a description of 4,096. */
const discordCharacters = 4000;

function discord({ title, url, start, text, i18n }: Message) {
  const style = markdownStyle(`<t:${unixSeconds(start)}:f>`, (line) =>
    line.kind === "heading" ? "### " : line.kind === "item" ? `${"  ".repeat(line.indent)}- ` : bullet(line),
  );
  const cut = cutToFit(
    markdownLines(text, style, 1000),
    discordCharacters,
    style.link(i18n.t("Read more"), url),
  );
  const description = cut.lines.join("\n").trim();
  return {
    payload: {
      embeds: [{ title, url, timestamp: start, ...(description === "" ? {} : { description }) }],
      allowed_mentions: { parse: [] },
    },
    isCut: cut.isCut,
  };
}
