import type { Principal } from "../access/principal.ts";
import type { Database, Tx } from "../db/database.ts";
import { ProblemError } from "../http/problem.ts";
import { type Changes, invert, withoutParticipants } from "./changes.ts";
import {
  countDiffering,
  type EditRow,
  findEditToUndo,
  findLastRenewal,
  findPeople,
  markUndone,
  type Person,
} from "./queries.ts";
import { type EditResult, editTranscript } from "./write-edit.ts";

/**
 * Takes an edit back: the last one that holds, or the one that is named. Taking back an undo brings back what it took.
 * @throws ProblemError `wrong_state` when there is nothing to take back, or something has changed there since.
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
      // Brought back, it holds again and may be taken back again.
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
  const last = await findLastRenewal(tx, recordingId);
  if (edit === undefined || (number === undefined && edit.number < last))
    throw new ProblemError(
      "wrong_state",
      number === undefined
        ? "there is no edit to take back"
        : `the history of this transcript has no edit ${number}`,
    );
  if (edit.number < last)
    throw new ProblemError(
      "wrong_state",
      `edit ${edit.number} is of a former transcript; the present one was made anew since`,
    );
  if (edit.kind === "transcribed" || edit.kind === "supplied" || edit.kind === "redo")
    throw new ProblemError(
      "wrong_state",
      edit.kind === "redo"
        ? `edit ${edit.number} brought another one back; take that one back instead`
        : `edit ${edit.number} made the transcript anew, which can't be taken back`,
    );
  if (edit.undone_by !== null)
    throw new ProblemError(
      "wrong_state",
      `edit ${edit.number} was taken back already, by edit ${edit.undone_by}`,
    );
  return edit;
}

/** Refuses to write over what somebody has changed since. @param changes of the undo. */
async function refuseConflict(
  tx: Tx,
  recordingId: string,
  number: number,
  changes: Changes,
  people: ReadonlyMap<string, Person>,
): Promise<void> {
  const segments = await countDiffering(tx, recordingId, changes.segments);
  const persons = changes.participants.filter(
    ({ id, before }) => before.name !== undefined && people.get(id)?.name !== before.name,
  ).length;
  if (segments + persons === 0) return;
  throw new ProblemError(
    "wrong_state",
    `edit ${number} can't be taken back alone: ${segments > 0 ? `${segments} of its segments were` : "its speaker was"} changed again since; take back the later edits first`,
  );
}
