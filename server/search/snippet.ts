import { findMatches, type Word } from "./match.ts";
import { selectorsOf, type Term } from "./terms.ts";
import type { IndexedWord } from "./texts.ts";

interface Mark {
  readonly start: number;
  readonly end: number;
}

/** The text around a hit. */
export interface Snippet {
  readonly text: string;
  readonly marks: readonly Mark[];
}

interface Token extends Mark {
  readonly word: string;
}

const wide =
  "\\u0e00-\\u0eff\\u1000-\\u109f\\u1780-\\u17ff\\u3005-\\u3007\\u3040-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\u{20000}-\\u{3134f}";
// Linear: one character.
const anyWide = new RegExp(`[${wide}]`, "u");
const words = /[\p{L}\p{N}\p{M}]+/gu;
/** Words, and single characters of scripts without spaces, as parley_search_clean splits them. */
// Linear: characters of one class, singly or in one run.
const wordsAndCharacters = new RegExp(`[${wide}]|(?:(?![${wide}])[\\p{L}\\p{N}\\p{M}])+`, "gu");

function tokensOf(text: string): Token[] {
  return [...text.matchAll(anyWide.test(text) ? wordsAndCharacters : words)].map((match) => ({
    word: match[0],
    start: match.index,
    end: match.index + match[0].length,
  }));
}

/**
 * The distinct words of texts that may match a term. They begin with a whole word of a phrase or prefix, or have the first
 * letter of a word whose forms match too. Words with other letters than a to z may be spelled differently in the index, and
 * are compared by their first letter, or not at all.
 */
export function wordsToIndex(texts: readonly string[], terms: readonly Term[]): string[] {
  const initialsOf = (of: readonly Term[]) => new Set(of.flatMap((term) => term.words.map(initial)));
  const exact = selectorsOf(terms.filter(({ stems }) => stems.length === 0));
  const beginnings = [...exact.words, ...exact.beginnings];
  const ofInflected = initialsOf(terms.filter(({ stems }) => stems.length > 0));
  const all = initialsOf(terms);
  const mayMatch = (word: string): boolean => {
    const first = initial(word);
    const lower = word.toLowerCase();
    if (/^[a-z]+$/.test(lower))
      return ofInflected.has(first) || beginnings.some((beginning) => lower.startsWith(beginning));
    return all.has(first) || !/^[a-z0-9]$/.test(first);
  };
  return [...new Set(texts.flatMap((text) => tokensOf(text).map((token) => token.word)))].filter(mayMatch);
}

function initial(word: string): string {
  return ([...word.normalize("NFKD")][0] ?? "").toLowerCase();
}

/** Longer texts are shortened around the hit; in characters. */
const longest = 280;
const before = 80;

/**
 * Marks the hits in a text.
 * @param indexed the words of the text in the form of the index; missing words match no term.
 */
export function makeSnippet(
  text: string,
  terms: readonly Term[],
  indexed: ReadonlyMap<string, IndexedWord>,
): Snippet {
  const found = tokensOf(text);
  const places = new Map<number, Word>();
  const tokenAt: number[] = [];
  // One word of a text may be several words of the index.
  for (const [n, token] of found.entries()) {
    const known = indexed.get(token.word);
    for (const word of known?.words ?? [""]) {
      if (word !== "") places.set(tokenAt.length, { word, stems: known?.stems ?? [] });
      tokenAt.push(n);
    }
  }
  const marks = findMatches(places, terms, new Set()).flatMap(({ at, length }) => {
    const [first, last] = [found[tokenAt[at] ?? -1], found[tokenAt[at + length - 1] ?? -1]];
    return first && last ? [{ start: first.start, end: last.end }] : [];
  });
  return shorten(text, joinMarks(marks));
}

/** Sorts marks and removes overlaps. */
function joinMarks(marks: readonly Mark[]): Mark[] {
  const joined: Mark[] = [];
  for (const mark of marks.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = joined.at(-1);
    if (last !== undefined && mark.start < last.end)
      joined[joined.length - 1] = { start: last.start, end: Math.max(last.end, mark.end) };
    else joined.push(mark);
  }
  return joined;
}

function shorten(text: string, marks: readonly Mark[]): Snippet {
  if (text.length <= longest) return { text, marks };
  const first = marks[0]?.start ?? 0;
  const start = first <= before ? 0 : wordStart(text, first - before, first);
  const end = start + longest >= text.length ? text.length : wordEnd(text, start + longest);
  const head = start > 0 ? "…" : "";
  const shift = head.length - start;
  return {
    text: head + text.slice(start, end) + (end < text.length ? "…" : ""),
    marks: marks
      .filter((mark) => mark.start < end)
      .map((mark) => ({ start: mark.start + shift, end: Math.min(mark.end, end) + shift })),
  };
}

/** The next beginning of a word, so that none is cut; where there is none, not within a character. */
function wordStart(text: string, from: number, latest: number): number {
  const space = text.indexOf(" ", from);
  if (space >= 0 && space < latest) return space + 1;
  return isInsideCharacter(text, from) ? from + 1 : from;
}

function wordEnd(text: string, to: number): number {
  const space = text.lastIndexOf(" ", to);
  if (space > to - 40) return space;
  return isInsideCharacter(text, to) ? to - 1 : to;
}

function isInsideCharacter(text: string, at: number): boolean {
  return /[\udc00-\udfff]/.test(text[at] ?? "");
}
