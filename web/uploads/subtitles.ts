/** Why a file is no transcript, in words for the person who chose it. */
export class SubtitleFault extends Error {}

/** A part of a transcript: milliseconds from the start of the recording. */
export interface Segment {
  readonly speaker_key: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const timing = /^\s*((?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3})\s*-->\s*((?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3})(?:\s|$)/;

/** As many as a transcript may have. */
const mostSegments = 50_000;

/** A name that a cue's text begins with: up to five words, then a colon. */
const spokenBy = /^([\p{L}\p{N}][^\s:]*(?: [^\s:]+){0,4}):\s+(?=\S)/u;

/**
 * Reads WebVTT (https://www.w3.org/TR/webvtt1/, section 4) or SubRip. Who speaks comes from a voice tag `<v Name>` or
 * from `Name: ` at a cue's beginning; a cue that names nobody goes on with the speaker before it.
 * @throws SubtitleFault when there is nothing that was said at some time.
 */
export function readSubtitles(file: string): Segment[] {
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
    if (end < start) throw new SubtitleFault(`A cue ends before it begins: ${lines[at]?.trim()}`);
    const raw = lines
      .slice(at + 1)
      .join(" ")
      .trim();
    const voice = /<v(?:\.[^\s>]*)?\s+([^>]+)>/.exec(raw)?.[1]?.trim();
    const plain = unescapeText(raw.replaceAll(/<[^>]*>/g, "").replaceAll(/\{\\[^}]*\}/g, "")).trim();
    const named = voice === undefined ? spokenBy.exec(plain) : null;
    speaker = (voice === undefined ? named?.[1] : unescapeText(voice))?.slice(0, 500) ?? speaker;
    const text = named === null ? plain : plain.slice(named[0].length);
    if (text !== "") segments.push({ speaker_key: speaker, start, end, text });
  }
  if (segments.length === 0) throw new SubtitleFault("No line of this file says what was said when.");
  if (segments.length > mostSegments)
    throw new SubtitleFault(
      `This transcript has ${segments.length} lines; at most ${mostSegments} are taken.`,
    );
  return segments.sort((a, b) => a.start - b.start);
}

/** The people a transcript names, as participants of its recording. */
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
