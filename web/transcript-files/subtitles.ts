/** Why a transcript file is invalid, as a message for the user. */
export class TranscriptFileError extends Error {}

/** A transcript segment; times in milliseconds from the start of the recording. */
export interface Segment {
  readonly speaker_key: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const timing = /^\s*((?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3})\s*-->\s*((?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3})(?:\s|$)/;

/** The API's limit. */
const maxSegments = 50_000;
/** Characters of one segment, and in total. Source: contract/transcript-limits.ts. */
const maxSegmentCharacters = 10_000;
const maxTranscriptCharacters = 5_000_000;

/** A speaker name at the start of a cue: up to five words, then a colon. */
const speakerPrefix = /^([\p{L}\p{N}][^\s:]*(?: [^\s:]+){0,4}):\s+(?=\S)/u;

/**
 * Parses WebVTT (https://www.w3.org/TR/webvtt1/, section 4) or SubRip. The speaker comes from a voice tag `<v Name>` or from
 * `Name: ` at the start of a cue; other cues continue with the previous speaker.
 * @throws TranscriptFileError if there are no cues with text.
 */
export function parseSubtitles(file: string): Segment[] {
  const blocks = file
    .replace(/^\uFEFF/, "")
    .replaceAll(/\r\n?/g, "\n")
    .split(/\n[ \t]*\n/);
  const segments: Segment[] = [];
  let speaker = "Speaker 1";
  for (const block of blocks) {
    const lines = block.split("\n");
    const at = lines.findIndex((line) => timing.test(line));
    const [, from = "", to = ""] = timing.exec(lines[at] ?? "") ?? [];
    if (at === -1) continue;
    const [start, end] = [toMs(from), toMs(to)];
    if (end < start) throw new TranscriptFileError(`A cue ends before it starts: ${lines[at]?.trim()}`);
    const raw = lines
      .slice(at + 1)
      .join(" ")
      .trim();
    const voice = /<v(?:\.[^\s<>]*)?\s([^<>]+)>/.exec(raw)?.[1]?.trim();
    const plain = unescapeText(raw.replaceAll(/<[^<>]*>/g, "").replaceAll(/\{\\[^{}]*\}/g, "")).trim();
    const named = voice === undefined ? speakerPrefix.exec(plain) : null;
    speaker = (voice === undefined ? named?.[1] : unescapeText(voice))?.slice(0, 500) ?? speaker;
    const text = named === null ? plain : plain.slice(named[0].length);
    if (text !== "") segments.push({ speaker_key: speaker, start, end, text });
  }
  if (segments.length === 0) throw new TranscriptFileError("This file has no subtitles with times and text.");
  return checkLimits(segments).sort((a, b) => a.start - b.start);
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
