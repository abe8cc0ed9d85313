import type { PortableEntry } from "../../../../contract/recordings/portable.ts";
import { withEnds } from "./disk.ts";
import { clockMs } from "./duration.ts";
import { RecordingError } from "./errors.ts";

/** A line that begins what a speaker says. */
interface Head {
  readonly speaker: string;
  readonly start: number;
  /** What stands behind the name on the same line. */
  readonly text: string;
}

/** A line of the file, and the one below it; empty where there is none. */
interface Line {
  readonly text: string;
  readonly after: string;
  /** Whether it can begin a paragraph: the line before is empty, or no line of the file is. */
  readonly isFirst: boolean;
}

/** Longer lines are no heads without text. */
const maxHeadCharacters = 300;

const footer = /^Transcribed by https:\/\/otter\.ai/;

const wide =
  // Bounded: heads have at most 300 characters.
  /^(\S.*?)(?: {2,}|\t+ *)(\d{1,3}(?::\d{2}){1,2})(?:[.,]\d{1,3})?(?: ?[-–] ?\d{1,3}(?::\d{2}){1,2}(?:[.,]\d{1,3})?)?\s*$/;
const narrow =
  // Bounded: heads have at most 300 characters.
  /^(\S.*?):? ?[ ([](\d{1,3}(?::\d{2}){1,2})(?:[.,]\d{1,3})?(?: ?[-–] ?\d{1,3}(?::\d{2}){1,2}(?:[.,]\d{1,3})?)?[)\]]?:?\s*$/;
const timeFirst = /^[([]?(\d{1,3}(?::\d{2}){1,2})(?:[.,]\d{1,3})?(?!\d)[)\]]?:?(?:\s+(?:[-–] )?|$)/;
const inBrackets = /^([^()[\]:]{1,100})[([](\d{1,3}(?::\d{2}){1,2})(?:[.,]\d{1,3})?[)\]] ?[:–-]?\s+(?=\S)/;
const inlineSpeaker = /^([^:]{1,100}): (?=\S)/;

/** The layouts of heads, from the clearest. */
const layouts: readonly ((line: Line) => Head | null)[] = [
  // `Ada Lovelace  1:02`, the text below.
  ({ text }) => headOf(wide, text),
  // `Ada Lovelace 1:02` or `Ada Lovelace (1:02)`: unlike a text that ends with a time, it begins a paragraph.
  ({ text, after, isFirst }) => (isFirst && after.trim() !== "" ? headOf(narrow, text) : null),
  // `1:02 Ada Lovelace`, `[1:02] Ada Lovelace: text` or `1:02`.
  ({ text, after }) => {
    const [head, time = ""] = timeFirst.exec(text) ?? [];
    if (head === undefined) return null;
    const rest = text.slice(head.length).trim();
    const [prefix = "", named] = inlineSpeaker.exec(rest) ?? [];
    if (named !== undefined)
      return { speaker: nameIn(named), start: clockMs(time), text: rest.slice(prefix.length) };
    const hasTextBelow = after.trim() !== "" && !timeFirst.test(after);
    return hasTextBelow
      ? { speaker: nameIn(rest), start: clockMs(time), text: "" }
      : { speaker: "", start: clockMs(time), text: rest };
  },
  // `Ada Lovelace (1:02): text`.
  ({ text }) => {
    const [head, speaker = "", time = ""] = inBrackets.exec(text) ?? [];
    if (head === undefined) return null;
    return { speaker: nameIn(speaker), start: clockMs(time), text: text.slice(head.length) };
  },
];

/** A name without what separates it from the time, and without Markdown. */
function nameIn(text: string): string {
  const name = text.trim().replaceAll("**", "");
  return (/[,:|–-]$/.test(name) ? name.slice(0, -1) : name).trim();
}

/** A head that is a line of its own. */
function headOf(pattern: RegExp, text: string): Head | null {
  const [, speaker, time] = text.length > maxHeadCharacters ? [] : (pattern.exec(text) ?? []);
  if (speaker === undefined || time === undefined) return null;
  return { speaker: nameIn(speaker), start: clockMs(time), text: "" };
}

/**
 * Reads a text of Otter in the layout that most of its paragraphs have.
 * @returns the entries, and how many lines with text stand before the first.
 * @throws RecordingError when there is no speaker with a time.
 */
export function readOtterText(
  name: string,
  file: string,
): { readonly entries: PortableEntry[]; readonly unreadLines: number } {
  const lines = file.trim().split(/\r\n|\r|\n/);
  const isDense = lines.every((line) => line.trim() !== "");
  const heads = layouts
    .map((layout) =>
      lines.map((text, index) =>
        layout({
          text,
          after: lines[index + 1] ?? "",
          isFirst: isDense || (lines[index - 1] ?? "").trim() === "",
        }),
      ),
    )
    .map((found) => ({ found, count: found.filter((head) => head !== null).length }))
    .reduce((best, one) => (one.count > best.count ? one : best));
  const entries: { speaker: string; start: number; parts: string[] }[] = [];
  let unreadLines = 0;
  for (const [index, line] of lines.entries()) {
    const head = heads.found[index] ?? null;
    const last = entries.at(-1);
    if (head !== null) entries.push({ ...head, parts: [head.text] });
    else if (line.trim() === "" || footer.test(line)) continue;
    else if (last === undefined) unreadLines += 1;
    else last.parts.push(line);
  }
  const spoken = entries
    .map(({ speaker, start, parts }) => ({
      speaker,
      start,
      text: parts
        .map((part) => part.trim())
        .filter((part) => part !== "")
        .join(" "),
    }))
    .filter(({ text }) => text !== "");
  if (spoken.length === 0)
    throw new RecordingError(
      file.trim() === ""
        ? `${name} is empty`
        : `${name} has no line with a speaker and a time, such as "Ada Lovelace  1:02"; export it with speakers and timestamps, or upload a text of "Name: text" lines in the web app`,
    );
  return { entries: withEnds(spoken, 0), unreadLines };
}
