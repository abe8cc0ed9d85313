import { t } from "@lingui/core/macro";
import type { Edit } from "../../api/recording/transcript-history.ts";

/** What an edit did, as the rest of a sentence that starts with the editor. */
export function describeEdit(edit: Edit, all: readonly Edit[]): string {
  const { kind, details } = edit;
  const lines = lineCount(edit.segments_changed);
  const from = (details.speakers ?? []).map(({ name }) => name).join(", ");
  const to = details.to?.name ?? t`someone else`;
  switch (kind) {
    case "text":
      return t`corrected ${lines}`;
    case "rename":
      return t`renamed ${from} to ${to}`;
    case "merge":
      return t`merged ${from} into ${to}`;
    case "assign":
      return t`reassigned ${lines} to ${to}`;
    case "undo":
    case "redo": {
      const other = all.find(({ number }) => number === details.edit);
      const verb = kind === "undo" ? "reverted" : "restored";
      return other === undefined
        ? t`${verb} an earlier edit`
        : t`${verb} an edit: ${editorName(other)} ${describeEdit(other, all)}`;
    }
    case "transcribed":
      return details.edits === "discard"
        ? t`transcribed again and discarded manual edits`
        : t`transcribed again`;
    case "supplied":
      return details.edits === "discard"
        ? t`replaced the transcript and discarded manual edits`
        : t`replaced the transcript`;
    case "reapplied":
      return t`reapplied manual edits to ${lines} of the new transcript`;
  }
}

/** The editor's name; workspace tokens, the server and deleted users have none. */
export function editorName({ user }: Edit): string {
  return user?.name ?? t`An app or the server`;
}

export function lineCount(count: number): string {
  return count === 1 ? "1 line" : t`${count.toLocaleString()} lines`;
}

/** Whether the edit can be reverted. @param newest number of the last edit that replaced the transcript. */
export function isUndoable(edit: Edit, newest: number): boolean {
  if (edit.number < newest || edit.undone_by !== null) return false;
  return !replacesTranscript(edit) && edit.kind !== "redo";
}

/** Whether the edit replaced the whole transcript. */
export function replacesTranscript({ kind }: Edit): boolean {
  return kind === "transcribed" || kind === "supplied";
}

/** Two texts split into their common start and end, in whole words, and the differing middle. */
export interface Difference {
  readonly start: string;
  readonly before: string;
  readonly after: string;
  readonly end: string;
}

export function differenceOf(before: string, after: string): Difference {
  const [old, fresh] = [before.split(/(?<=\s)/u), after.split(/(?<=\s)/u)];
  const shorter = Math.min(old.length, fresh.length);
  let head = 0;
  while (head < shorter && old[head] === fresh[head]) head++;
  let tail = 0;
  while (tail < shorter - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail++;
  return {
    start: old.slice(0, head).join(""),
    before: old.slice(head, old.length - tail).join(""),
    after: fresh.slice(head, fresh.length - tail).join(""),
    end: old.slice(old.length - tail).join(""),
  };
}
