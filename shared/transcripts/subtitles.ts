import { decodeText } from "../files/text-encoding.ts";
import { fillSentence } from "../fill-sentence.ts";
import { transcriptSentences } from "./sentences.ts";
import { isAss, readAss } from "./subtitles/ass.ts";
import { readBlocks } from "./subtitles/blocks.ts";
import type { Cue } from "./subtitles/cue.ts";
import { describeUnread, Report, type Unread } from "./subtitles/report.ts";
import { type Segment, segmentsOf } from "./subtitles/segments.ts";
import { isTtml, readTtml } from "./subtitles/ttml.ts";
import { maxSegmentCharacters, maxSegments, maxTranscriptCharacters } from "./transcript-limits.ts";
import { isUnnamedSpeaker } from "./unnamed-speaker.ts";

export { describeUnread, type Unread } from "./subtitles/report.ts";
export type { Segment } from "./subtitles/segments.ts";

/** Why a transcript file is invalid, as a message for the user. */
export class TranscriptFileError extends Error {}

/** What was read of a transcript, and what could not be. */
export interface TranscriptReading {
  readonly segments: Segment[];
  readonly unread: Unread;
}

/**
 * Reads WebVTT, SubRip, `.sbv`, TTML (`.dfxp`) or SubStation Alpha (`.ass`, `.ssa`), whichever the content is.
 * @throws TranscriptFileError if nothing can be read.
 */
export function parseSubtitles(file: string | Uint8Array): Segment[] {
  return runAtOnce(readSubtitles(typeof file === "string" ? file : decodeText(file).text)).segments;
}

/**
 * Reads subtitles step by step, so that a caller can do other work in between. The speaker comes from a voice tag
 * `<v Name>`, a column of the format, or from `Name: ` at the start of a line, if the file shows that this is its way to
 * name speakers. Timestamps within a cue give the times of its words.
 * @throws TranscriptFileError if nothing can be read.
 */
export function* readSubtitles(file: string): Generator<null, TranscriptReading> {
  const text = file.startsWith("\uFEFF") ? file.slice(1) : file;
  const report = new Report();
  const cues: Cue[] = [];
  const read = isTtml(text) ? readTtml : isAss(text) ? readAss : readBlocks;
  for (const cue of read(text, report)) {
    if (cue !== null && cue.lines.length > 0) cues.push(cue);
    // Each cue has a segment, or is counted as unread.
    if (cues.length > 2 * maxSegments) break;
    yield null;
  }
  return finishReading(yield* segmentsOf(cues, report), report);
}

/** Checks what was read of a file. @throws TranscriptFileError if that is nothing, or more than a transcript may have. */
export function finishReading(segments: Segment[], unread: Unread): TranscriptReading {
  if (segments.length === 0)
    throw new TranscriptFileError(
      [transcriptSentences.transcript_no_subtitles, describeUnread(unread) ?? ""].join(" ").trim(),
    );
  return { segments: checkLimits(segments).sort((a, b) => a.start - b.start), unread };
}

/** Reads without pauses. */
export function runAtOnce<Result>(steps: Generator<null, Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/**
 * Applies the server's limits, with messages about the file.
 * @throws TranscriptFileError with the start of the line.
 */
export function checkLimits(segments: Segment[]): Segment[] {
  if (segments.length > maxSegments)
    throw new TranscriptFileError(
      fillSentence(transcriptSentences.transcript_lines, { count: segments.length, limit: maxSegments }),
    );
  let total = 0;
  for (const { text } of segments) {
    const length = text.length > maxSegmentCharacters ? text.replace(/\s+/g, " ").trim().length : text.length;
    if (length > maxSegmentCharacters)
      throw new TranscriptFileError(
        fillSentence(transcriptSentences.transcript_line_long, {
          count: length,
          limit: maxSegmentCharacters,
          text: text.trimStart().slice(0, 40),
        }),
      );
    total += length;
  }
  if (total > maxTranscriptCharacters)
    throw new TranscriptFileError(
      fillSentence(transcriptSentences.transcript_characters, {
        count: total,
        limit: maxTranscriptCharacters,
      }),
    );
  return segments;
}

/** The named speakers of a transcript, as participants. */
export function speakersOf(segments: readonly Segment[]): { name: string; speaker_key: string }[] {
  const keys = new Set(segments.map(({ speaker_key }) => speaker_key));
  return [...keys].filter((key) => !isUnnamedSpeaker(key)).map((key) => ({ name: key, speaker_key: key }));
}
