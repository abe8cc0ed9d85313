import type { Chapter } from "../../../../contract/recordings/chapters.ts";
import { maxChapterTitle, minChapterGapMs } from "../../../../shared/chapters.ts";
import type { Line } from "./lines.ts";
import { findProof } from "./proofs.ts";
import { indexQuotes } from "./quotes.ts";
import { type Said, safeLine } from "./sanitize.ts";
import type { AnsweredChapter } from "./schemas.ts";

/** A chapter that a model named, with the place of the words that prove it. */
export interface FoundChapter extends Chapter {
  /** Start of the line in which the quote begins. */
  readonly quoteMs: number;
}

/** Most chapters of one response that are looked up; one with more repeats itself. */
const maxLookedUp = 1000;

/**
 * Looks up in a part of a transcript where its chapters start, and where their quotes are. Only words from the start of the
 * chapter on prove it.
 * @returns the chapters found, and how many had no proof.
 */
export function findChapters(
  answered: readonly AnsweredChapter[],
  part: readonly Line[],
  context: { readonly said: Said; readonly durationMs: number },
): { found: FoundChapter[]; unproven: number } {
  const spoken = indexQuotes(part);
  const found: FoundChapter[] = [];
  const seen = new Set<string>();
  let unproven = 0;
  for (const { title, line, quote } of answered.slice(0, maxLookedUp)) {
    const key = JSON.stringify([title, line, quote]);
    if (seen.has(key)) continue;
    seen.add(key);
    const start = part.find(({ number }) => number === Math.round(line))?.startMs;
    const proof = findProof(spoken, { quote, line }, context.said, "cited line");
    const words = safeLine(title, context.said, maxChapterTitle);
    if (start === undefined || start >= context.durationMs || proof === null || words === "") unproven += 1;
    else found.push({ title: words, start, quote: proof.quote, quoteMs: proof.start });
  }
  return { found, unproven };
}

/**
 * The chapters of a recording from those of its parts: in order, each with its quote before the next one starts, and far
 * enough apart. Parts overlap, so the same chapter may be found twice.
 */
export function arrangeChapters(found: readonly FoundChapter[]): { chapters: Chapter[]; unproven: number } {
  const proven: FoundChapter[] = [];
  let unproven = 0;
  for (const chapter of found.toSorted((a, b) => b.start - a.start)) {
    const next = proven.at(-1);
    if (next?.start === chapter.start) continue;
    if (next === undefined || chapter.quoteMs < next.start) proven.push(chapter);
    else unproven += 1;
  }
  const chapters: Chapter[] = [];
  for (const { title, start, quote } of proven.toReversed()) {
    const previous = chapters.at(-1);
    if (previous === undefined || start >= previous.start + minChapterGapMs)
      chapters.push({ title, start, quote });
  }
  return { chapters, unproven };
}
