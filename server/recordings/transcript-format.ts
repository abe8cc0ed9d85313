import type { TranscriptFormat } from "../../contract/transcripts.ts";
import type { SegmentRow } from "./queries.ts";

/** Renders a transcript as text in one of the contract's formats. */
export function formatTranscript(format: TranscriptFormat, segments: readonly SegmentRow[]): string {
  return writers[format](segments);
}

const writers: Readonly<Record<TranscriptFormat, (segments: readonly SegmentRow[]) => string>> = {
  txt,
  vtt,
  srt,
};

/** Contract: "one line per section, speaker name, colon, text". */
function txt(segments: readonly SegmentRow[]): string {
  return segments.map((segment) => `${oneLine(segment.speaker)}: ${oneLine(segment.text)}\n`).join("");
}

/** WebVTT (W3C): cue text is markup, so `&`, `<` and `>` are escaped; a blank line would end the cue. */
function vtt(segments: readonly SegmentRow[]): string {
  const cues = segments.map(
    (segment, index) =>
      `${index + 1}\n${clock(segment.start, ".")} --> ${clock(cueEnd(segment), ".")}\n` +
      `<v ${escapeMarkup(oneLine(segment.speaker))}>${escapeMarkup(oneLine(segment.text))}</v>\n`,
  );
  return ["WEBVTT\n", ...cues].join("\n");
}

/** SubRip has no escapes; its text is taken as it is. */
function srt(segments: readonly SegmentRow[]): string {
  return segments
    .map(
      (segment, index) =>
        `${index + 1}\n${clock(segment.start, ",")} --> ${clock(cueEnd(segment), ",")}\n` +
        `${oneLine(segment.speaker)}: ${oneLine(segment.text)}\n`,
    )
    .join("\n");
}

/** WebVTT demands that a cue ends after it starts. */
function cueEnd(segment: SegmentRow): number {
  return Math.max(segment.end, segment.start + 1);
}

function oneLine(text: string): string {
  return text.replace(/\s*[\n\r\u2028\u2029\u0085]+\s*/g, " ").trim();
}

function escapeMarkup(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Milliseconds as HH:MM:SS and thousandths. */
function clock(ms: number, separator: "." | ","): string {
  const pad = (value: number, width: number): string => String(Math.floor(value)).padStart(width, "0");
  return `${pad(ms / 3_600_000, 2)}:${pad((ms / 60_000) % 60, 2)}:${pad((ms / 1000) % 60, 2)}${separator}${pad(ms % 1000, 3)}`;
}
