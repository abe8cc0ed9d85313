import { localTime } from "../../platform/language/written-time.ts";
import { composeDocument } from "../documents/compose.ts";
import { momentUrl, timeOf } from "../documents/moments.ts";
import { escapeMarkdown } from "../exports/markdown.ts";
import { composeMessage, dateMark, dateOf, type Message, type Reader, type Written } from "./content.ts";
import type { DestinationRow } from "./queries.ts";

type Note = Pick<DestinationRow, "template" | "link_people">;

/**
 * A recording as a note of Obsidian: properties, then the template, or the standard one and the whole transcript.
 * @param mark changes its text, as for a test.
 */
export function noteOf(
  reader: Reader,
  parts: Written,
  baseUrl: string,
  { template, link_people }: Note,
  mark: (message: Message) => Message = (message) => message,
): string {
  const { recording, entries } = parts;
  const { title, start_datetime: start, participants, tags, meeting_type: type } = recording;
  const people = [...new Set(participants.map(({ name }) => name.replace(/\s+/g, " ").trim()))].filter(
    (name) => name !== "",
  );
  const isWhole = template === null;
  const first = { recording, entries: isWhole ? [] : entries };
  const message = mark(composeMessage(reader, first, baseUrl, template));
  return [
    "---",
    `title: ${quote(title)}`,
    `date: ${localTime(new Date(start), reader.timeZone)}`,
    // Characters that end a link of Obsidian.
    ...list(
      "people",
      people.map((name) => (link_people ? `[[${name.replace(/[[\]|#^]/g, " ").trim()}]]` : name)),
    ),
    // A tag of Obsidian has no blanks.
    ...list(
      "tags",
      tags.map((tag) => tag.trim().replace(/\s+/g, "-")),
    ),
    ...(type === null ? [] : [`type: ${quote(type.name)}`]),
    `url: ${quote(message.url)}`,
    "---",
    "",
    `# ${escapeMarkdown(message.title)}`,
    "",
    message.text.replaceAll(dateMark, dateOf(message)),
    ...(isWhole ? restOf(reader, parts, baseUrl) : []),
    "",
  ].join("\n");
}

/** What the standard text of messages is too short for. */
function restOf({ i18n }: Reader, { recording, entries }: Written, baseUrl: string): string[] {
  const { summary, transcript, url } = composeDocument(recording, entries, baseUrl);
  return [
    ...(summary?.sections ?? []).flatMap((section) => [
      "",
      `## ${escapeMarkdown(section.title)}`,
      "",
      section.markdown,
    ]),
    ...(transcript.length === 0 ? [] : ["", `## ${i18n.t("Transcript")}`]),
    ...transcript.flatMap(({ speaker, timestamp, text }) => [
      "",
      // Two blanks end the line.
      `${speaker === "" ? "" : `**${escapeMarkdown(speaker)}** `}[${timeOf(timestamp)}](${momentUrl(url, timestamp)})  `,
      escapeMarkdown(text),
    ]),
  ];
}

function list(name: string, values: readonly string[]): string[] {
  return values.length === 0 ? [] : [`${name}:`, ...values.map((value) => `  - ${quote(value)}`)];
}

/** JSON strings are YAML strings. */
function quote(text: string): string {
  return JSON.stringify(text.replace(/\s+/g, " "));
}

/**
 * Where the note is, without its ending: `2026/11/2026-11-28-roadmap-019abc12`, by the day on which the recording began in
 * the time zone. Keys of the store have plain letters only.
 */
export function notePath(
  { id, title, start_datetime: start }: Written["recording"],
  timeZone: string | null,
): string {
  const day = localTime(new Date(start), timeZone).slice(0, 10);
  const words = title
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase()
    .replaceAll("ß", "ss")
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 60)
    // Bounded: at most 60 characters, of which no two neighbors are hyphens.
    .replace(/^-|-$/g, "");
  return `${day.slice(0, 4)}/${day.slice(5, 7)}/${[day, ...(words === "" ? [] : [words]), id.slice(-8)].join("-")}`;
}
