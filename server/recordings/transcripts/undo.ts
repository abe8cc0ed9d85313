import { because } from "../../../contract/causes/causes.ts";
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
  findParticipants,
  growsTooLong,
  markUndone,
  type TranscriptParticipant,
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
      const participants = await findParticipants(tx, recordingId);
      const changes = withoutParticipants(invert(edit.changes), (id) => participants.has(id));
      await refuseConflict(tx, recordingId, edit.number, changes, participants);
      if (await growsTooLong(tx, recordingId, changes.segments))
        throw new ProblemError(
          "wrong_state",
          because("undo_too_long", { number: edit.number, limit: transcriptTooLong }),
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
      number === undefined ? because("nothing_to_undo") : because("edit_missing", { number }),
    );
  if (edit.number < last)
    throw new ProblemError("wrong_state", because("edit_of_replaced_transcript", { number: edit.number }));
  if (edit.kind === "transcribed" || edit.kind === "supplied" || edit.kind === "redo")
    throw new ProblemError(
      "wrong_state",
      edit.kind === "redo"
        ? because("redo_cannot_be_undone", { number: edit.number })
        : because("replacement_cannot_be_undone", { number: edit.number }),
    );
  if (edit.undone_by !== null)
    throw new ProblemError(
      "wrong_state",
      because("edit_undone", { number: edit.number, by: edit.undone_by }),
    );
  return edit;
}

/** Refuses to overwrite later changes. @param changes of the undo. */
async function refuseConflict(
  tx: Tx,
  recordingId: string,
  number: number,
  changes: TranscriptChanges,
  participants: ReadonlyMap<string, TranscriptParticipant>,
): Promise<void> {
  const segments = await countDiffering(tx, recordingId, changes.segments);
  const persons = changes.participants.filter(
    ({ id, before }) => before.name !== undefined && participants.get(id)?.name !== before.name,
  ).length;
  if (segments + persons === 0) return;
  throw new ProblemError(
    "wrong_state",
    segments === 0
      ? because("undo_speaker_changed", { number })
      : because("undo_segments_changed", { number, segments }),
  );
}
