import { because } from "../../../contract/causes/causes.ts";
import type {
  TranscriptEditDetails,
  TranscriptEditKind,
} from "../../../contract/transcripts/transcript-history.ts";
import { recordEvent } from "../../people/events/record-event.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Database, Tx } from "../../platform/db/database.ts";
import type { TranscriptChanges } from "../../platform/db/json-columns.ts";
import { ProblemError } from "../../platform/http/errors/problem.ts";
import { lockFor } from "../recordings/rights.ts";
import { countSegments } from "./changes.ts";
import { reportHighlights } from "./highlights.ts";
import {
  findTranscriptState,
  insertEdit,
  nextVersion,
  type TranscriptState,
  writeParticipant,
  writeSegments,
} from "./queries.ts";

/** An edit that is about to be written. */
export interface PlannedEdit {
  readonly kind: TranscriptEditKind;
  readonly details: TranscriptEditDetails;
  readonly changes: TranscriptChanges;
  readonly undoes?: number;
}

/** The result of an edit. */
export interface EditResult {
  readonly transcript_version: number;
  readonly edit: number | null;
  readonly segments_changed: number;
}

/** The editor, as the history names them. */
export function editorOf(principal: Principal): string | null {
  return principal.scope === "personal" ? principal.userId : null;
}

/**
 * Writes one edit of a transcript in one transaction: the changed segments and no others, the new version, the history,
 * and the events.
 * @param seenVersion the version the caller saw. Of two edits at once, the second sees a newer one and is refused.
 * @param plan decides what to change; null: no change.
 * @throws ProblemError `not_found`, `forbidden`, `wrong_state`, and whatever `plan` throws.
 */
export async function editTranscript(
  db: Database,
  principal: Principal,
  recordingId: string,
  seenVersion: number,
  plan: (tx: Tx) => Promise<PlannedEdit | null>,
  after?: (tx: Tx, number: number) => Promise<void>,
): Promise<EditResult> {
  return db.kysely.transaction().execute(async (tx) => {
    const recording = await lockFor(tx, principal, recordingId, "change", "edit its transcript");
    const { transcript_version: version, is_being_discarded } = await checkVersion(
      tx,
      recordingId,
      seenVersion,
    );
    if (is_being_discarded)
      throw new ProblemError("wrong_state", because("transcription_replaces_edits"), {
        transcriptVersion: version,
      });
    const edit = await plan(tx);
    if (edit === null) return { transcript_version: version, edit: null, segments_changed: 0 };
    const result = await writeEdit(tx, recordingId, editorOf(principal), edit);
    await after?.(tx, result.edit);
    await recordEvent(tx, {
      workspaceId: recording.workspace_id,
      type: "recording_updated",
      subjectId: recordingId,
      data: {},
    });
    return result;
  });
}

/** @throws ProblemError `wrong_state` when the transcript of a locked recording is at another version. */
export async function checkVersion(tx: Tx, recordingId: string, seen: number): Promise<TranscriptState> {
  const state = await findTranscriptState(tx, recordingId);
  if (state.transcript_version === seen) return state;
  throw new ProblemError(
    "wrong_state",
    because("transcript_changed", { version: state.transcript_version, seen }),
    { transcriptVersion: state.transcript_version },
  );
}

/**
 * Writes an edit of a locked recording with its version, history and the events of its highlights; the caller records
 * `recording_updated`.
 */
export async function writeEdit(
  tx: Tx,
  recordingId: string,
  userId: string | null,
  edit: PlannedEdit,
): Promise<EditResult & { readonly edit: number }> {
  for (const { id, after } of edit.changes.participants) await writeParticipant(tx, id, after);
  const spoken = await writeSegments(tx, recordingId, edit.changes.segments);
  const version = await nextVersion(tx, recordingId);
  const segments = countSegments(edit.changes);
  const number = await insertEdit(tx, recordingId, { ...edit, userId, version, segments });
  await reportHighlights(tx, recordingId, spoken);
  return { transcript_version: version, edit: number, segments_changed: segments };
}
