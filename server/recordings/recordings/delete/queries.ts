import { sql } from "kysely";
import type { Tx } from "../../../platform/db/database.ts";

/** Principals that can see a recording; they receive its `recording_deleted`. */
export async function findAudience(tx: Tx, recordingId: string): Promise<string[]> {
  const rows = await tx
    .selectFrom("recording_grants")
    .select("principal_id")
    .distinct()
    .where("recording_id", "=", recordingId)
    .execute();
  return rows.map((row) => row.principal_id);
}

/** Whether the recording, which the caller has locked, is under legal hold. */
export async function isHeld(tx: Tx, recordingId: string): Promise<boolean> {
  const hold = await tx
    .selectFrom("legal_holds")
    .select("recording_id")
    .where("recording_id", "=", recordingId)
    .executeTakeFirst();
  return hold !== undefined;
}

/** Whether the recording, which the caller has locked, is in the trash. */
export async function isInTrash(tx: Tx, recordingId: string): Promise<boolean> {
  const trashed = await tx
    .selectFrom("trashed_recordings")
    .select("recording_id")
    .where("recording_id", "=", recordingId)
    .executeTakeFirst();
  return trashed !== undefined;
}

/** Locks the highlights of a recording in the order of their ids, as every transaction does. */
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

/** Deletes the upload a recording was created from, with its attributes and transcript. @returns the deleted ids. */
export async function deleteUploadsOf(tx: Tx, recordingId: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    delete from uploads where recording_id = ${recordingId} or planned_recording_id = ${recordingId}
    returning id`.execute(tx);
  return rows.map((row) => row.id);
}

/**
 * Deletes waiting jobs of a recording or its uploads. A running job is left alone: it finds nothing to do and ends.
 */
export async function deleteJobsOf(tx: Tx, ids: readonly string[]): Promise<void> {
  await sql`
    delete from jobs where key = any(${ids}::text[]) and run_id is null`.execute(tx);
}

/** How many rows of each table were deleted with a recording. */
export interface DeletedRows {
  readonly recordings: number;
  readonly participants: number;
  readonly transcript_segments: number;
  readonly highlights: number;
  readonly private_notes: number;
  readonly transcript_edits: number;
}

/**
 * Deletes a recording and its dependent rows. Counted tables are deleted explicitly: segments before participants, whose
 * deletion would otherwise update every segment; a transcription before its chunks, in the order its job locks them.
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
