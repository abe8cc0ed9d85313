import { toMarkdown } from "../exports/markdown.ts";
import type { RecordingParts } from "../exports/read.ts";
import { composeMessage, dateMark, dateOf, type Reader } from "./content.ts";
import type { DestinationRow } from "./queries.ts";

type Note = Pick<DestinationRow, "template" | "link_people">;

/** A recording as a note of Obsidian: properties, then the text of an export, or of the template. */
export function noteOf(
  reader: Reader,
  { recording, entries }: RecordingParts,
  baseUrl: string,
  { template, link_people }: Note,
): string {
  const { title, start_datetime: date, participants, tags, meeting_type: type } = recording;
  const people = [...new Set(participants.map(({ name }) => name.replace(/\s+/g, " ").trim()))].filter(
    (name) => name !== "",
  );
  const message = composeMessage(reader, recording, baseUrl, template, entries);
  const text =
    template === null
      ? toMarkdown(recording, entries, reader.timeZone)
      : `# ${message.title}\n\n${message.text.replaceAll(dateMark, dateOf(message))}\n`;
  return [
    "---",
    `title: ${quote(title)}`,
    `date: ${date}`,
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
    text,
  ].join("\n");
}

function list(name: string, values: readonly string[]): string[] {
  return values.length === 0 ? [] : [`${name}:`, ...values.map((value) => `  - ${quote(value)}`)];
}

/** JSON strings are YAML strings. */
function quote(text: string): string {
  return JSON.stringify(text.replace(/\s+/g, " "));
}

/** Where the note is, without its ending: `2026/11/2026-11-28-roadmap-019abc12`. Keys of the store have plain letters only. */
export function notePath({ id, title, start_datetime: start }: RecordingParts["recording"]): string {
  const words = title
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase()
    .replaceAll("ß", "ss")
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 60)
    // Bounded: at most 60 characters, of which no two neighbors are hyphens.
    .replace(/^-|-$/g, "");
  return `${start.slice(0, 4)}/${start.slice(5, 7)}/${[start.slice(0, 10), ...(words === "" ? [] : [words]), id.slice(-8)].join("-")}`;
}
