import { cutText, estimateTokens } from "./chunks.ts";
import type { Note } from "./proofs.ts";

/** Most notes per chunk, and their maximum length. */
export const maxNotes = 60;
const maxNote = 600;

/** Limits the length of a note. */
export function noteText(text: string): string {
  return text.slice(0, maxNote).toWellFormed();
}

/** The tokens of notes in a request. */
export function sizeOf(notes: readonly Note[]): number {
  return estimateTokens(notes.map(({ text }) => `[100] ${text}\n`).join(""));
}

/** Groups consecutive notes so that each group fits into `maxTokens`. */
export function groupNotes(notes: readonly Note[], room: number): Note[][] {
  const groups: Note[][] = [[]];
  const pieces = notes.flatMap(({ text, proof }) =>
    cutText(text, Math.floor(room / 2)).map((piece) => ({ text: piece, proof })),
  );
  for (const note of pieces) {
    const last = groups.at(-1) as Note[];
    if (last.length > 0 && sizeOf([...last, note]) > room) groups.push([note]);
    else last.push(note);
  }
  return groups;
}

/** Drops notes evenly, so that no part of the meeting is missing entirely. */
export function thinOut(notes: readonly Note[], room: number): Note[] {
  let kept = [...notes];
  while (kept.length > 1 && sizeOf(kept) > room) {
    const count = Math.max(1, Math.min(kept.length - 1, Math.floor((kept.length * room) / sizeOf(kept))));
    const step = kept.length / count;
    kept = Array.from({ length: count }, (_, index) => kept[Math.floor(index * step)] as Note);
  }
  return kept;
}
