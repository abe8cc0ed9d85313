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

/** Whether two items are the same task: the same text, or a similar text at about the same time. */
export function isSameItem(a: Pick<StoredItem, "text" | "quote" | "timestamp">, b: typeof a): boolean {
  const [textA, textB] = [wordsOnly(a.text), wordsOnly(b.text)];
  const isNear = Math.abs(a.timestamp - b.timestamp) <= nearMs;
  if (textA === textB) return isNear || wordsOnly(a.quote) === wordsOnly(b.quote);
  if (!isNear) return false;
  const likeness = shared(textA, textB);
  return likeness >= 0.6 || (likeness >= 0.3 && wordsOnly(a.quote) === wordsOnly(b.quote));
}

/**
 * Whether a response names an item twice: the same text, or a similar text with words of the same place. "Call Peter" and
 * "call Paul" are alike, one after the other, and two tasks.
 */
function isRepeated(a: Pick<StoredItem, "text" | "quote" | "timestamp">, b: typeof a): boolean {
  return isSameItem(a, b) && (wordsOnly(a.text) === wordsOnly(b.text) || overlap(a.quote, b.quote));
}

/** Words that two quotes have to share at their ends. */
const minOverlap = 3;

/** Whether two quotes share words of one place: one has the other, or continues it. */
function overlap(a: string, b: string): boolean {
  const [wordsA, wordsB] = [wordsOnly(a), wordsOnly(b)];
  if (` ${wordsA} `.includes(` ${wordsB} `) || ` ${wordsB} `.includes(` ${wordsA} `)) return true;
  const continues = (first: readonly string[], second: readonly string[]): boolean => {
    for (let count = Math.min(first.length, second.length); count >= minOverlap; count -= 1)
      if (first.slice(-count).join(" ") === second.slice(0, count).join(" ")) return true;
    return false;
  };
  const [listA, listB] = [wordsA.split(" "), wordsB.split(" ")];
  return continues(listA, listB) || continues(listB, listA);
}

/** The share of words that two texts have in common, from 0 to 1. */
function shared(a: string, b: string): number {
  const [wordsA, wordsB] = [new Set(a.split(" ")), new Set(b.split(" "))];
  const common = [...wordsA].filter((word) => wordsB.has(word)).length;
  return common / (wordsA.size + wordsB.size - common);
}

function hasSameQuote(a: Pick<StoredItem, "quote">, b: typeof a): boolean {
  const words = wordsOnly(a.quote);
  return words !== "" && words === wordsOnly(b.quote);
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
