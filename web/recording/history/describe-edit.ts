import { plural, t } from "@lingui/core/macro";
import type { Edit } from "../../api/recording/transcript-history.ts";
import { namesInSentence } from "../../common/format/names.ts";

/** Who edited, and what the edit did, as a sentence. */
export function describeEdit(edit: Edit, all: readonly Edit[]): string {
  const { kind, details } = edit;
  const lines = edit.segments_changed;
  const name = editorName(edit);
  const from = namesInSentence((details.speakers ?? []).map((speaker) => speaker.name));
  const to = details.to?.name ?? t`someone else`;
  switch (kind) {
    case "text":
      return plural(lines, { one: `${name} corrected # line`, other: `${name} corrected # lines` });
    case "rename":
      return t`${name} renamed ${from} to ${to}`;
    case "merge":
      return t`${name} merged ${from} into ${to}`;
    case "assign":
      return plural(lines, {
        one: `${name} reassigned # line to ${to}`,
        other: `${name} reassigned # lines to ${to}`,
      });
    case "undo":
    case "redo": {
      const other = all.find(({ number }) => number === details.edit);
      const sentence = other === undefined ? null : describeEdit(other, all);
      if (kind === "undo")
        return sentence === null
          ? t`${name} reverted an earlier edit`
          : t`${name} reverted an edit: ${sentence}`;
      return sentence === null
        ? t`${name} restored an earlier edit`
        : t`${name} restored an edit: ${sentence}`;
    }
    case "transcribed":
      return details.edits === "discard"
        ? t`${name} transcribed again and discarded manual edits`
        : t`${name} transcribed again`;
    case "supplied":
      return details.edits === "discard"
        ? t`${name} replaced the transcript and discarded manual edits`
        : t`${name} replaced the transcript`;
    case "reapplied":
      return plural(lines, {
        one: `${name} reapplied manual edits to # line of the new transcript`,
        other: `${name} reapplied manual edits to # lines of the new transcript`,
      });
  }
}

/** The editor's name; workspace tokens, the server and deleted users have none. */
export function editorName({ user }: Edit): string {
  return user?.name ?? t`An app or the server`;
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
