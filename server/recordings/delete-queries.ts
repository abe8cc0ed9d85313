import { sql } from "kysely";
import type { Tx } from "../db/database.ts";

/** Principals that see a recording, also those that will be asked for when it is gone. */
export async function findAudience(tx: Tx, recordingId: string): Promise<string[]> {
  const rows = await tx
    .selectFrom("recording_grants")
    .select("principal_id")
    .distinct()
    .where("recording_id", "=", recordingId)
    .execute();
  return rows.map((row) => row.principal_id);
}

/** Whether a legal hold keeps the recording, which the caller has locked. */
export async function isHeld(tx: Tx, recordingId: string): Promise<boolean> {
  const hold = await tx
    .selectFrom("legal_holds")
    .select("recording_id")
    .where("recording_id", "=", recordingId)
    .executeTakeFirst();
  return hold !== undefined;
}

/** Locks the highlights of a recording, in the order of their ids, as everywhere. */
export async function lockHighlightsOf(tx: Tx, recordingId: string): Promise<string[]> {
  const rows = await tx
    .selectFrom("highlights")
    .select("id")
    .where("recording_id", "=", recordingId)
    .orderBy("id")
    .forUpdate()
    .execute();
  return rows.map((row) => row.id);
}

/** Removes the upload a recording came from, with its attributes and transcript. @returns ids of what was removed. */
export async function deleteUploadsOf(tx: Tx, recordingId: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    delete from uploads where recording_id = ${recordingId} or planned_recording_id = ${recordingId}
    returning id`.execute(tx);
  return rows.map((row) => row.id);
}

/** What of the outbox and the deliveries was removed. */
export interface ForgottenEvents {
  readonly events: number;
  readonly deliveries: number;
}

/**
 * Removes the events of a recording and everything that was or would be sent of them. Deliveries stay in the log as
 * what happened, without payload and without what the receiver answered, which may repeat it; those that wait are
 * withheld.
 * @param subjectIds the recording, its highlights, its uploads.
 */
export async function forgetEvents(
  tx: Tx,
  recordingId: string,
  subjectIds: readonly string[],
): Promise<ForgottenEvents> {
  // Locked first: whoever is making deliveries of them has then either finished, or finds them gone.
  const { rows: events } = await sql<{ id: string }>`
    select id from events
    where recording_id = ${recordingId} or subject_id = any(${subjectIds}::uuid[])
    order by id for update`.execute(tx);
  const eventIds = events.map((event) => event.id);
  await sql`select parley_unpack_events(${eventIds}::bigint[])`.execute(tx);
  const { rows: deliveries } = await sql<{ id: string }>`
    select id from deliveries
    where event_id = any(${eventIds}::bigint[])
    order by id for update`.execute(tx);
  const deliveryIds = deliveries.map((delivery) => delivery.id);
  await sql`
    update deliveries set payload = null, first_answer = null, event_id = null,
      settled_at = case when state = 'pending' then clock_timestamp() else settled_at end,
      state = case when state = 'pending' then 'withheld' else state end
    where id = any(${deliveryIds}::bigint[])`.execute(tx);
  await sql`
    update delivery_attempts set answer = null
    where delivery_id = any(${deliveryIds}::bigint[]) and answer is not null`.execute(tx);
  await sql`delete from events where id = any(${eventIds}::bigint[])`.execute(tx);
  return { events: eventIds.length, deliveries: deliveryIds.length };
}

/**
 * Removes jobs about a recording or its uploads, which the queue else keeps for a while after they have ended. One
 * that runs is left to end by itself: it finds nothing to do.
 */
export async function deleteJobsOf(tx: Tx, ids: readonly string[]): Promise<void> {
  await sql`
    delete from pgboss.job where singleton_key = any(${ids}::text[]) and state <> 'active'`.execute(tx);
}

/** How many rows of each kind went with a recording. */
export interface DeletedRows {
  readonly recordings: number;
  readonly participants: number;
  readonly transcript_segments: number;
  readonly highlights: number;
  readonly private_notes: number;
  readonly transcript_edits: number;
}

/**
 * Removes a recording with all that hangs on it. What is counted is removed by name: segments before participants, or
 * each of them would be rewritten first; a transcription before its pieces, as its job locks them.
 */
export async function deleteRecordingRows(tx: Tx, recordingId: string): Promise<DeletedRows> {
  const remove = async (
    table:
      | "transcript_segments"
      | "participants"
      | "highlights"
      | "private_notes"
      | "transcript_edits"
      | "transcriptions",
  ): Promise<number> => {
    const result = await tx.deleteFrom(table).where("recording_id", "=", recordingId).executeTakeFirst();
    return Number(result.numDeletedRows);
  };
  await remove("transcriptions");
  const counts = {
    transcript_segments: await remove("transcript_segments"),
    participants: await remove("participants"),
    highlights: await remove("highlights"),
    private_notes: await remove("private_notes"),
    transcript_edits: await remove("transcript_edits"),
  };
  const result = await tx.deleteFrom("recordings").where("id", "=", recordingId).executeTakeFirst();
  return { recordings: Number(result.numDeletedRows), ...counts };
}
