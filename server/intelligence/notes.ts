import { cutText, estimateTokens } from "./chunks.ts";

/** More notes of one part, and longer ones, are no notes. */
const mostNotes = 60;
const longestNote = 600;

/** Keeps what a model noted of one part within bounds. */
export function tidyNotes(notes: readonly string[]): string[] {
  return notes.slice(0, mostNotes).map((note) => note.slice(0, longestNote).toWellFormed());
}

/** How many tokens notes make in a request. */
export function sizeOf(notes: readonly string[]): number {
  return estimateTokens(notes.map((note) => `- ${note}\n`).join(""));
}

/** Puts neighbouring notes together as long as they fit into so many tokens. */
export function groupNotes(notes: readonly string[], room: number): string[][] {
  const groups: string[][] = [[]];
  for (const note of notes.flatMap((long) => cutText(long, Math.floor(room / 2)))) {
    const last = groups.at(-1) as string[];
    if (last.length > 0 && sizeOf([...last, note]) > room) groups.push([note]);
    else last.push(note);
  }
  return groups;
}

/** Leaves notes out evenly, so that no part of the meeting is missing as a whole. */
export function thinOut(notes: readonly string[], room: number): string[] {
  let kept = [...notes];
  while (kept.length > 1 && sizeOf(kept) > room) {
    const count = Math.max(1, Math.min(kept.length - 1, Math.floor((kept.length * room) / sizeOf(kept))));
    const step = kept.length / count;
    kept = Array.from({ length: count }, (_, index) => kept[Math.floor(index * step)] as string);
  }
  return kept;
}
