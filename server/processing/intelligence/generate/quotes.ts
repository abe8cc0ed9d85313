import type { Line } from "./lines.ts";

/** How many lines a quote may span, because pauses cut a sentence into several segments. */
const maxLines = 4;

/** Shorter quotes occur in every meeting and prove nothing; Chinese characters and the like carry more each. */
const minLetters = 8;
const minSigns = 4;

/**
 * Words with the signs that change what a number or a name says: $5 is not 5, 1.5 and .5 not 5, 10:30 not 30, 1/2 not 2, -5
 * and <5 not 5, and C++ not C.
 */
const word =
  /(?:[\p{L}\p{M}\p{N}\p{Sc}%‰+<>≤≥≠±]|(?<=\p{N})[.:/^](?=\p{N})|(?<![\p{L}\p{M}\p{N}.])\.(?=\p{N})|(?<![\p{L}\p{M}\p{N}])−(?=\p{Sc}?\.?\p{N}))+/gu;

/** Digits above or below the line, which would otherwise become a part of the number before: 10⁵ is not 105. */
const raised = /(?<=\p{N})[⁰¹²³⁴-⁹⁺⁻]+/gu;

/**
 * The form in which quotes are compared, here and in the proofs of Ask: case, white space and punctuation are ignored, and
 * `word` says what counts.
 */
export function wordsOnly(text: string): string {
  const oneLine = text
    .replace(raised, "^$&")
    // 1½ is not 11/2.
    .replace(/(?<=\p{N})(?=[¼-¾⅐-⅞])/gu, " ")
    .normalize("NFKC")
    .toLowerCase()
    .replace(/\s+/g, " ");
  const joined = oneLine
    .replaceAll("⁄", "/")
    // Hyphens and dashes that stand for a minus.
    .replace(/[-‐‒–](?=\p{Sc}?\.?\p{N})/gu, "−")
    .replace(/(?<=\p{N})[,٫٬](?=\p{N})/gu, ".")
    // Signs that compare nothing.
    .replace(/[<>≤≥≠±](?! ?[\p{Sc}−.]{0,2}\p{N})/gu, " ")
    .replace(/(?<=[<>≤≥≠±]) (?=[\p{Sc}−.]{0,2}\p{N})/gu, "")
    // "1 500" and "1'500" are "1,500": nobody said 500.
    .replace(/(?<![\p{N}.:/^]|\p{N} )\p{N}{1,3}(?:[ '’]\p{N}{3})+(?![\p{N}])/gu, (found) =>
      found.replace(/[ '’]/g, "."),
    )
    // "1 1/2" is one number.
    .replace(/(?<=\p{N}) (?=\p{N}{1,2}\/\p{N})/gu, "+")
    // "5 %" is "5%", "5 €" is "5€" and "€ 5" is "€5".
    .replace(/(?<=\p{N}) (?=[%‰]|\p{Sc}(?!\p{N}))/gu, "")
    .replace(/(?<!\p{N} ?)(\p{Sc}) (?=\p{N})/gu, "$1");
  return [...joined.matchAll(word)].map(([found]) => found).join(" ");
}

/**
 * Finds whole words in a text, both in the form of `wordsOnly`. A space has to stand before and after the text.
 * @returns the offset of their first character at or after `from`; -1: nowhere.
 */
export function locate(text: string, words: string, from = 0): number {
  if (!isUnspaced(words)) {
    const at = text.indexOf(` ${words} `, from);
    return at < 0 ? -1 : at + 1;
  }
  let at = text.indexOf(words, from);
  while (at >= 0 && cutsNumber(text, at, words.length)) at = text.indexOf(words, at + 1);
  return at;
}

/** Two characters of one number, with its signs; Chinese and Japanese also write numbers as words: 五百万 is not 百万. */
const inNumber = /[\p{N}\p{Sc}%‰+−.:/^<>≤≥≠±零一二三四五六七八九十百千万萬億亿兆点點]{2}/u;

/** Whether a part of a text starts or ends within a number. */
function cutsNumber(text: string, at: number, length: number): boolean {
  const cuts = (place: number): boolean => inNumber.test(text.slice(place - 1, place + 1));
  return cuts(at) || cuts(at + length);
}

/** Where a quote stands. */
export interface Passage {
  /** The lines that it has words of. */
  readonly quoted: readonly Line[];
  /** These, the line before and the line after. */
  readonly near: readonly Line[];
}

/** Finds quotes in a transcript. */
export interface QuoteIndex {
  /**
   * Finds the line in which a quote starts. Models miscount lines, so it searches near the given line first and then
   * everywhere.
   * @returns null when the transcript does not contain the quote.
   */
  find(quote: string, number: number): Line | null;
  /** What was said from a line on, as far as a quote that starts in it can go. */
  after(line: Line): string;
  /** The lines of a quote that starts in a line. */
  passage(line: Line, quote: string): Passage;
  /** Finds the first line from line `number` on in which the quote starts. */
  findFrom(quote: string, number: number): Line | null;
}

export function indexQuotes(lines: readonly Line[]): QuoteIndex {
  const words = lines.map((line) => wordsOnly(line.text));
  // A long line may stand in pieces of the same number; the first one counts.
  const placeOf = new Map(lines.map((line, place) => [line.number, place] as const).toReversed());
  // The whole text and the offset at which each line starts, for the search everywhere.
  const starts: number[] = [];
  let all = "";
  for (const text of words) {
    starts.push(all.length);
    if (text !== "") all += ` ${text}`;
  }
  all += " ";

  /** Whether a quote starts in a line; it may continue in the next ones. */
  function beginsIn(place: number, quote: string): boolean {
    const first = words[place];
    if (first === undefined || first === "") return false;
    const from = starts[place] ?? 0;
    // No more than where the quote can begin and how far it can go.
    const end = Math.min(starts[place + maxLines] ?? all.length, from + first.length + quote.length + 2) + 1;
    const at = locate(all.slice(from, end), quote);
    return at >= 0 && at <= first.length;
  }

  /** The line in which a quote starts, at or after an offset. */
  function findAfter(offset: number, wanted: string): Line | null {
    const at = locate(all, wanted, offset);
    if (at < 0) return null;
    // The last line that starts at or before the offset.
    let [low, high] = [0, starts.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] as number) <= at) low = middle;
      else high = middle - 1;
    }
    return beginsIn(low, wanted) ? (lines[low] ?? null) : null;
  }

  return {
    passage(line, quote) {
      const place = lines.indexOf(line);
      const wanted = wordsOnly(quote);
      let end = place + 1;
      let text = ` ${words[place] ?? ""} `;
      for (; end < place + maxLines && locate(text, wanted) < 0; end += 1) text += `${words[end] ?? ""} `;
      return { quoted: lines.slice(place, end), near: lines.slice(Math.max(0, place - 1), end + 1) };
    },
    after(line) {
      const place = lines.indexOf(line);
      return lines
        .slice(place, place + maxLines)
        .map(({ text }) => text)
        .join(" ");
    },
    find(quote, number) {
      const wanted = wordsOnly(quote);
      if (!hasEnoughWords(wanted)) return null;
      const named = placeOf.get(Math.round(number));
      if (named !== undefined) {
        for (const offset of [0, -1, 1, -2, 2, -3, 3])
          if (beginsIn(named + offset, wanted)) return lines[named + offset] ?? null;
      }
      return findAfter(0, wanted);
    },
    findFrom(quote, number) {
      const wanted = wordsOnly(quote);
      const place = placeOf.get(number);
      return hasEnoughWords(wanted) && place !== undefined ? findAfter(starts[place] ?? 0, wanted) : null;
    },
  };
}

/** Whether words are enough to prove something. @param words in the form of `wordsOnly`. */
export function hasEnoughWords(words: string): boolean {
  const letters = words.replace(/[^\p{L}\p{M}\p{N}]/gu, "");
  return letters.length >= (isUnspaced(words) ? minSigns : minLetters);
}

/** Whether a text has no spaces between words, so that a quote may start and end anywhere. */
export function isUnspaced(words: string): boolean {
  return /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u.test(
    words,
  );
}
