import type { Line } from "./lines.ts";
import { type QuoteIndex, wordsOnly } from "./quotes.ts";
import { type Said, safeLine } from "./sanitize.ts";
import type { Cited } from "./schemas.ts";

/** Words of the transcript that prove what a model wrote. */
export interface Proof {
  readonly quote: string;
  /** Start of the line in which they begin, in milliseconds. */
  readonly start: number;
}

/** Longer quotes are cut where they are shown; in characters. */
const maxQuote = 500;

/**
 * Finds the words that a model quotes: the only way in which an action item, a chapter, a point or a note is proven.
 * @param from whether the quote must begin in the cited line or after it, instead of anywhere.
 * @returns also the line; null when the transcript does not have them.
 */
export function findProof(
  spoken: QuoteIndex,
  cited: { readonly quote: string; readonly line: number },
  said: Said,
  from: "anywhere" | "cited line" = "anywhere",
): (Proof & { readonly line: Line }) | null {
  const number = Math.round(cited.line);
  const line = from === "anywhere" ? spoken.find(cited.quote, number) : spoken.findFrom(cited.quote, number);
  return line === null ? null : { quote: safeLine(cited.quote, said, maxQuote), start: line.startMs, line };
}

/** Finds the proof of what a model wrote about the data of a request. */
export type Prove = (cited: Cited) => Proof | null;

export function proveFromTranscript(spoken: QuoteIndex, said: Said): Prove {
  return (cited) => {
    const found = "quote" in cited ? findProof(spoken, cited, said) : null;
    return found === null ? null : { quote: found.quote, start: found.start };
  };
}

/** What was said in a part of a long meeting, in the words of the model. */
export interface Note {
  readonly text: string;
  readonly proof: Proof;
}

/** @param notes those of the request, which are numbered from 1. */
export function proveFromNotes(notes: readonly Note[]): Prove {
  return (cited) => ("note" in cited ? (notes[cited.note - 1]?.proof ?? null) : null);
}

/** What is left of a list in a model's response. */
export interface Proven<T> {
  readonly kept: readonly (T & Proof)[];
  readonly unproven: number;
  /** How many proven ones were more than the limit. */
  readonly beyond: number;
}

/** Most entries of one list that are looked up; a response with more repeats itself. */
const maxLookedUp = 1000;

/**
 * Keeps the entries of a list that are proven, each once: models repeat themselves.
 * @param read the value of an entry; null: it is empty.
 */
export function keepProven<A extends Cited, T extends { readonly text: string }>(
  answered: readonly A[],
  limit: number,
  prove: Prove,
  read: (entry: A) => T | null,
): Proven<T> {
  const kept: (T & Proof)[] = [];
  const seen = new Set<string>();
  let unproven = 0;
  for (const entry of answered.slice(0, maxLookedUp)) {
    const value = read(entry);
    if (value === null) continue;
    const proof = prove(entry);
    if (proof === null) {
      unproven += 1;
      continue;
    }
    const key = `${proof.start} ${wordsOnly(value.text)}`;
    if (seen.has(key)) continue;
    seen.add(key);
    kept.push({ ...value, ...proof });
  }
  const beyond = Math.max(0, answered.length - maxLookedUp) + Math.max(0, kept.length - limit);
  return { kept: kept.slice(0, limit), unproven, beyond };
}
