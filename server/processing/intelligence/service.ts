import { because } from "../../../contract/causes/causes.ts";
import { recordEvent } from "../../people/events/record-event.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Database, Tx } from "../../platform/db/database.ts";
import { invalidInput, ProblemError } from "../../platform/http/errors/problem.ts";
import type { JobQueue } from "../../platform/jobs/queue.ts";
import { lockRecording } from "../../recordings/recordings/queries.ts";
import { hasRight, lockFor, recordingNotFound, rightMissing } from "../../recordings/recordings/rights.ts";
import type { StoredItem } from "./generate/action-items.ts";
import { explainMissing, findModelState } from "./missing-model.ts";
import { findStoredItems, insertRun, notifyAssignees, type RunChoices, saveStoredItems } from "./queries.ts";
import { findAssignedUser, hasParticipant, hasSegments } from "./read-queries.ts";

type ModelConfig = Pick<Config, "languageModel" | "dataDir">;

/**
 * Asks the language model to summarize a recording, in the transaction that gave it its transcript: asked for exactly
 * when the transcript is there. Without a model, or where the workspace has switched it off, nothing happens.
 */
export async function requestSummary(
  tx: Tx,
  jobs: JobQueue,
  config: ModelConfig,
  recording: { readonly id: string; readonly workspaceId: string },
): Promise<void> {
  if ((await findModelState(tx, config, recording.workspaceId)) !== "ready") return;
  if (!(await hasSegments(tx, recording.id))) return;
  await insertRun(tx, recording.id);
  await jobs.enqueue(tx, "analyze_recording", { recordingId: recording.id }, recording.id);
}

/** The same by hand. @throws ProblemError `wrong_state` where it can't be done, with the reason. */
export async function runAgain(
  { db, jobs, config }: { readonly db: Database; readonly jobs: JobQueue; readonly config: ModelConfig },
  principal: Principal,
  recordingId: string,
  choices: RunChoices,
): Promise<void> {
  await db.kysely.transaction().execute(async (tx) => {
    const recording = await lockFor(tx, principal, recordingId, "change", "regenerate its summary");
    const state = await findModelState(tx, config, recording.workspace_id);
    if (state !== "ready") throw new ProblemError("wrong_state", explainMissing("summaries", state));
    if (!(await hasSegments(tx, recordingId)))
      throw new ProblemError("wrong_state", because("transcript_missing"));
    await insertRun(tx, recordingId, choices);
    await jobs.enqueue(tx, "analyze_recording", { recordingId }, recordingId);
  });
  jobs.wake();
}

/** The fields of an action item that a client sent; undefined leaves a field unchanged. */
export interface ItemChanges {
  readonly status?: "pending" | "completed" | undefined;
  readonly text?: string | undefined;
  readonly assignee_id?: string | null | undefined;
}

/** Changes an action item. Records an event only if something changed. */
export async function updateActionItem(
  db: Database,
  principal: Principal,
  recordingId: string,
  itemId: string,
  changes: ItemChanges,
): Promise<void> {
  await db.kysely.transaction().execute(async (tx) => {
    const recording = await lockRecording(tx, principal, recordingId);
    if (!recording?.is_visible) throw recordingNotFound(recordingId);
    const items = await findStoredItems(tx, recordingId);
    const item = items.find((one) => one.id === itemId);
    const isTick = changes.text === undefined && changes.assignee_id === undefined;
    const isAssignee =
      item?.assignee_id != null && (await findAssignedUser(tx, item.assignee_id)) === principal.userId;
    if (
      !hasRight(principal, "change", recording) &&
      !(isTick && isAssignee && principal.scope === "personal")
    )
      throw rightMissing("change", "change action items; the assignee may complete one");
    if (item === undefined) throw new ProblemError("not_found", `the recording has no action item ${itemId}`);
    const assigneeId = changes.assignee_id?.toLowerCase() ?? changes.assignee_id;
    if (assigneeId != null && !(await hasParticipant(tx, recordingId, assigneeId)))
      throw invalidInput([
        {
          pointer: "/assignee_id",
          detail: "is not a participant of this recording",
        },
      ]);
    const changed: StoredItem = {
      ...item,
      status: changes.status ?? item.status,
      text: changes.text ?? item.text,
      assignee_id: assigneeId === undefined ? item.assignee_id : assigneeId,
    };
    const isEdited = changed.text !== item.text || changed.assignee_id !== item.assignee_id;
    if (!isEdited && changed.status === item.status) return;
    const kept = isEdited ? { ...changed, is_edited: true } : changed;
    const after = items.map((one) => (one.id === itemId ? kept : one));
    await saveStoredItems(tx, recordingId, after);
    await notifyAssignees(tx, recordingId, items, after, principal.userId);
    await recordEvent(tx, {
      workspaceId: recording.workspace_id,
      type: "recording_updated",
      subjectId: recordingId,
      data: {},
    });
  });
}
