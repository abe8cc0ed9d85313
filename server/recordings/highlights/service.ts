import { randomUUIDv7 } from "node:crypto";
import { because } from "../../../contract/causes/causes.ts";
import type { Violation } from "../../../contract/errors.ts";
import { maxHighlights } from "../../../contract/recordings/highlight-operations.ts";
import { uniqueTags } from "../../../contract/recordings/tag.ts";
import { recordEvent } from "../../people/events/record-event.ts";
import type { Requester } from "../../platform/audit/record.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Database, Tx } from "../../platform/db/database.ts";
import { invalidInput, ProblemError } from "../../platform/http/errors/problem.ts";
import { approveRange, approveText } from "../public-link-records/approvals.ts";
import { findLinksOf } from "../public-link-records/clips.ts";
import { revokeLinks } from "../public-link-records/revoke.ts";
import { removeFromStories } from "../recordings/delete/remove-from-stories.ts";
import { type ChangeableRecording, lockRecording } from "../recordings/queries.ts";
import { hasRight, recordingNotFound, rightMissing } from "../recordings/rights.ts";
import { highlightNotFound } from "./not-found.ts";
import {
  deleteHighlightRow,
  findRecordingOf,
  findRoom,
  type HighlightRow,
  type HighlightValues,
  insertHighlight,
  lockHighlight,
  updateHighlightRow,
} from "./queries.ts";

/** The fields of a highlight that a client sets. */
export interface HighlightInput {
  readonly text: string;
  /** Milliseconds. */
  readonly timestamp: number;
  /** Milliseconds. */
  readonly duration: number;
  readonly tags?: readonly string[] | undefined;
}

/** Creates a highlight. Every user who can see the recording may. @returns the id. */
export async function createHighlight(
  db: Database,
  principal: Principal,
  recordingId: string,
  input: HighlightInput,
): Promise<string> {
  const id = randomUUIDv7();
  await db.kysely.transaction().execute(async (tx) => {
    // The lock keeps the count right and the recording from being deleted.
    const recording = await lockRecording(tx, principal, recordingId);
    if (!recording?.is_visible) throw recordingNotFound(recordingId);
    const room = await findRoom(tx, recordingId);
    const values: HighlightValues = {
      text: input.text,
      start_ms: input.timestamp,
      duration_ms: input.duration,
      tags: uniqueTags(input.tags ?? []),
    };
    const faults = findRangeFaults(values, room.duration_ms);
    if (faults.length > 0) throw invalidInput(faults);
    if (room.highlights >= maxHighlights) {
      throw new ProblemError("wrong_state", because("highlight_limit", { limit: room.highlights }));
    }
    const { workspace_id } = recording;
    const of = { recording_id: recordingId, workspace_id, created_by: principal.userId };
    await insertHighlight(tx, { id, ...of, ...values });
    await report(tx, recording.workspace_id, "highlight_added", { id, recording_id: recordingId });
  });
  return id;
}

/**
 * Changes the given fields of a highlight. Records an event only if something changed. If the caller may share the
 * recording, its public links show the new text and range; otherwise they keep what was approved before.
 * @returns ids of links whose range may have changed.
 */
export async function updateHighlight(
  db: Database,
  principal: Principal,
  highlightId: string,
  input: Partial<{ [K in keyof HighlightInput]: HighlightInput[K] | undefined }>,
): Promise<string[]> {
  return change(db, principal, highlightId, async (tx, highlight, { workspace_id, is_recorder }) => {
    const values: HighlightValues = {
      text: input.text ?? highlight.text,
      start_ms: input.timestamp ?? highlight.start_ms,
      duration_ms: input.duration ?? highlight.duration_ms,
      tags: input.tags === undefined ? highlight.tags : uniqueTags(input.tags),
    };
    if (input.timestamp !== undefined || input.duration !== undefined) {
      const { duration_ms } = await findRoom(tx, highlight.recording_id);
      const faults = findRangeFaults(values, duration_ms, input.duration === undefined);
      if (faults.length > 0) throw invalidInput(faults);
    }
    if (!isSame(values, highlight)) {
      await updateHighlightRow(tx, highlightId, values);
      await report(tx, workspace_id, "highlight_updated", highlight);
    }
    if (!hasRight(principal, "share", { is_recorder })) return [];
    // Approves only what the caller wrote: another user may have changed the rest without the right to publish it.
    if (input.text !== undefined) await approveText(tx, highlightId);
    if (input.timestamp === undefined && input.duration === undefined) return [];
    await approveRange(tx, highlightId);
    return findLinksOf(tx, highlightId);
  });
}

/** Deletes a highlight and removes it from its stories. */
export async function deleteHighlight(
  db: Database,
  { principal, actor }: Requester,
  highlightId: string,
): Promise<{ success: true }> {
  await change(db, principal, highlightId, async (tx, highlight, { workspace_id }) => {
    await revokeLinks(tx, actor, { kind: "highlight", id: highlightId });
    await removeFromStories(tx, [highlightId]);
    await deleteHighlightRow(tx, highlightId);
    await report(tx, workspace_id, "highlight_deleted", highlight);
  });
  return { success: true };
}

/** Locks the recording and then the highlight, as every transaction does, and checks the right to change the highlight. */
async function change<T>(
  db: Database,
  principal: Principal,
  highlightId: string,
  apply: (tx: Tx, highlight: HighlightRow, recording: ChangeableRecording) => Promise<T>,
): Promise<T> {
  return db.kysely.transaction().execute(async (tx) => {
    const recordingId = await findRecordingOf(tx, principal.workspaceId, highlightId);
    if (recordingId === undefined) throw highlightNotFound(highlightId);
    const recording = await lockRecording(tx, principal, recordingId);
    if (!recording?.is_visible) throw highlightNotFound(highlightId);
    const highlight = await lockHighlight(tx, highlightId);
    if (highlight === undefined) throw highlightNotFound(highlightId);
    if (highlight.created_by !== principal.userId && !hasRight(principal, "change", recording))
      throw rightMissing("change", "change it", ["the highlight's creator"]);
    return apply(tx, highlight, recording);
  });
}

/** @param isStartToBlame whether only the start changed, so that the violation points to it. */
function findRangeFaults(
  { start_ms, duration_ms }: HighlightValues,
  lengthMs: number,
  isStartToBlame = false,
): Violation[] {
  if (start_ms >= lengthMs)
    return [
      {
        pointer: "/timestamp",
        ...because("not_before_recording_end", { ms: lengthMs }),
      },
    ];
  const endMs = start_ms + duration_ms;
  if (endMs <= lengthMs) return [];
  const pointer = isStartToBlame ? "/timestamp" : "/duration";
  return [
    {
      pointer,
      ...because("highlight_after_recording_end", { end: endMs, ms: lengthMs }),
    },
  ];
}

function isSame(a: HighlightValues, b: HighlightValues): boolean {
  return (
    a.text === b.text &&
    a.start_ms === b.start_ms &&
    a.duration_ms === b.duration_ms &&
    a.tags.length === b.tags.length &&
    a.tags.every((tag, index) => tag === b.tags[index])
  );
}

async function report(
  tx: Tx,
  workspaceId: string,
  type: "highlight_added" | "highlight_updated" | "highlight_deleted",
  { id, recording_id }: Pick<HighlightRow, "id" | "recording_id">,
): Promise<void> {
  await recordEvent(tx, {
    workspaceId,
    type,
    subjectId: id,
    recordingId: recording_id,
    data: { id, recording_id },
  });
}
