import { transcriptTooLong } from "../../../shared/transcripts/transcript-limits.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Database, Tx } from "../../platform/db/database.ts";
import type { TranscriptChanges } from "../../platform/db/json-columns.ts";
import { ProblemError } from "../../platform/http/errors/problem.ts";
import { invert, withoutParticipants } from "./changes.ts";
import {
  countDiffering,
  type EditRow,
  findEditToUndo,
  findLastReplacement,
  findPeople,
  growsTooLong,
  markUndone,
  type Person,
} from "./queries.ts";
import { type EditResult, editTranscript } from "./write-edit.ts";

/**
 * Undoes an edit: the given one, or the last one in effect. Undoing an undo restores what it reverted.
 * @throws ProblemError `wrong_state` when there is nothing to undo, or a later edit changed the same segments.
 */
export async function undoEdit(
  db: Database,
  principal: Principal,
  recordingId: string,
  seenVersion: number,
  number: number | undefined,
): Promise<EditResult> {
  let undone: EditRow | undefined;
  return editTranscript(
    db,
    principal,
    recordingId,
    seenVersion,
    async (tx) => {
      undone = await findEditToUndo(tx, recordingId, number);
      const edit = await checkUndoable(tx, recordingId, undone, number);
      const people = await findPeople(tx, recordingId);
      const changes = withoutParticipants(invert(edit.changes), (id) => people.has(id));
      await refuseConflict(tx, recordingId, edit.number, changes, people);
      if (await growsTooLong(tx, recordingId, changes.segments))
        throw new ProblemError(
          "wrong_state",
          `undoing edit ${edit.number} would make the transcript too long: it ${transcriptTooLong}; shorten other segments first`,
        );
      const isRedo = edit.kind === "undo";
      return {
        kind: isRedo ? "redo" : "undo",
        details: { edit: isRedo ? (edit.undoes ?? edit.number) : edit.number },
        changes,
        undoes: edit.number,
      };
    },
    async (tx, made) => {
      if (undone === undefined) return;
      await markUndone(tx, recordingId, undone.number, made);
      // Once restored, it is in effect and may be undone again.
      if (undone.kind === "undo" && undone.undoes !== null)
        await markUndone(tx, recordingId, undone.undoes, null);
    },
  );
}

async function checkUndoable(
  tx: Tx,
  recordingId: string,
  edit: EditRow | undefined,
  number: number | undefined,
): Promise<EditRow> {
  const last = await findLastReplacement(tx, recordingId);
  if (edit === undefined || (number === undefined && edit.number < last))
    throw new ProblemError(
      "wrong_state",
      number === undefined
        ? "there is no edit to undo"
        : `the history of this transcript has no edit ${number}`,
    );
  if (edit.number < last)
    throw new ProblemError(
      "wrong_state",
      `edit ${edit.number} belongs to a transcript that has since been replaced`,
    );
  if (edit.kind === "transcribed" || edit.kind === "supplied" || edit.kind === "redo")
    throw new ProblemError(
      "wrong_state",
      edit.kind === "redo"
        ? `edit ${edit.number} is a redo and can't be undone; undo the edit it restored instead`
        : `edit ${edit.number} replaced the transcript, which can't be undone`,
    );
  if (edit.undone_by !== null)
    throw new ProblemError(
      "wrong_state",
      `edit ${edit.number} was already undone, by edit ${edit.undone_by}`,
    );
  return edit;
}

/** Refuses to overwrite later changes. @param changes of the undo. */
async function refuseConflict(
  tx: Tx,
  recordingId: string,
  number: number,
  changes: TranscriptChanges,
  people: ReadonlyMap<string, Person>,
): Promise<void> {
  const segments = await countDiffering(tx, recordingId, changes.segments);
  const persons = changes.participants.filter(
    ({ id, before }) => before.name !== undefined && people.get(id)?.name !== before.name,
  ).length;
  if (segments + persons === 0) return;
  throw new ProblemError(
    "wrong_state",
    `edit ${number} can't be undone alone: ${segments === 0 ? "its speaker has" : segments === 1 ? "1 of its segments has" : `${segments} of its segments have`} been changed since; undo the later edits first`,
  );
}
