import { sql } from "kysely";
import { notify } from "../../people/events/notify.ts";
import { recordEvent } from "../../people/events/record-event.ts";
import type { Database, Tx } from "../../platform/db/database.ts";
import { prepared } from "../../platform/db/prepared.ts";

/** A recording is announced at the latest after this long, whether or not its models have finished. */
const maxHoldMs = 3_600_000;

/** Most recordings announced per run; the next run continues. */
const batch = 200;

/** SQL: whether a transcription or a language model run of recording `r` is pending. Failed runs count as finished. */
export const inWork = `(
  exists (select 1 from transcriptions t where t.recording_id = r.id and t.status in ('pending', 'running'))
  or exists (select 1 from intelligence_runs i
    where i.recording_id = r.id and i.status in ('pending', 'running', 'waiting')))`;
const isInWork = sql.raw<boolean>(inWork);

/**
 * Announces a new recording with `recording_added`: immediately when no model run is pending or the workspace is set to,
 * otherwise when its models have finished (`announceReadyRecordings`). Call it in the transaction that creates the
 * recording, after its transcription and its run of the language model were requested: either the event or the hold
 * then exists exactly when the recording does.
 */
export async function announceRecording(
  tx: Tx,
  recording: { readonly id: string; readonly workspaceId: string },
): Promise<void> {
  const { rows } = await sql`
    insert into pending_announcements (recording_id, announce_at)
    select r.id, clock_timestamp() + ${maxHoldMs} * interval '1 millisecond'
    from recordings r join workspaces w on w.id = r.workspace_id
    where r.id = ${recording.id} and w.recording_added = 'when_ready' and ${isInWork}
    returning 1 ${prepared}`.execute(tx);
  if (rows.length === 0) await recordAdded(tx, recording.workspaceId, recording.id);
  await sql`
    insert into awaited_recordings (recording_id)
    select r.id from recordings r where r.id = ${recording.id} and ${isInWork}
    on conflict do nothing ${prepared}`.execute(tx);
}

/**
 * Announces held recordings whose models have finished or failed, or that were held for an hour. Changes of a held
 * recording are recorded here as one `recording_updated` after its `recording_added`. Safe to run in several processes,
 * because each locks the recording.
 * @returns how many were announced.
 */
export async function announceReadyRecordings(db: Database): Promise<number> {
  const { rows: ready } = await sql<{ id: string; workspace_id: string }>`
    select r.id, r.workspace_id from pending_announcements h
      join recordings r on r.id = h.recording_id join workspaces w on w.id = r.workspace_id
    where h.announce_at <= now() or w.recording_added = 'immediately' or not ${isInWork}
    order by h.announce_at limit ${batch} ${prepared}`.execute(db.kysely);
  for (const { id, workspace_id } of ready)
    await db.kysely.transaction().execute(async (tx) => {
      // The lock that every change of the recording takes: a change before it is in the event's data, one after it
      // records its own event.
      await sql`select 1 from recordings where id = ${id} for update`.execute(tx);
      const { rows } = await sql<{ is_changed: boolean }>`
        delete from pending_announcements where recording_id = ${id} returning is_changed`.execute(tx);
      if (rows[0] === undefined) return;
      await recordAdded(tx, workspace_id, id);
      if (rows[0].is_changed)
        await recordEvent(tx, {
          workspaceId: workspace_id,
          type: "recording_updated",
          subjectId: id,
          data: {},
        });
    });
  return ready.length;
}

/**
 * Notifies recorders and participants that the transcription and the summary of a new recording have ended; not of what an
 * import brought. Safe to run in several processes.
 * @returns how many recordings.
 */
export async function notifyOfReadyRecordings(db: Database): Promise<number> {
  const { rows: ready } = await sql<{ id: string }>`
    select r.id from awaited_recordings a join recordings r on r.id = a.recording_id
    where not ${isInWork} order by a.created_at limit ${batch} ${prepared}`.execute(db.kysely);
  for (const { id } of ready)
    await db.kysely.transaction().execute(async (tx) => {
      // Locked in the same order as a deletion does (the recording, then its rows in other tables), to avoid deadlocks.
      await sql`select 1 from recordings where id = ${id} for key share`.execute(tx);
      const { rows } = await sql<{ transcript: string | null; summary: string | null }>`
        with ended as (delete from awaited_recordings where recording_id = ${id} returning recording_id)
        select (select t.status from transcriptions t where t.recording_id = e.recording_id) as transcript,
          (select i.status from intelligence_runs i where i.recording_id = e.recording_id) as summary
        from ended e`.execute(tx);
      const [states] = rows;
      if (states === undefined) return;
      await notify(tx, {
        kind: "recording_ready",
        key: `ready:${id}`,
        to: sql`
          select p.id from recordings r join users p on p.workspace_id = r.workspace_id
          where r.id = ${id} and (
            exists (select 1 from recording_recorders rr where rr.recording_id = r.id and rr.user_id = p.id)
            or exists (select 1 from participants a where a.recording_id = r.id and a.email_key = p.email_key))
            and not exists (select 1 from import_items i join uploads u on u.id = i.upload_id where u.recording_id = r.id)`,
        actorId: null,
        recordingId: id,
        data: { ...states },
      });
    });
  return ready.length;
}

async function recordAdded(tx: Tx, workspaceId: string, recordingId: string): Promise<void> {
  await recordEvent(tx, { workspaceId, type: "recording_added", subjectId: recordingId, data: {} });
}
