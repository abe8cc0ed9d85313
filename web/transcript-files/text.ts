import { checkLimits, type Segment, TranscriptFileError } from "../../contract/subtitles.ts";

const maxNameCharacters = 320;

/** Speaking time per letter; a Chinese, Japanese or Korean character is at least a syllable. */
const letterMs = 65;
const syllableMs = 220;
const minMs = 800;

/**
 * Parses lines of `Speaker: text`, the API's text format. They have no times, so each line gets its estimated speaking time,
 * in sequence.
 * @throws TranscriptFileError with the line number.
 */
export function parseTextTranscript(file: string): Segment[] {
  const segments: Segment[] = [];
  let at = 0;
  for (const [index, line] of file
    .replace(/^\uFEFF/, "")
    .split(/\r\n|\r|\n/)
    .entries()) {
    if (line.trim() === "") continue;
    const colon = line.indexOf(":");
    const speaker = line.slice(0, Math.max(0, colon)).trim();
    const said = line.slice(colon + 1);
    if (speaker === "" || /^\S/.test(said))
      throw new TranscriptFileError(`Line ${index + 1} has no speaker. Write each line as “Name: text”.`);
    if (speaker.length > maxNameCharacters)
      throw new TranscriptFileError(
        `The speaker name in line ${index + 1} has ${speaker.length} characters. The limit is ${maxNameCharacters}.`,
      );
    const text = said.trim();
    if (text === "") continue;
    const end = at + estimateMs(text);
    segments.push({ speaker_key: speaker, start: at, end, text });
    at = end;
  }
  return checked(segments);
}

function estimateMs(text: string): number {
  const syllables = text.match(/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/gu)?.length ?? 0;
  return Math.max(minMs, syllables * syllableMs + (text.length - syllables) * letterMs);
}

/**
 * Parses an array of `{"speaker", "start", "end", "text"}`, times in milliseconds, the API's JSON format.
 * @throws TranscriptFileError with the entry and its line.
 */
export function parseJsonTranscript(file: string): Segment[] {
  const text = file.replace(/^\uFEFF/, "");
  const entries = parse(text);
  if (!Array.isArray(entries)) throw new TranscriptFileError("Expected a JSON array: [{…}, {…}].");
  const lines = linesOfEntries(text);
  const keys: SpeakerKeys = { keys: new Map(), taken: new Map() };
  const segments = entries.flatMap((entry: unknown, index): Segment[] => {
    const where = `Entry ${index + 1}${lines[index] === undefined ? "" : ` (line ${lines[index]})`}`;
    const { speaker, participant_id: person, start, end, text: said } = record(entry, where);
    if (typeof speaker !== "string" || speaker.trim() === "" || speaker.length > maxNameCharacters)
      throw new TranscriptFileError(`${where} needs a “speaker” of 1 to ${maxNameCharacters} characters.`);
    if (!isTime(start) || !isTime(end))
      throw new TranscriptFileError(`${where} needs “start” and “end” in whole milliseconds, 0 or more.`);
    if (end < start)
      throw new TranscriptFileError(`${where} ends before it starts: “end” is less than “start”.`);
    if (typeof said !== "string") throw new TranscriptFileError(`${where} needs a “text”.`);
    if (said.trim() === "") return [];
    return [{ speaker_key: keyOf(keys, speaker.trim(), person), start, end, text: said }];
  });
  return checked(segments.sort((a, b) => a.start - b.start));
}

interface SpeakerKeys {
  /** By participant and name. */
  readonly keys: Map<string, string>;
  /** Keys in use, each with the last number given to that name. */
  readonly taken: Map<string, number>;
}

/** Two participants with the same name get different keys. */
function keyOf({ keys, taken }: SpeakerKeys, name: string, person: unknown): string {
  const identity = `${typeof person === "string" ? person : ""} ${name}`;
  const known = keys.get(identity);
  if (known !== undefined) return known;
  let key = name;
  let count = taken.get(name) ?? 1;
  while (taken.has(key)) key = `${name} (${++count})`;
  taken.set(name, count).set(key, taken.get(key) ?? 1);
  keys.set(identity, key);
  return key;
}

function record(entry: unknown, where: string): Readonly<Record<string, unknown>> {
  if (typeof entry === "object" && entry !== null && !Array.isArray(entry))
    return entry as Readonly<Record<string, unknown>>;
  throw new TranscriptFileError(
    `${where} must be an object: {"speaker": …, "start": …, "end": …, "text": …}.`,
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
    // Browsers report the line or the position.
    const position = /position (\d+)/.exec(words)?.[1];
    const line =
      /line (\d+)/.exec(words)?.[1] ??
      (position === undefined ? undefined : text.slice(0, Number(position)).split("\n").length);
    throw new TranscriptFileError(
      line === undefined
        ? "This isn't valid JSON. It may be incomplete."
        : `This isn't valid JSON: check line ${line}.`,
    );
  }
}

/** The line on which each entry of an array starts. @param text valid JSON with a top-level array. */
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

function checked(segments: Segment[]): Segment[] {
  if (segments.length === 0) throw new TranscriptFileError("This file has no text.");
  return checkLimits(segments);
}
