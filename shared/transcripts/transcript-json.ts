import { fillSentence } from "../fill-sentence.ts";
import { transcriptSentences as sentences } from "./sentences.ts";
import { Report } from "./subtitles/report.ts";
import { cutName, unusedSpeaker } from "./subtitles/segments.ts";
import { readClock } from "./subtitles/times.ts";
import type { SubtitleWord } from "./subtitles/words.ts";
import { finishReading, type Segment, TranscriptFileError, type TranscriptReading } from "./subtitles.ts";
import { maxMilliseconds, maxSegmentCharacters } from "./transcript-limits.ts";

/** A JSON file that is no transcript of a kind that is known. */
export class NoTranscriptError extends TranscriptFileError {}

type Json = Readonly<Record<string, unknown>>;

/** An entry of a transcript as its program writes it. */
interface Entry {
  /** Milliseconds; null: not there, or can't be read. */
  readonly start: number | null;
  readonly end: number | null;
  readonly text: string | null;
  readonly speaker: string | null;
  readonly person: unknown;
  readonly words: readonly SubtitleWord[];
}

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Reads a transcript in JSON: the API's format with times in milliseconds, and those of the programs around Whisper: OpenAI
 * (`segments` or `words`), faster-whisper, whisperX (`words` and speakers), whisper.cpp (`transcription`) and Transformers
 * (`chunks`).
 * @throws TranscriptFileError if nothing can be read; NoTranscriptError if the file is of another kind.
 */
export function readTranscriptJson(file: string): TranscriptReading {
  const { entries, lines } = entriesOf(file);
  const report = new Report();
  const speakers = new SpeakerKeys();
  const known = new Set(entries.flatMap(({ speaker }) => speaker ?? []));
  const nobody = unusedSpeaker(known);
  const segments = entries.flatMap((entry, index): Segment[] => {
    const { start, text, speaker, person, words } = entry;
    if (text !== null && text.trim() === "") return [];
    const problem = problemOf(entry);
    if (problem !== null || text === null || start === null) {
      report.add(
        lines[index] ?? null,
        fillSentence(sentences.transcript_entry, { number: index + 1, reason: problem ?? "" }),
      );
      return [];
    }
    const from = Math.max(0, start);
    const until = entry.end ?? endOf(entry, from, entries[index + 1]?.start ?? null);
    return [
      {
        speaker_key: speaker === null ? nobody : speakers.keyOf(speaker, person),
        start: from,
        end: Math.max(from, until),
        text: text.trim(),
        ...(words.length === 0 ? {} : { words }),
      },
    ];
  });
  if (segments.length === 0 && report.count === 0)
    throw new TranscriptFileError(sentences.transcript_no_text);
  return finishReading(segments, report);
}

function problemOf({ start, end, text }: Entry): string | null {
  if (text === null) return sentences.transcript_no_entry_text;
  if (start === null) return sentences.transcript_no_entry_start;
  if (end !== null && end < start) return sentences.transcript_backwards;
  if (Math.max(start, end ?? 0) > maxMilliseconds) return sentences.transcript_late;
  if (text.length > maxSegmentCharacters && text.replace(/\s+/g, " ").trim().length > maxSegmentCharacters)
    return fillSentence(sentences.transcript_part_long, { count: text.length, limit: maxSegmentCharacters });
  return null;
}

/** Time of speech per letter, where a program doesn't know the end of the last entry. */
const letterMs = 65;

function endOf({ words, text }: Entry, start: number, next: number | null): number {
  return words.at(-1)?.end ?? (next !== null && next > start ? next : start + (text ?? "").length * letterMs);
}

function entriesOf(file: string): { entries: Entry[]; lines: readonly number[] } {
  const value = parse(file);
  const [list, unit] = listOf(value);
  if (list === null)
    throw new NoTranscriptError(
      fillSentence(sentences.transcript_other_json, { shape: "{“speaker”, “start”, “end”, “text”}" }),
    );
  return {
    entries: list.map((entry) => readEntry(isObject(entry) ? entry : {}, unit)),
    lines: Array.isArray(value) ? linesOfEntries(file) : [],
  };
}

/** The entries of a file, and how many milliseconds a unit of their times has. */
function listOf(value: unknown, depth = 0): [readonly unknown[] | null, number] {
  const seconds = 1000;
  if (Array.isArray(value)) {
    if (value.length > 0 && !value.some((entry) => isObject(entry) && "text" in entry)) return [null, 1];
    return [value, isInSeconds(value) ? seconds : 1];
  }
  if (!isObject(value)) return [null, 1];
  for (const key of ["segments", "transcription", "chunks"] as const) {
    const list = value[key];
    if (Array.isArray(list) && (list.length > 0 || !Array.isArray(value.words)))
      return [list, key === "segments" && isInMilliseconds(list.filter(isObject)) ? 1 : seconds];
  }
  if (Array.isArray(value.words)) return [joinWords(value.words), seconds];
  for (const key of ["result", "results", "output", "transcript", "data"])
    if (depth < 3 && key in value) {
      const found = listOf(value[key], depth + 1);
      if (found[0] !== null) return found;
    }
  return [null, 1];
}

/** The API's entries name a speaker and have whole milliseconds; those of Whisper have fields of their own. */
function isInSeconds(list: readonly unknown[]): boolean {
  const entries = list.filter(isObject);
  if (isInMilliseconds(entries)) return false;
  if (
    entries.some(({ start, end }) => [start, end].some((time) => typeof time === "number" && time % 1 !== 0))
  )
    return true;
  return entries.some((entry) => isOfWhisper(entry) || !("speaker" in entry));
}

const isOfWhisper = (entry: Json): boolean => "seek" in entry || "avg_logprob" in entry;

/** Letters of speech per unit of time, below which the unit is no second: nobody speaks for 20 seconds per letter. */
const minLetters = 0.05;

/** Whether the times can only be milliseconds: mostly whole, and far too long for the text if they were seconds. */
function isInMilliseconds(entries: readonly Json[]): boolean {
  let [letters, spoken, latest, fractions] = [0, 0, 0, 0];
  for (const { start, end, text } of entries) {
    if (typeof start !== "number" || typeof end !== "number" || typeof text !== "string") continue;
    letters += text.trim().length;
    spoken += Math.max(0, end - start);
    latest = Math.max(latest, end);
    fractions += Number(start % 1 !== 0 || end % 1 !== 0);
  }
  const isMostlyWhole = fractions * 2 <= entries.length;
  return latest >= 1000 && isMostlyWhole && letters < spoken * minLetters && !entries.some(isOfWhisper);
}

/** Units: those of `start` and `end`; whisper.cpp has `offsets` in milliseconds, or `timestamps` as text. */
function readEntry(entry: Json, unit: number): Entry {
  const { offsets, timestamps, timestamp, words, tokens } = entry;
  const [from, to] = Array.isArray(timestamp) ? timestamp : [];
  const inMs = (key: "from" | "to"): number | null =>
    (isObject(offsets) ? timeOf(offsets[key], 1) : null) ??
    (isObject(timestamps) ? timeOf(timestamps[key], 1) : null);
  const spoken = [words, tokens].find((list) => Array.isArray(list) && list.some(isObject));
  const read = (Array.isArray(spoken) ? spoken : []).flatMap((word) => wordOf(word, unit));
  // Some words have no times, and are text all the same.
  const text = entry.text ?? (read.length > 0 && Array.isArray(spoken) ? spoken.map(textOf).join(" ") : null);
  return {
    start: timeOf(entry.start, unit) ?? timeOf(from, unit) ?? inMs("from") ?? read[0]?.start ?? null,
    end: timeOf(entry.end, unit) ?? timeOf(to, unit) ?? inMs("to"),
    text: typeof text === "string" ? text.replaceAll("\0", "") : null,
    speaker: speakerOf(entry.speaker ?? entry.speaker_key),
    person: entry.participant_id,
    // The tokens of whisper.cpp are parts of words.
    words: spoken === words ? read : [],
  };
}

/** Milliseconds; null: no time. Programs write numbers, numbers as text, and clocks. */
function timeOf(value: unknown, unit: number): number | null {
  if (typeof value === "number") return Number.isFinite(value) ? Math.round(value * unit) : null;
  if (typeof value !== "string" || value.length > 40) return null;
  if (/^\s*-?\d{1,12}(?:\.\d{1,12})?\s*$/.test(value)) return Math.round(Number(value) * unit);
  return readClock(value)?.ms ?? null;
}

function speakerOf(value: unknown): string | null {
  const name = isObject(value) ? (value.name ?? value.id) : value;
  if (typeof name === "number") return `Speaker ${name}`;
  return typeof name === "string" ? cutName(name) || null : null;
}

function wordOf(value: unknown, unit: number): SubtitleWord[] {
  if (!isObject(value)) return [];
  const text = textOf(value);
  const [start, end] = [timeOf(value.start, unit), timeOf(value.end, unit)];
  if (text === "" || start === null || end === null) return [];
  const from = Math.max(0, start);
  return end < from || end > maxMilliseconds ? [] : [{ text, start: from, end }];
}

function textOf(word: unknown): string {
  const text = isObject(word) ? (word.word ?? word.text ?? word.punctuated_word) : word;
  return typeof text === "string" ? text.trim() : "";
}

/** The longest pause within an entry that is put together from words, in seconds, and the longest entry. */
const maxPause = 1;
const maxJoined = 300;

/** Entries of words that come without any: each ends at the end of a sentence, a pause or a change of speakers. */
function joinWords(words: readonly unknown[]): Json[] {
  const entries: { start: unknown; end: unknown; speaker: unknown; text: string; words: Json[] }[] = [];
  for (const word of words.filter(isObject)) {
    const text = String(word.word ?? word.text ?? "").trim();
    const last = entries.at(-1);
    const isNext =
      last === undefined ||
      last.speaker !== word.speaker ||
      last.text.length > maxJoined ||
      /[.!?。！？]$/.test(last.text) ||
      Number(word.start) - Number(last.end) > maxPause;
    if (isNext)
      entries.push({ start: word.start, end: word.end, speaker: word.speaker, text, words: [word] });
    else {
      last.text = `${last.text} ${text}`;
      last.end = word.end ?? last.end;
      last.words.push(word);
    }
  }
  return entries;
}

/** Keys of speakers: two participants with the same name get different ones. */
class SpeakerKeys {
  /** By participant and name. */
  readonly #keys = new Map<string, string>();
  /** Keys in use, each with the last number given to that name. */
  readonly #taken = new Map<string, number>();

  keyOf(name: string, person: unknown): string {
    const identity = `${typeof person === "string" ? person : ""} ${name}`;
    const known = this.#keys.get(identity);
    if (known !== undefined) return known;
    let key = name;
    let count = this.#taken.get(name) ?? 1;
    while (this.#taken.has(key)) key = `${name} (${++count})`;
    this.#taken.set(name, count).set(key, this.#taken.get(key) ?? 1);
    this.#keys.set(identity, key);
    return key;
  }
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
        ? sentences.transcript_json_incomplete
        : fillSentence(sentences.transcript_json_line, { number: line }),
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
