import { randomUUID } from "node:crypto";
import { indexNames, matchAssignee, type Participant } from "./assignees.ts";
import { dueDateIn } from "./due-date.ts";
import type { Line } from "./lines.ts";
import { findProof } from "./proofs.ts";
import { type QuoteIndex, wordsOnly } from "./quotes.ts";
import { type Said, safeLine } from "./sanitize.ts";
import type { AnsweredItem } from "./schemas.ts";

/** An action item as stored with the recording. */
export interface StoredItem {
  readonly id: string;
  readonly status: "pending" | "completed";
  /** When it was mentioned, in milliseconds: the start of a segment. */
  readonly timestamp: number;
  readonly text: string;
  /** The words of the transcript that prove it. */
  readonly quote: string;
  /** The date that the quote names, as YYYY-MM-DD. */
  readonly due_on?: string;
  /** A participant id; name and user are looked up when the item is read. */
  readonly assignee_id: string | null;
  /** Whether a user changed the text or the assignee; runs then leave both alone. */
  readonly is_edited?: boolean;
}

export const maxItems = 200;
/** Most items that are compared with each other; a response with more repeats itself. */
const maxAnswered = 1000;

/**
 * Keeps items whose quote is in the transcript; the others have no time. An assignee without proof is left out, the item is
 * not.
 * @param people as the model knows them by their keys; `everyone` are all participants.
 * @returns also how many items and assignees had no proof, and how many items were more than are kept.
 */
export function provenItems(
  answered: readonly AnsweredItem[],
  context: {
    readonly spoken: QuoteIndex;
    readonly said: Said;
    readonly participants: readonly Participant[];
    readonly everyone: readonly Participant[];
    readonly lines: readonly Line[];
    readonly meetingStart: Date;
  },
): { items: StoredItem[]; unproven: number; unprovenAssignees: number; beyond: number } {
  const isNamed = indexNames(context.everyone, context.lines);
  const items: StoredItem[] = [];
  let unprovenAssignees = 0;
  let unproven = 0;
  for (const item of answered.slice(0, maxAnswered)) {
    const proof = findProof(context.spoken, item, context.said);
    const text = safeLine(item.text, context.said);
    if (proof === null || text === "") {
      unproven += 1;
      continue;
    }
    const assignee = matchAssignee(item.assignee, context.participants);
    const isProven = assignee !== null && isNamed(assignee, context.spoken.passage(proof.line, item.quote));
    const due = dueDateIn(item.quote, context.meetingStart, context.spoken.after(proof.line));
    const found: StoredItem = {
      id: randomUUID(),
      status: "pending",
      timestamp: proof.start,
      text,
      quote: proof.quote,
      ...(due === null ? {} : { due_on: due }),
      assignee_id: isProven ? assignee : null,
    };
    // Chunks overlap, and models repeat themselves.
    if (items.some((other) => isRepeated(other, found))) continue;
    items.push(found);
    if (!isProven && namesSomeone(item.assignee)) unprovenAssignees += 1;
  }
  items.sort((a, b) => a.timestamp - b.timestamp);
  const beyond = Math.max(0, answered.length - maxAnswered) + Math.max(0, items.length - maxItems);
  return { items: items.slice(0, maxItems), unproven, unprovenAssignees, beyond };
}

/** Some models write a word for null. */
function namesSomeone(assignee: string | null): boolean {
  return assignee !== null && !["", "null", "none"].includes(wordsOnly(assignee));
}

/** Two runs may word the same item differently, but its quote is at the same time. */
const nearMs = 15_000;

/** What items are compared by. */
type Comparable = Pick<StoredItem, "text" | "quote" | "timestamp">;

/** An item in the form that is compared. */
interface Form {
  readonly text: string;
  readonly textWords: ReadonlySet<string>;
  readonly quote: string;
  readonly quoteWords: readonly string[];
  /** Of the first words of the quote, up to each, how many end as the quote begins. */
  readonly borders: readonly number[];
}

/** Each item is compared with hundreds of others, and brought into this form once. */
const forms = new WeakMap<Comparable, Form>();

function formOf(item: Comparable): Form {
  const known = forms.get(item);
  if (known !== undefined) return known;
  const [text, quote] = [wordsOnly(item.text), wordsOnly(item.quote)];
  const quoteWords = quote.split(" ");
  const form = {
    text,
    textWords: new Set(text.split(" ")),
    quote,
    quoteWords,
    borders: bordersOf(quoteWords),
  };
  forms.set(item, form);
  return form;
}

/** Whether two items are the same task: the same text, or a similar text at about the same time. */
export function isSameItem(a: Comparable, b: Comparable): boolean {
  const [formA, formB] = [formOf(a), formOf(b)];
  const isNear = Math.abs(a.timestamp - b.timestamp) <= nearMs;
  if (formA.text === formB.text) return isNear || formA.quote === formB.quote;
  if (!isNear) return false;
  const likeness = shared(formA.textWords, formB.textWords);
  return likeness >= 0.6 || (likeness >= 0.3 && formA.quote === formB.quote);
}

/**
 * Whether a response names an item twice: the same text, or a similar text with words of the same place. "Call Peter" and
 * "call Paul" are alike, one after the other, and two tasks.
 */
function isRepeated(a: Comparable, b: Comparable): boolean {
  if (!isSameItem(a, b)) return false;
  const [formA, formB] = [formOf(a), formOf(b)];
  return formA.text === formB.text || overlap(formA, formB);
}

/** Words that two quotes have to share at their ends. */
const minOverlap = 3;

/** Whether two quotes share words of one place: one has the other, or continues it. */
function overlap(a: Form, b: Form): boolean {
  if (` ${a.quote} `.includes(` ${b.quote} `) || ` ${b.quote} `.includes(` ${a.quote} `)) return true;
  return continuation(a, b) >= minOverlap || continuation(b, a) >= minOverlap;
}

/** How many words at the end of a quote are those with which another begins, in linear time (Knuth, Morris, Pratt). */
function continuation({ quoteWords }: Form, next: Form): number {
  return quoteWords.reduce((length, word) => advance(next.quoteWords, next.borders, length, word), 0);
}

function bordersOf(words: readonly string[]): number[] {
  const borders = [0];
  for (const word of words.slice(1)) borders.push(advance(words, borders, borders.at(-1) ?? 0, word));
  return borders;
}

/** How many first words of a quote stand at the end of a text with one word more. @param length how many did before it. */
function advance(words: readonly string[], borders: readonly number[], length: number, word: string): number {
  let matched = length;
  while (matched > 0 && words[matched] !== word) matched = borders[matched - 1] ?? 0;
  return words[matched] === word ? matched + 1 : 0;
}

/** The share of words that two texts have in common, from 0 to 1. */
function shared(wordsA: ReadonlySet<string>, wordsB: ReadonlySet<string>): number {
  let common = 0;
  for (const word of wordsA) if (wordsB.has(word)) common += 1;
  return common / (wordsA.size + wordsB.size - common);
}

function hasSameQuote(a: Comparable, b: Comparable): boolean {
  const { quote } = formOf(a);
  return quote !== "" && quote === formOf(b).quote;
}

/**
 * What a recording's items are after another run: those that stay the same keep id, status and what people wrote; what
 * people wrote stays also where the model does not find it any more.
 */
export function mergeItems(before: readonly StoredItem[], found: readonly StoredItem[]): StoredItem[] {
  const left = [...before];
  const known = new Map<StoredItem, StoredItem>();
  const isSame = [
    // Of similar tasks, one after the other, each is the one with its quote.
    (old: StoredItem, item: StoredItem) => hasSameQuote(old, item) && isSameItem(old, item),
    // The words people wrote say less about where an item came from than its quote.
    (old: StoredItem, item: StoredItem) =>
      (old.is_edited && hasSameQuote(old, item)) || isSameItem(old, item),
  ];
  for (const isOld of isSame)
    for (const item of found.filter((one) => !known.has(one))) {
      const at = left.findIndex((old) => isOld(old, item));
      const [old] = at < 0 ? [] : left.splice(at, 1);
      if (old !== undefined) known.set(item, old);
    }
  // The same items in another language have no words in common: one that is alone with its quote is the one of before.
  for (const item of found.filter((one) => !known.has(one))) {
    const quoted = left.filter((old) => hasSameQuote(old, item));
    const [old] = quoted;
    if (old === undefined || quoted.length > 1) continue;
    if (found.some((other) => other !== item && !known.has(other) && hasSameQuote(other, item))) continue;
    left.splice(left.indexOf(old), 1);
    known.set(item, old);
  }
  const merged = found.map((item) => {
    const old = known.get(item);
    if (old === undefined) return item;
    return old.is_edited
      ? { ...old, timestamp: item.timestamp }
      : { ...item, id: old.id, status: old.status };
  });
  return [...merged, ...left.filter((old) => old.is_edited)].toSorted((a, b) => a.timestamp - b.timestamp);
}
