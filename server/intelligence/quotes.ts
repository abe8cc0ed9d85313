import type { Line } from "./lines.ts";

/** Over how many lines a quote may go: what people say in one go is cut into several by pauses. */
const mostLines = 4;

/** A shorter one stands in every meeting and proves nothing; signs of Chinese and its like say more each. */
const leastLetters = 8;
const leastSigns = 4;

/** What decides whether two texts are the same words: letters and digits, whatever the case. */
export function wordsOnly(text: string): string {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, " ")
    .trim();
}

/** Where quotes are looked up. */
export interface Spoken {
  /**
   * Finds the line in which a quote begins. Models miscount, so the quote is looked for near the line they name first,
   * and then anywhere; the words must be there.
   * @returns null when nobody said that.
   */
  find(quote: string, number: number): Line | null;
}

export function indexQuotes(lines: readonly Line[]): Spoken {
  const words = lines.map((line) => wordsOnly(line.text));
  const placeOf = new Map(lines.map((line, place) => [line.number, place]));
  // All of it with the place at which each line begins, for the search anywhere.
  const starts: number[] = [];
  let all = "";
  for (const text of words) {
    starts.push(all.length);
    all += `${text} `;
  }

  /** Whether a quote begins in a line: it may go on in the next ones. */
  function beginsIn(place: number, quote: string): boolean {
    const first = words[place];
    if (first === undefined || first === "") return false;
    const text = ` ${words
      .slice(place, place + mostLines)
      .filter(Boolean)
      .join(" ")} `;
    const at = text.indexOf(isUnspaced(quote) ? quote : ` ${quote} `);
    return at >= 0 && at <= first.length;
  }

  return {
    find(quote, number) {
      const wanted = wordsOnly(quote);
      if (!isTelling(wanted)) return null;
      const named = placeOf.get(Math.round(number));
      if (named !== undefined) {
        for (const offset of [0, -1, 1, -2, 2, -3, 3])
          if (beginsIn(named + offset, wanted)) return lines[named + offset] ?? null;
      }
      const at = isUnspaced(wanted) ? all.indexOf(wanted) : ` ${all}`.indexOf(` ${wanted} `);
      if (at < 0) return null;
      // The last line that begins at or before the place.
      let [low, high] = [0, starts.length - 1];
      while (low < high) {
        const middle = Math.ceil((low + high) / 2);
        if ((starts[middle] as number) <= at) low = middle;
        else high = middle - 1;
      }
      return beginsIn(low, wanted) ? (lines[low] ?? null) : null;
    },
  };
}

function isTelling(words: string): boolean {
  const letters = words.replaceAll(" ", "");
  return letters.length >= (isUnspaced(words) ? leastSigns : leastLetters);
}

/** Written without spaces between words, so that a quote may begin and end anywhere. */
function isUnspaced(words: string): boolean {
  return /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u.test(
    words,
  );
}
