import {
  maxMilliseconds,
  maxSegmentCharacters,
  maxSegments,
  maxTranscriptCharacters,
} from "./transcript-limits.ts";

/** Why a transcript file is invalid, as a message for the user. */
export class TranscriptFileError extends Error {}

/** A word and when it was spoken; times in milliseconds from the start of the recording. */
interface SubtitleWord {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** A transcript segment; times in milliseconds from the start of the recording. */
export interface Segment {
  readonly speaker_key: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** The words whose times the file has; absent: none. */
  readonly words?: readonly SubtitleWord[];
}

const timing = /^\s*((?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3})\s*-->\s*((?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3})(?:\s|$)/;

/** A speaker name at the start of a cue: up to five words, then a colon. */
const speakerPrefix = /^([\p{L}\p{N}][^\s:]*(?: [^\s:]+){0,4}):\s+(?=\S)/u;

/**
 * Parses WebVTT (https://www.w3.org/TR/webvtt1/, section 4) or SubRip. The speaker comes from a voice tag `<v Name>` or from
 * `Name: ` at the start of a cue; other cues continue with the previous speaker. Timestamps within a cue give the times of
 * its words.
 * @throws TranscriptFileError if there are no cues with text.
 */
export function parseSubtitles(file: string): Segment[] {
  return finishSubtitles([...readCues(file)].filter((cue) => cue !== null));
}

/** Completes what `readCues` read. @throws TranscriptFileError if there is nothing, or more than a transcript may have. */
export function finishSubtitles(segments: Segment[]): Segment[] {
  if (segments.length === 0) throw new TranscriptFileError("This file has no subtitles with times and text.");
  return checkLimits(segments).sort((a, b) => a.start - b.start);
}

/** Reads the cues of a file one by one, so that a caller can do other work in between; null: only for that. */
export function* readCues(file: string): Generator<Segment | null> {
  let speaker = "Speaker 1";
  for (const block of blocksOf(file)) {
    const cue = block === null ? null : readCue(block, speaker);
    if (cue === null) {
      yield null;
      continue;
    }
    speaker = cue.speaker_key;
    if (cue.text !== "") yield cue;
  }
}

/** A caller can pause after this many characters, also where there are no cues. */
const pauseEvery = 65_536;

/** Characters of one block: the longest text, with a timestamp before each of its words. */
const maxBlockCharacters = 200_000;

/** The parts of a file between blank lines, and now and then null. */
function* blocksOf(file: string): Generator<string | null> {
  let block: string[] = [];
  let length = 0;
  let from = file.startsWith("\uFEFF") ? 1 : 0;
  let pausedAt = 0;
  const lineEnds = /[\r\n]+/g;
  while (from < file.length) {
    if (from - pausedAt >= pauseEvery) {
      pausedAt = from;
      yield null;
    }
    lineEnds.lastIndex = from;
    const ends = lineEnds.exec(file);
    const line = file.slice(from, ends?.index);
    from = ends === null ? file.length : lineEnds.lastIndex;
    const hasText = line.trim() !== "";
    if (hasText) {
      block.push(line);
      length += line.length;
      if (length > maxBlockCharacters)
        throw new TranscriptFileError(
          `A cue has more than ${maxBlockCharacters} characters. Split the cue that starts with “${block[0]?.trim().slice(0, 40)}”.`,
        );
    }
    // Several ends of lines in a row: a blank line follows.
    if (hasText && (ends === null || /^(?:\r\n|\r|\n)$/.test(ends[0]))) continue;
    if (block.length > 0) yield block.join("\n");
    block = [];
    length = 0;
  }
  if (block.length > 0) yield block.join("\n");
}

/** @returns null for a block that is no cue. */
function readCue(block: string, previousSpeaker: string): Segment | null {
  const lines = block.split("\n");
  const at = lines.findIndex((line) => timing.test(line));
  const [, from = "", to = ""] = timing.exec(lines[at] ?? "") ?? [];
  if (at === -1) return null;
  const [start, end] = [toMs(from), toMs(to)];
  if (end < start) throw new TranscriptFileError(`A cue ends before it starts: ${lines[at]?.trim()}`);
  if (end > maxMilliseconds)
    throw new TranscriptFileError(`A cue is later than a recording can be long: ${lines[at]?.trim()}`);
  const raw = lines
    .slice(at + 1)
    .join(" ")
    .trim();
  const voice = /<v(?:\.[^\s<>]*)?\s([^<>]+)>/.exec(raw)?.[1]?.trim();
  const plain = withoutMarkup(raw).trim();
  const named = voice === undefined ? speakerPrefix.exec(plain) : null;
  const name = voice === undefined ? named?.[1] : unescapeText(voice);
  const speaker = name?.trim().slice(0, 500) || previousSpeaker;
  const text = named === null ? plain : plain.slice(named[0].length);
  const words = readWords(raw, start, end);
  return { speaker_key: speaker, start, end, text, ...(words.length === 0 ? {} : { words }) };
}

function withoutMarkup(raw: string): string {
  return unescapeText(raw.replaceAll(/<[^<>]*>/g, "").replaceAll(/\{\\[^{}]*\}/g, ""));
}

const timestamp = /<((?:\d+:)?\d{1,2}:\d{2}\.\d{3})>/;

/**
 * The words of a cue with timestamps: each is spoken from the timestamp before it to the next one. Where several words
 * are between two timestamps, their times are not known.
 */
function readWords(raw: string, start: number, end: number): SubtitleWord[] {
  const [first = "", ...others] = raw.split(timestamp);
  if (others.length === 0) return [];
  const runs = [{ start, text: first }];
  for (let index = 0; index < others.length; index += 2)
    runs.push({ start: toMs(others[index] ?? ""), text: others[index + 1] ?? "" });
  const words: { text: string; start: number; end: number; isAlone: boolean }[] = [];
  let isInWord = false;
  runs.forEach((run, index) => {
    const text = withoutMarkup(run.text);
    const runEnd = runs[index + 1]?.start ?? end;
    const found = text.match(/\S+/g) ?? [];
    const last = words.at(-1);
    const continued = isInWord && /^\S/.test(text) ? last : undefined;
    if (continued !== undefined) {
      continued.text += found.shift() ?? "";
      continued.end = runEnd;
      continued.isAlone &&= found.length === 0;
    }
    const isAlone = found.length === 1 && continued === undefined;
    for (const word of found) words.push({ text: word, start: run.start, end: runEnd, isAlone });
    if (text !== "") isInWord = /\S$/.test(text);
  });
  return words.flatMap(({ isAlone, ...word }) =>
    isAlone && word.end >= word.start && word.end <= end ? [word] : [],
  );
}

/**
 * Applies the server's limits, with messages about the file.
 * @throws TranscriptFileError with the start of the line.
 */
export function checkLimits(segments: Segment[]): Segment[] {
  if (segments.length > maxSegments)
    throw new TranscriptFileError(
      `This transcript has ${segments.length} lines. The limit is ${maxSegments}.`,
    );
  let total = 0;
  for (const { text } of segments) {
    const length = text.length > maxSegmentCharacters ? text.replace(/\s+/g, " ").trim().length : text.length;
    if (length > maxSegmentCharacters)
      throw new TranscriptFileError(
        `A line has ${length} characters. The limit is ${maxSegmentCharacters}. Split the line that starts with “${text.trimStart().slice(0, 40)}”.`,
      );
    total += length;
  }
  if (total > maxTranscriptCharacters)
    throw new TranscriptFileError(
      `This transcript has ${total} characters. The limit is ${maxTranscriptCharacters}.`,
    );
  return segments;
}

/** The named speakers of a transcript, as participants. */
export function speakersOf(segments: readonly Segment[]): { name: string; speaker_key: string }[] {
  const keys = new Set(segments.map(({ speaker_key }) => speaker_key));
  return [...keys]
    .filter((key) => !/^(?:Unknown )?Speaker \d+$/.test(key))
    .map((key) => ({ name: key, speaker_key: key }));
}

function toMs(time: string): number {
  const [clock = "", fraction = "0"] = time.split(/[.,]/);
  const seconds = clock.split(":").reduce((total, part) => total * 60 + Number(part), 0);
  return seconds * 1000 + Number(fraction.padEnd(3, "0"));
}

const characters: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  nbsp: " ",
  quot: '"',
  lrm: "",
  rlm: "",
};

function unescapeText(text: string): string {
  return text.replaceAll(/&(\w+);/g, (whole, name: string) => characters[name] ?? whole);
}
