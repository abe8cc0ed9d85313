import { cutText, estimateTokens } from "./chunks.ts";

/** Most notes per chunk, and their maximum length. */
const maxNotes = 60;
const maxNote = 600;

/** Limits the number and length of a model's notes on a chunk. */
export function tidyNotes(notes: readonly string[]): string[] {
  return notes.slice(0, maxNotes).map((note) => note.slice(0, maxNote).toWellFormed());
}

/** The tokens of notes in a request. */
export function sizeOf(notes: readonly string[]): number {
  return estimateTokens(notes.map((note) => `- ${note}\n`).join(""));
}

/** Groups consecutive notes so that each group fits into `maxTokens`. */
export function groupNotes(notes: readonly string[], room: number): string[][] {
  const groups: string[][] = [[]];
  for (const note of notes.flatMap((long) => cutText(long, Math.floor(room / 2)))) {
    const last = groups.at(-1) as string[];
    if (last.length > 0 && sizeOf([...last, note]) > room) groups.push([note]);
    else last.push(note);
  }
  return groups;
}

/** Drops notes evenly, so that no part of the meeting is missing entirely. */
export function thinOut(notes: readonly string[], room: number): string[] {
  let kept = [...notes];
  while (kept.length > 1 && sizeOf(kept) > room) {
    const count = Math.max(1, Math.min(kept.length - 1, Math.floor((kept.length * room) / sizeOf(kept))));
    const step = kept.length / count;
    kept = Array.from({ length: count }, (_, index) => kept[Math.floor(index * step)] as string);
  }
  return kept;
}
