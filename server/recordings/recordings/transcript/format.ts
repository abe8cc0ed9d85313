import type { TranscriptFormat } from "../../../../contract/transcripts/transcripts.ts";
import type { SegmentRow } from "../queries.ts";
import { slicesOf, toBytes } from "./text-slices.ts";

/** Renders a transcript in one of the contract's text formats, yielding to other requests in between. */
export function formatTranscript(format: TranscriptFormat, segments: readonly SegmentRow[]): Promise<Buffer> {
  return toBytes(writers[format](segments));
}

/** Generates each format in chunks. */
export const writers: Readonly<
  Record<TranscriptFormat, (segments: readonly SegmentRow[]) => Generator<string>>
> = { txt, vtt, srt };

/** Contract: "one line per section, speaker name, colon, text". */
function* txt(segments: readonly SegmentRow[]): Generator<string> {
  for (const { speaker, text } of segments) {
    yield* oneLine(speaker);
    yield ": ";
    yield* oneLine(text);
    yield "\n";
  }
}

/** WebVTT (W3C): cue text is markup, so `&`, `<` and `>` are escaped; a blank line would end the cue. */
function* vtt(segments: readonly SegmentRow[]): Generator<string> {
  yield "WEBVTT\n";
  for (const [index, segment] of segments.entries()) {
    yield* cueHead(segment, index);
    for (const slice of oneLine(segment.text)) yield escapeMarkup(slice);
    yield "</v>\n";
  }
}

/** What stands before the text of a WebVTT cue. */
export function* cueHead(
  segment: Omit<SegmentRow, "participant_id" | "text">,
  index: number,
): Generator<string> {
  yield `\n${index + 1}\n${clock(segment.start, ".")} --> ${clock(cueEnd(segment), ".")}\n<v `;
  for (const slice of oneLine(segment.speaker)) yield escapeMarkup(slice);
  yield ">";
}

/** Chapters as a WebVTT file for `<track kind="chapters">`; each lasts until the next one starts. */
export function formatChapters(
  chapters: readonly { readonly title: string; readonly start: number }[],
  durationMs: number,
): string {
  const cues = chapters.map(({ title, start }, index) => {
    const end = cueEnd({ start, end: chapters[index + 1]?.start ?? durationMs });
    return `\n${index + 1}\n${clock(start, ".")} --> ${clock(end, ".")}\n${escapeMarkup([...oneLine(title)].join(""))}\n`;
  });
  return ["WEBVTT\n", ...cues].join("");
}

/** SubRip has no escapes, so text is written unchanged. */
function* srt(segments: readonly SegmentRow[]): Generator<string> {
  for (const [index, segment] of segments.entries()) {
    yield `${index === 0 ? "" : "\n"}${index + 1}\n${clock(segment.start, ",")} --> ${clock(cueEnd(segment), ",")}\n`;
    yield* oneLine(segment.speaker);
    yield ": ";
    yield* oneLine(segment.text);
    yield "\n";
  }
}

/** WebVTT requires a cue to end after it starts. */
function cueEnd(segment: { readonly start: number; readonly end: number }): number {
  return Math.max(segment.end, segment.start + 1);
}

const lineBreak = /[\n\r\u2028\u2029\u0085]/;

/** The text on one line, in slices: whitespace that contains a line break becomes one space. */
function* oneLine(text: string): Generator<string> {
  let isFirst = true;
  const trimmed = text.trim();
  let left = trimmed.length;
  for (const slice of slicesOf(trimmed)) {
    left -= slice.length;
    let line = lineBreak.test(slice)
      ? slice.replace(/[\s\u0085]+/g, (space) => (lineBreak.test(space) ? " " : space))
      : slice;
    if (isFirst) line = line.trimStart();
    if (left === 0) line = line.trimEnd();
    isFirst = false;
    yield line;
  }
}

export function escapeMarkup(text: string): string {
  const escaped = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  // Not markup in WebVTT, but read as such in files that were SubRip.
  return escaped.replaceAll("{\\", "&#123;\\");
}

/** Milliseconds as HH:MM:SS and thousandths. */
export function clock(ms: number, separator: "." | ","): string {
  const pad = (value: number, width: number): string => String(Math.floor(value)).padStart(width, "0");
  return `${pad(ms / 3_600_000, 2)}:${pad((ms / 60_000) % 60, 2)}:${pad((ms / 1000) % 60, 2)}${separator}${pad(ms % 1000, 3)}`;
}
