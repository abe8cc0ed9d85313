import type { PassageLine } from "../../recordings/search/passages.ts";
import { hasEnoughWords, locate, wordsOnly } from "../intelligence/generate/quotes.ts";

/** Where a passage has the words of a quote. */
export interface Proof {
  readonly start: number;
  readonly end: number;
}

/**
 * Finds a quote in a passage, in the form of `wordsOnly`.
 * @returns the time of the lines that hold it; null when the passage does not have these words in this order.
 */
export function findProof(lines: readonly PassageLine[], quote: string): Proof | null {
  const wanted = wordsOnly(quote);
  if (!hasEnoughWords(wanted)) return null;
  let all = " ";
  const starts = lines.map((line) => {
    const start = all.length;
    const words = wordsOnly(line.text);
    if (words !== "") all += `${words} `;
    return start;
  });
  const from = locate(all, wanted);
  if (from < 0) return null;
  const lineAt = (offset: number) => lines[starts.findLastIndex((start) => start <= offset)];
  const [first, last] = [lineAt(from), lineAt(from + wanted.length - 1)];
  return first === undefined || last === undefined
    ? null
    : { start: first.start, end: Math.max(first.end, last.end) };
}
