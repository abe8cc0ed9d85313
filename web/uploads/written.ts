import { type Segment, SubtitleFault } from "./subtitles.ts";

/** As many as a transcript may have. */
const mostSegments = 50_000;
const mostNameLetters = 320;

/** How long a letter takes to be said; one of Chinese, Japanese or Korean is a syllable or more. */
const letterMs = 65;
const syllableMs = 220;
const leastMs = 800;

/**
 * Reads lines of `Speaker: text`, as the service writes them. They have no times: each is given as long as it takes to be
 * said at an even pace, one after the other.
 * @throws SubtitleFault that names the line.
 */
export function readPlainText(file: string): Segment[] {
  const segments: Segment[] = [];
  let at = 0;
  for (const [index, line] of file
    .replace(/^\uFEFF/, "")
    .split(/\r\n|\r|\n/)
    .entries()) {
    if (line.trim() === "") continue;
    const found = /^\s*([^:]*\S)\s*:(?:\s+(.*))?$/u.exec(line);
    const speaker = found?.[1] ?? "";
    if (speaker === "")
      throw new SubtitleFault(
        `Line ${index + 1} names no speaker. Each line has to read “Name: what they say”.`,
      );
    if (speaker.length > mostNameLetters)
      throw new SubtitleFault(
        `Line ${index + 1} names a speaker of ${speaker.length} letters; at most ${mostNameLetters} are taken.`,
      );
    const text = (found?.[2] ?? "").trim();
    if (text === "") continue;
    const end = at + spokenMs(text);
    segments.push({ speaker_key: speaker, start: at, end, text });
    at = end;
  }
  return checked(segments);
}

function spokenMs(text: string): number {
  const syllables = text.match(/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/gu)?.length ?? 0;
  return Math.max(leastMs, syllables * syllableMs + (text.length - syllables) * letterMs);
}

/**
 * Reads a list of `{"speaker", "start", "end", "text"}`, times in milliseconds, as the service writes it.
 * @throws SubtitleFault that names the entry and its line.
 */
export function readJson(file: string): Segment[] {
  const text = file.replace(/^\uFEFF/, "");
  const entries = parse(text);
  if (!Array.isArray(entries))
    throw new SubtitleFault("This JSON is no list. A transcript is a list of entries: [{…}, {…}].");
  if (entries.length > mostSegments) checked({ length: entries.length });
  const lines = linesOfEntries(text);
  const keys = new Map<string, string>();
  const segments = entries.flatMap((entry: unknown, index): Segment[] => {
    const where = `Entry ${index + 1}${lines[index] === undefined ? "" : ` (line ${lines[index]})`}`;
    const { speaker, participant_id: person, start, end, text: said } = record(entry, where);
    if (typeof speaker !== "string" || speaker.trim() === "" || speaker.length > mostNameLetters)
      throw new SubtitleFault(`${where} needs a “speaker” of 1 to ${mostNameLetters} letters.`);
    if (!isTime(start) || !isTime(end))
      throw new SubtitleFault(`${where} needs “start” and “end” in whole milliseconds, from 0 on.`);
    if (end < start) throw new SubtitleFault(`${where} ends before it begins: “end” is less than “start”.`);
    if (typeof said !== "string") throw new SubtitleFault(`${where} needs a “text”.`);
    if (said.trim() === "") return [];
    return [{ speaker_key: keyOf(keys, speaker.trim(), person), start, end, text: said }];
  });
  return checked(segments.sort((a, b) => a.start - b.start));
}

/** Two people of the same name stay two. */
function keyOf(keys: Map<string, string>, name: string, person: unknown): string {
  const identity = `${typeof person === "string" ? person : ""} ${name}`;
  const known = keys.get(identity);
  if (known !== undefined) return known;
  const taken = new Set(keys.values());
  let key = name;
  for (let count = 2; taken.has(key); count++) key = `${name} (${count})`;
  keys.set(identity, key);
  return key;
}

function record(entry: unknown, where: string): Readonly<Record<string, unknown>> {
  if (typeof entry === "object" && entry !== null && !Array.isArray(entry))
    return entry as Readonly<Record<string, unknown>>;
  throw new SubtitleFault(
    `${where} is no entry. It has to read {"speaker": …, "start": …, "end": …, "text": …}.`,
  );
}

function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const words = error instanceof Error ? error.message : "";
    // Browsers name the line, or at least the place.
    const place = /position (\d+)/.exec(words)?.[1];
    const line =
      /line (\d+)/.exec(words)?.[1] ??
      (place === undefined ? undefined : text.slice(0, Number(place)).split("\n").length);
    throw new SubtitleFault(
      line === undefined
        ? "This is no JSON: it ends too soon, or something in it is not written as JSON is."
        : `This is no JSON: something is wrong in line ${line}.`,
    );
  }
}

/** On which line each entry of a list begins. @param text valid JSON whose outermost value is a list. */
function linesOfEntries(text: string): number[] {
  const lines: number[] = [];
  let [line, depth, isInText, isNext] = [1, 0, false, true];
  for (let at = 0; at < text.length; at++) {
    const letter = text[at];
    if (letter === "\n") line++;
    if (isInText) {
      if (letter === "\\") at++;
      else if (letter === '"') isInText = false;
      continue;
    }
    if (letter === undefined || /\s/.test(letter)) continue;
    if (depth === 1 && isNext && letter !== "]") {
      lines.push(line);
      isNext = false;
    }
    if (letter === '"') isInText = true;
    else if (letter === "[" || letter === "{") depth++;
    else if (letter === "]" || letter === "}") depth--;
    else if (letter === "," && depth === 1) isNext = true;
  }
  return lines;
}

function checked<T extends { readonly length: number }>(segments: T): T {
  if (segments.length === 0) throw new SubtitleFault("Nothing is said in this file.");
  if (segments.length > mostSegments)
    throw new SubtitleFault(
      `This transcript has ${segments.length} lines; at most ${mostSegments} are taken.`,
    );
  return segments;
}
