import { apostrophes, emoji, fixedSpaces, wide } from "./characters.ts";
import { minCompound } from "./forms.ts";
import { findMatches, type Word } from "./match.ts";
import { selectorsOf, type Term } from "./terms.ts";

interface Mark {
  readonly start: number;
  readonly end: number;
}

/** The text around a hit. */
export interface Snippet {
  readonly text: string;
  readonly marks: readonly Mark[];
}

/** What is indexed as one: a word, also with apostrophes, a number, or a single character. */
interface Token extends Mark {
  readonly word: string;
}

// Also of full width.
const commas = ",.，．";
const digit = "[0-9０-９]";
const letter = "[\\p{L}\\p{N}\\p{M}\\p{Cf}]";
const joint = `[${apostrophes}]|(?<=[\\u05d0-\\u05ea])["״”](?=[\\u05d0-\\u05ea])|(?<=\\p{N})[${commas} ${fixedSpaces}](?=(?:${digit}{2}[${commas}])?${digit}{3}(?!${digit}))`;
const token = (run: string): string => `${run}(?:(?:${joint})${run})*`;
// Linear: one character.
const anySpecial = new RegExp(`[${wide}${emoji}]`, "u");
// Linear: runs of one class, with a character between them that is not in it.
const words = new RegExp(token(`${letter}+`), "gu");
/** Words, and what parley_search_clean splits into single characters. */
// Linear: as above, or one character with what modifies it.
const wordsAndCharacters = new RegExp(
  `[${emoji}][\\p{M}\\p{Cf}\\u{1f3fb}-\\u{1f3ff}]*|[${wide}]|${token(`(?:(?![${wide}${emoji}])${letter})+`)}`,
  "gu",
);

function tokensOf(text: string): Token[] {
  return [...text.matchAll(anySpecial.test(text) ? wordsAndCharacters : words)].map((match) => ({
    word: match[0],
    start: match.index,
    end: match.index + match[0].length,
  }));
}

// Linear: one character.
const separator = new RegExp(`[${apostrophes}"״”${commas} ${fixedSpaces}]`, "u");
// Linear: one character.
const separators = new RegExp(separator, "gu");

/**
 * Where the words of the index are that a token has become: the whole, and then its parts, or the parts alone. Behind the
 * first of three parts may come the other two together.
 */
function placesOf({ word, start, end }: Token, count: number): Mark[] {
  const whole = { start, end };
  if (count === 1) return [whole];
  const cuts = [...word.matchAll(separators)].map((match) => match.index);
  const parts = [-1, ...cuts].map((cut, n) => ({
    start: start + cut + 1,
    end: start + (cuts[n] ?? word.length),
  }));
  if (parts.length === count) return parts;
  if (parts.length === count - 1) return [whole, ...parts];
  const [first, second, third] = parts;
  if (count === 5 && parts.length === 3 && first && second && third)
    return [whole, first, { start: second.start, end: third.end }, second, third];
  return Array.from({ length: count }, () => whole);
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
  const hasParts = terms.some(({ parts }) => parts.length > 0);
  const mayMatch = (word: string): boolean => {
    // Of what is indexed as several words, and of compounds, any part may match.
    if (separator.test(word) || (hasParts && word.length >= minCompound)) return true;
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
  indexed: ReadonlyMap<string, readonly Word[]>,
): Snippet {
  const places = new Map<number, Word>();
  const marksAt: Mark[] = [];
  for (const token of tokensOf(text)) {
    const forms = indexed.get(token.word);
    for (const [n, mark] of placesOf(token, forms?.length ?? 1).entries()) {
      const form = forms?.[n];
      if (form !== undefined) places.set(marksAt.length, form);
      marksAt.push(mark);
    }
  }
  const marks = findMatches(places, terms, new Set()).flatMap(({ at, length }) => {
    const span = marksAt.slice(at, at + length);
    const [start, end] = [span.map((mark) => mark.start), span.map((mark) => mark.end)];
    return span.length === 0 ? [] : [{ start: Math.min(...start), end: Math.max(...end) }];
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
