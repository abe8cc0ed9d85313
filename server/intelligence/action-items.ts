import { randomUUID } from "node:crypto";
import type { Line } from "./lines.ts";
import { type Spoken, wordsOnly } from "./quotes.ts";
import { type Said, safeLine } from "./sanitise.ts";
import type { AnsweredItem } from "./schemas.ts";

/** An action item as it is kept with the recording. */
export interface StoredItem {
  readonly id: string;
  readonly status: "pending" | "completed";
  /** Milliseconds at which it was mentioned: the start of a segment. */
  readonly timestamp: number;
  readonly text: string;
  /** What was said; proof that somebody did. */
  readonly quote: string;
  /** A participant; names and users are looked up when it is read. */
  readonly assignee_id: string | null;
  /** Whether a person changed the words or the assignee: then no run does. */
  readonly is_edited?: boolean;
}

/** Somebody who took part, with the key that models know them by. */
export interface Person {
  readonly id: string;
  readonly name: string;
}

/** What participants are called in requests: by key, since names may be the same, or hold anything. */
export function keyOf(position: number): string {
  return `P${position + 1}`;
}

/**
 * Finds whom a model means: by key, by the whole name, or by a part of the name that only one of them has.
 * @returns null when it is nobody, or not clear who.
 */
export function matchAssignee(said: string | null, people: readonly Person[]): string | null {
  if (said === null) return null;
  const key = /^\s*\[?(P\d+)\b/i.exec(said)?.[1]?.toUpperCase();
  if (key !== undefined) return people.find((_, position) => keyOf(position) === key)?.id ?? null;
  const wanted = wordsOnly(said);
  if (wanted === "") return null;
  const named = people.filter((person) => wordsOnly(person.name) === wanted);
  if (named.length > 0) return named.length === 1 ? (named[0]?.id ?? null) : null;
  const parts = people.filter((person) => wordsOnly(person.name).split(" ").includes(wanted));
  return parts.length === 1 ? (parts[0]?.id ?? null) : null;
}

const mostItems = 200;

/** Keeps what was really said: without its words in the transcript an item has no time, and is dropped. */
export function provenItems(
  answered: readonly AnsweredItem[],
  context: { readonly spoken: Spoken; readonly said: Said; readonly people: readonly Person[] },
): StoredItem[] {
  const items: StoredItem[] = [];
  for (const item of answered) {
    const line: Line | null = context.spoken.find(item.quote, item.line);
    const text = safeLine(item.text, context.said);
    if (line === null || text === "") continue;
    const found: StoredItem = {
      id: randomUUID(),
      status: "pending",
      timestamp: line.startMs,
      text,
      quote: safeLine(item.quote, context.said, 500),
      assignee_id: matchAssignee(item.assignee, context.people),
    };
    // Parts overlap, and models repeat themselves.
    if (!items.some((other) => isSameItem(other, found))) items.push(found);
  }
  return items.toSorted((a, b) => a.timestamp - b.timestamp).slice(0, mostItems);
}

/** Two runs word the same thing differently, but it was said in one place. */
const nearMs = 15_000;

/** Whether two items are the same task: the same words, or much the same words about the same moment. */
export function isSameItem(a: Pick<StoredItem, "text" | "quote" | "timestamp">, b: typeof a): boolean {
  const [textA, textB] = [wordsOnly(a.text), wordsOnly(b.text)];
  const isNear = Math.abs(a.timestamp - b.timestamp) <= nearMs;
  if (textA === textB) return isNear || wordsOnly(a.quote) === wordsOnly(b.quote);
  if (!isNear) return false;
  const likeness = shared(textA, textB);
  return likeness >= 0.6 || (likeness >= 0.3 && wordsOnly(a.quote) === wordsOnly(b.quote));
}

/** The share of words that two texts have in common, 0 to 1. */
function shared(a: string, b: string): number {
  const [wordsA, wordsB] = [new Set(a.split(" ")), new Set(b.split(" "))];
  const common = [...wordsA].filter((word) => wordsB.has(word)).length;
  return common / (wordsA.size + wordsB.size - common);
}

/**
 * What a recording's items are after another run: those that stay the same keep id, status and what people wrote; what
 * people wrote stays also where the model does not find it any more.
 */
export function mergeItems(before: readonly StoredItem[], found: readonly StoredItem[]): StoredItem[] {
  const left = [...before];
  const merged = found.map((item) => {
    // The words people wrote say less about where an item came from than its quote.
    const at = left.findIndex((old) =>
      old.is_edited
        ? wordsOnly(old.quote) === wordsOnly(item.quote) || isSameItem(old, item)
        : isSameItem(old, item),
    );
    if (at < 0) return item;
    const [old] = left.splice(at, 1) as [StoredItem];
    return old.is_edited
      ? { ...old, timestamp: item.timestamp }
      : { ...item, id: old.id, status: old.status };
  });
  return [...merged, ...left.filter((old) => old.is_edited)].toSorted((a, b) => a.timestamp - b.timestamp);
}
