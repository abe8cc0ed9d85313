import { randomUUIDv7 } from "node:crypto";
import type { Violation } from "../../contract/errors.ts";
import { maxHighlights } from "../../contract/highlight-operations.ts";
import type { Principal } from "../access/principal.ts";
import type { Database, Tx } from "../db/database.ts";
import { record } from "../events/record.ts";
import { invalidInput, ProblemError } from "../http/problem.ts";
import { agreeToChange } from "../public-links/agree.ts";
import { findLinksOf } from "../public-links/clips.ts";
import type { Asking } from "../public-links/service.ts";
import { takeBackLinks } from "../public-links/take-back.ts";
import { type ChangeableRecording, lockRecording } from "../recordings/queries.ts";
import { mayChange, recordingNotFound } from "../recordings/rights.ts";
import { removeFromStories } from "../stories/remove-highlights.ts";
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
import { highlightNotFound } from "./rights.ts";
import { uniqueTags } from "./tags.ts";

/** What of a highlight a client says. */
export interface HighlightInput {
  readonly text: string;
  /** Milliseconds. */
  readonly timestamp: number;
  /** Milliseconds. */
  readonly duration: number;
  readonly tags?: readonly string[] | undefined;
}

/** Marks a part of a recording. Whoever sees the recording may. @returns the id. */
export async function createHighlight(
  db: Database,
  principal: Principal,
  recordingId: string,
  input: HighlightInput,
): Promise<string> {
  const id = randomUUIDv7();
  await db.kysely.transaction().execute(async (tx) => {
    // The lock keeps the count true, and the recording there.
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
      throw new ProblemError(
        "wrong_state",
        `the recording has ${room.highlights} highlights, which is the most; delete one first`,
      );
    }
    const { workspace_id } = recording;
    const of = { recording_id: recordingId, workspace_id, created_by: principal.userId };
    await insertHighlight(tx, { id, ...of, ...values });
    await report(tx, recording.workspace_id, "highlight_added", { id, recording_id: recordingId });
  });
  return id;
}

/**
 * Changes a highlight; what is left out stays. Only a real change is an event. Its public links follow a new range when
 * the caller may share the recording.
 * @returns ids of links that may show another part now.
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
    if (isSame(values, highlight)) return [];
    await updateHighlightRow(tx, highlightId, values);
    await report(tx, workspace_id, "highlight_updated", highlight);
    const isMoved = values.start_ms !== highlight.start_ms || values.duration_ms !== highlight.duration_ms;
    if (isMoved && mayChange(principal, { is_recorder })) await agreeToChange(tx, highlightId);
    return isMoved ? findLinksOf(tx, highlightId) : [];
  });
}

/** Removes a highlight, also from the stories it is in. */
export async function deleteHighlight(
  db: Database,
  { principal, actor }: Asking,
  highlightId: string,
): Promise<{ success: true }> {
  await change(db, principal, highlightId, async (tx, highlight, { workspace_id }) => {
    await takeBackLinks(tx, actor, { kind: "highlight", id: highlightId });
    await removeFromStories(tx, [highlightId]);
    await deleteHighlightRow(tx, highlightId);
    await report(tx, workspace_id, "highlight_deleted", highlight);
  });
  return { success: true };
}

/** Locks recording and highlight, in this order everywhere, and checks the right to change the highlight. */
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
    if (highlight.created_by !== principal.userId && !mayChange(principal, recording)) {
      throw new ProblemError(
        "forbidden",
        "only whoever made the highlight, the recording's recorders, admins and workspace tokens may change it",
      );
    }
    return apply(tx, highlight, recording);
  });
}

/** @param isStartToBlame when the length stays and the start moves. */
function findRangeFaults(
  { start_ms, duration_ms }: HighlightValues,
  lengthMs: number,
  isStartToBlame = false,
): Violation[] {
  if (start_ms >= lengthMs)
    return [{ pointer: "/timestamp", detail: `must lie before the end of the recording, at ${lengthMs} ms` }];
  const endMs = start_ms + duration_ms;
  if (endMs <= lengthMs) return [];
  const pointer = isStartToBlame ? "/timestamp" : "/duration";
  return [{ pointer, detail: `makes the clip end at ${endMs} ms; the recording ends at ${lengthMs} ms` }];
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
  await record(tx, {
    workspaceId,
    type,
    subjectId: id,
    recordingId: recording_id,
    data: { id, recording_id },
  });
}
