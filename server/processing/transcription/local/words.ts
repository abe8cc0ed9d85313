import type { SpokenWord } from "../transcriber.ts";
import type { RecognizerResult } from "./sherpa.ts";

/** A token has no duration in some models; it ends then at the next one's start, but after this at the latest. */
const maxTokenSec = 1;

/** No letter and no digit. */
const punctuation = /^[^\p{L}\p{N}]+$/u;

interface Draft {
  text: string;
  start: number;
  end: number;
}

/**
 * Joins the tokens of a piece of audio into words. A leading space starts a word. A word begins with its first token and
 * ends with its last one; punctuation alone does not lengthen it. Starts never decrease, and no word reaches into the next.
 * @param offsetMs where the piece begins.
 * @param lengthMs of the piece; no time is beyond it.
 * @returns null when the times do not belong to the text.
 */
export function readWords(result: RecognizerResult, offsetMs: number, lengthMs: number): SpokenWord[] | null {
  const { tokens, timestamps } = result;
  const text = tokens.join("").trim();
  if (timestamps.length !== tokens.length || plain(text) !== plain(result.text)) return null;
  const words: Draft[] = [];
  for (const [index, token] of tokens.entries()) addToken(words, token, timesOf(result, index));
  const toMs = (seconds: number): number =>
    offsetMs + Math.round(Math.min(Math.max(seconds * 1000, 0), lengthMs));
  let before = offsetMs;
  const placed = words
    .filter(({ text: word }) => word.trim() !== "")
    .map((word): SpokenWord => {
      const startMs = Math.max(before, toMs(word.start));
      before = startMs;
      return { startMs, endMs: Math.max(startMs, toMs(word.end)), text: word.text.trim() };
    });
  return placed.map((word, index) => {
    const next = placed[index + 1];
    return next === undefined ? word : { ...word, endMs: Math.min(word.endMs, next.startMs) };
  });
}

function addToken(words: Draft[], token: string, { start, end }: { start: number; end: number }): void {
  const word = words.at(-1);
  const isPunctuation = punctuation.test(token);
  if (word === undefined || (/^\s/.test(token) && !isPunctuation)) words.push({ text: token, start, end });
  else {
    word.text += isPunctuation ? token.trim() : token;
    if (!isPunctuation) word.end = Math.max(word.end, end);
  }
}

function timesOf(result: RecognizerResult, index: number): { start: number; end: number } {
  const start = result.timestamps[index] ?? 0;
  const duration = result.durations?.[index];
  if (duration !== undefined) return { start, end: start + duration };
  const next = result.timestamps[index + 1] ?? start + maxTokenSec;
  return { start, end: Math.max(start, Math.min(next, start + maxTokenSec)) };
}

/** Some models write the spaces between tokens differently than in their text. */
function plain(text: string): string {
  return text.replace(/\s+/g, "");
}
