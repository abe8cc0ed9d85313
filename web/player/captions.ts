import type { Segment, Word } from "../api/recording/recording.ts";
import { segmentSpeakerKey } from "../common/speakers.ts";
import { estimateWords, type SegmentWords } from "../common/words.ts";

/** Two caption lines; longer texts are split. */
const maxCueCharacters = 84;

/** Slightly above the lower edge. */
const cueSettings = "line:90%,end";

/** A pause this long begins another cue. */
const pauseMs = 700;

/**
 * Converts a transcript to WebVTT captions, by phrase where the times of words are known. Source: W3C WebVTT, section 4.
 */
export function captionsOf(segments: readonly Segment[], words: SegmentWords): string {
  const cues = ["WEBVTT\n"];
  let before: string | null = null;
  for (const [index, segment] of segments.entries()) {
    const speaker = segmentSpeakerKey(segment);
    for (const [i, { text, start, end }] of phrasesOf(segment, words?.[index] ?? []).entries()) {
      const name = i === 0 && speaker !== before ? `${escapeText(segment.speaker)}: ` : "";
      cues.push(
        `${stamp(start)} --> ${stamp(Math.max(end, start + 1))} ${cueSettings}\n${name}${escapeText(text)}\n`,
      );
    }
    before = speaker;
  }
  return cues.join("\n");
}

interface Phrase {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** Cuts a segment at pauses and before it has more than two lines. */
function phrasesOf(segment: Segment, words: readonly Word[]): Phrase[] {
  const phrases: { text: string; start: number; end: number }[] = [];
  for (const { from, to, start, end } of estimateWords(segment, words)) {
    const phrase = phrases.at(-1);
    const word = segment.text.slice(from, to);
    const isSame =
      phrase !== undefined &&
      phrase.text.length + word.length < maxCueCharacters &&
      start - phrase.end < pauseMs;
    if (!isSame) phrases.push({ text: word, start, end });
    else {
      phrase.text += ` ${word}`;
      phrase.end = Math.max(phrase.end, end);
    }
  }
  return phrases;
}

function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function stamp(ms: number): string {
  const whole = Math.round(ms);
  const part = (value: number, digits = 2): string => String(value).padStart(digits, "0");
  return `${part(Math.floor(whole / 3_600_000))}:${part(Math.floor(whole / 60_000) % 60)}:${part(Math.floor(whole / 1000) % 60)}.${part(whole % 1000, 3)}`;
}
