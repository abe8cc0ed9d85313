import type { Edit } from "../../api/transcript-history.ts";

/** What an edit did, as the end of a sentence that begins with who did it. */
export function deedOf(edit: Edit, all: readonly Edit[]): string {
  const { kind, details } = edit;
  const lines = linesOf(edit.segments_changed);
  const from = (details.speakers ?? []).map(({ name }) => name).join(", ");
  const to = details.to?.name ?? "somebody else";
  switch (kind) {
    case "text":
      return `corrected ${lines}`;
    case "rename":
      return `renamed ${from} to ${to}`;
    case "merge":
      return `made ${from} and ${to} one speaker, ${to}`;
    case "assign":
      return `gave ${lines} to ${to}`;
    case "undo":
    case "redo": {
      const other = all.find(({ number }) => number === details.edit);
      const verb = kind === "undo" ? "took back" : "brought back";
      return other === undefined
        ? `${verb} an earlier change`
        : `${verb} what ${whoOf(other)} did: ${deedOf(other, all)}`;
    }
    case "transcribed":
      return details.edits === "discard"
        ? "had the transcript made anew, without earlier changes"
        : "had the transcript made anew";
    case "supplied":
      return details.edits === "discard"
        ? "put another transcript in its place, without earlier changes"
        : "put another transcript in its place";
    case "reapplied":
      return `had earlier changes written into ${lines} of the new transcript`;
  }
}

/** Who did it; workspace tokens, the server and people who are gone have no name. */
export function whoOf({ user }: Edit): string {
  return user?.name ?? "An app or the server";
}

export function linesOf(count: number): string {
  return count === 1 ? "1 line" : `${count.toLocaleString()} lines`;
}

/** Whether the API takes it back, as far as the list tells. @param newest the number of the last transcript made anew. */
export function isUndoable(edit: Edit, newest: number): boolean {
  if (edit.number < newest || edit.undone_by !== null) return false;
  return !isRenewal(edit) && edit.kind !== "redo";
}

/** Whether all of the transcript became another one. */
export function isRenewal({ kind }: Edit): boolean {
  return kind === "transcribed" || kind === "supplied";
}

/** A text before and after, cut where they differ: what both begin and end with, in whole words, is the same. */
export interface Difference {
  readonly start: string;
  readonly before: string;
  readonly after: string;
  readonly end: string;
}

export function differenceOf(before: string, after: string): Difference {
  const [old, fresh] = [before.split(/(?<=\s)/u), after.split(/(?<=\s)/u)];
  const least = Math.min(old.length, fresh.length);
  let head = 0;
  while (head < least && old[head] === fresh[head]) head++;
  let tail = 0;
  while (tail < least - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail++;
  return {
    start: old.slice(0, head).join(""),
    before: old.slice(head, old.length - tail).join(""),
    after: fresh.slice(head, fresh.length - tail).join(""),
    end: old.slice(old.length - tail).join(""),
  };
}
