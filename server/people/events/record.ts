import { randomUUIDv7 } from "node:crypto";
import { sql } from "kysely";
import type { HookType } from "../../../contract/webhooks/hook-types.ts";
import type { Tx } from "../../platform/db/database.ts";

/** An event, as the outbox stores it. */
export interface NewEvent {
  readonly workspaceId: string;
  readonly type: HookType;
  /** The recording, highlight, story or upload it happened to. */
  readonly subjectId: string;
  /** The recording that decides who receives the event, where the subject is not the recording itself. */
  readonly recordingId?: string;
  /** Principals that may receive the event, when its subject is deleted and can't be checked later. */
  readonly audience?: readonly string[];
  /** What later changes would overwrite: the state of the subject at this very event. */
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * Writes an event to the outbox, in the transaction of the change that it reports. The caller holds a lock on the
 * subject's row, so the events of one subject are numbered in the order of its changes.
 */
export async function record(tx: Tx, event: NewEvent): Promise<void> {
  // recording_added comes first, so an event for a recording that is not announced yet waits (announce.ts).
  if (event.type === "recording_updated" && (await noteChangeOfHeld(tx, event.subjectId))) return;
  const recordingId = event.recordingId ?? (event.type.startsWith("recording_") ? event.subjectId : null);
  // To everyone outside, a recording in the trash is gone: what happens with it meanwhile is no event.
  await sql`
    insert into events (event_id, workspace_id, type, subject_id, recording_id, audience, data)
    select ${randomUUIDv7()}::uuid, ${event.workspaceId}::uuid, ${event.type}, ${event.subjectId}::uuid,
      ${recordingId}::uuid, ${event.audience === undefined ? null : [...event.audience]}::uuid[],
      ${JSON.stringify(event.data)}::jsonb
    where not exists (select 1 from trashed_recordings t where t.recording_id = ${recordingId}::uuid)`.execute(
    tx,
  );
}

/** @returns whether the recording is held, so that its change is reported when it is announced. */
async function noteChangeOfHeld(tx: Tx, recordingId: string): Promise<boolean> {
  const held = await tx
    .updateTable("pending_announcements")
    .set({ is_changed: true })
    .where("recording_id", "=", recordingId)
    .returning("recording_id")
    .executeTakeFirst();
  return held !== undefined;
}
