import { randomUUIDv7 } from "node:crypto";
import { sql } from "kysely";
import type { HookType } from "../../../contract/webhooks/hook-types.ts";
import type { Tx } from "../../platform/db/database.ts";
import { prepared } from "../../platform/db/prepared.ts";

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
export async function recordEvent(tx: Tx, event: NewEvent): Promise<void> {
  const recordingId = event.recordingId ?? (event.type.startsWith("recording_") ? event.subjectId : null);
  // recording_added comes first: a change of a recording that is not announced yet is noted, and reported with it (announce.ts).
  const isUpdate = event.type === "recording_updated";
  const held = sql`with held as (
      update pending_announcements set is_changed = true where recording_id = ${event.subjectId}::uuid returning recording_id)`;
  // To everyone outside, a recording in the trash is gone: what happens with it meanwhile is no event.
  await sql`
    ${isUpdate ? held : sql``}
    insert into events (event_id, workspace_id, type, subject_id, recording_id, audience, data)
    select ${randomUUIDv7()}::uuid, ${event.workspaceId}::uuid, ${event.type}, ${event.subjectId}::uuid,
      ${recordingId}::uuid, ${event.audience === undefined ? null : [...event.audience]}::uuid[],
      ${JSON.stringify(event.data)}::jsonb
    where not exists (select 1 from trashed_recordings t where t.recording_id = ${recordingId}::uuid)
      ${isUpdate ? sql`and not exists (select 1 from held)` : sql``} ${prepared}`.execute(tx);
}
