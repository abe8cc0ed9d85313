import type { Segment } from "../api/recording.ts";
import { segmentSpeakerKey } from "../common/speakers.ts";

/** Two caption lines; longer texts are split. */
const maxCueCharacters = 84;

/** Slightly above the lower edge. */
const cueSettings = "line:90%,end";

/** Converts a transcript to WebVTT captions. Source: W3C WebVTT, section 4. */
export function captionsOf(segments: readonly Segment[]): string {
  const cues = ["WEBVTT\n"];
  let before: string | null = null;
  for (const segment of segments) {
    const speaker = segmentSpeakerKey(segment);
    const pieces = splitText(segment.text);
    const length = Math.max(1, segment.end - segment.start);
    let letters = 0;
    const all = pieces.reduce((sum, piece) => sum + piece.length, 0);
    for (const [i, piece] of pieces.entries()) {
      const start = segment.start + (length * letters) / all;
      letters += piece.length;
      const end = segment.start + (length * letters) / all;
      const name = i === 0 && speaker !== before ? `${escapeText(segment.speaker)}: ` : "";
      cues.push(`${stamp(start)} --> ${stamp(end)} ${cueSettings}\n${name}${escapeText(piece)}\n`);
    }
    before = speaker;
  }
  return cues.join("\n");
}

function splitText(text: string): string[] {
  const pieces: string[] = [];
  let piece = "";
  for (const word of text.trim().split(/\s+/)) {
    if (piece !== "" && piece.length + word.length >= maxCueCharacters) {
      pieces.push(piece);
      piece = "";
    }
    piece = piece === "" ? word : `${piece} ${word}`;
  }
  return piece === "" ? pieces : [...pieces, piece];
}

function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function stamp(ms: number): string {
  const whole = Math.round(ms);
  const part = (value: number, digits = 2): string => String(value).padStart(digits, "0");
  return `${part(Math.floor(whole / 3_600_000))}:${part(Math.floor(whole / 60_000) % 60)}:${part(Math.floor(whole / 1000) % 60)}.${part(whole % 1000, 3)}`;
}
