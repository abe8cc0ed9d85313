import { sql } from "kysely";
import { foldName } from "../../../../shared/fold-case.ts";
import { syncGrants } from "../../../people/access/grants.ts";
import { redactDeliveries } from "../../../people/events/delete.ts";
import { recordEvent } from "../../../people/events/record-event.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { Tx } from "../../../platform/db/database.ts";
import type { JobQueue } from "../../../platform/jobs/queue.ts";
import { requestSummary } from "../../../processing/intelligence/index.ts";
import { reportHighlights } from "../../../recordings/transcripts/highlights.ts";
import { type DataSubject, erasedName, erasedWords } from "./data-subject.ts";
import { eraseFromFinished } from "./erase-uploads.ts";

export interface ErasedFromRecording {
  readonly segments: number;
  readonly uploads: number;
  readonly hasMedia: boolean;
  /** The recording has unidentified speakers, who may be the person. */
  readonly hasUnknownSpeakers: boolean;
}

/**
 * Redacts a person from a recording that is kept: name, email, phone number, their words, the edit history that contains
 * them, AI output about the recording, and rendered payloads for hooks. The caller has locked the membership and then
 * the recording.
 * @returns null when the person is no longer in the recording.
 */
export async function eraseFromRecording(
  tx: Tx,
  { jobs, config }: { readonly jobs: JobQueue; readonly config: Pick<Config, "languageModel" | "dataDir"> },
  recordingId: string,
  { workspaceId, email, names: accountNames }: DataSubject,
): Promise<ErasedFromRecording | null> {
  const { rows: participants } = await sql<{ id: string; name: string }>`
    select id, name from participants
    where recording_id = ${recordingId} and email_key = parley_lower(${email}) order by id for update`.execute(
    tx,
  );
  if (participants.length === 0) return null;
  const ids = participants.map((participant) => participant.id);
  const names = new Set(
    [...participants.map((participant) => participant.name), ...accountNames].map(foldName),
  );
  const spoken = await eraseWords(tx, recordingId, ids, names);
  // Any of the unnamed voices may be the person's.
  await sql`delete from recording_voices where recording_id = ${recordingId}`.execute(tx);
  await sql`
    update participants set name = ${erasedName}, email = null, phone = null, crm_contact_id = null
    where id = any(${ids}::uuid[])`.execute(tx);
  const uploadIds = await eraseFromFinished(tx, recordingId, email, names);
  // Payloads rendered before contain the person; events recorded from here on do not.
  await redactDeliveries(tx, [recordingId], uploadIds);
  const hadRun = await deleteModelOutput(tx, recordingId);
  await sql`
    update recordings set transcript_version = transcript_version + 1, updated_at = clock_timestamp()
    where id = ${recordingId}`.execute(tx);
  await syncGrants(tx, [recordingId]);
  await reportHighlights(tx, recordingId, spoken);
  await recordEvent(tx, { workspaceId, type: "recording_updated", subjectId: recordingId, data: {} });
  // From the remaining text. A run in progress finds a changed transcript and starts again.
  if (hadRun) await requestSummary(tx, jobs, config, { id: recordingId, workspaceId });
  return {
    segments: spoken.length,
    uploads: uploadIds.length,
    ...(await findRemains(tx, recordingId)),
  };
}

/** @returns the time ranges in which the person spoke. */
async function eraseWords(
  tx: Tx,
  recordingId: string,
  participantIds: readonly string[],
  names: ReadonlySet<string>,
): Promise<{ start_ms: number; end_ms: number }[]> {
  // A transcription in progress would write their words afterwards; it can be requested again.
  await sql`delete from transcriptions where recording_id = ${recordingId} and status <> 'done'`.execute(tx);
  // The vocabulary of a finished one contains the participants' names.
  await sql`update transcriptions set used = null where recording_id = ${recordingId}`.execute(tx);
  const { rows: speakers } = await sql<{ speaker: string }>`
    select distinct speaker from transcript_segments
    where recording_id = ${recordingId} and participant_id is null`.execute(tx);
  const theirs = speakers.map(({ speaker }) => speaker).filter((speaker) => names.has(foldName(speaker)));
  const { rows } = await sql<{ start_ms: number; end_ms: number }>`
    update transcript_segments set speaker = ${erasedName}, text = ${erasedWords}, original = null, word_times = null
    where recording_id = ${recordingId} and (participant_id = any(${participantIds}::uuid[])
      or (participant_id is null and speaker = any(${theirs}::text[])))
    returning start_ms, end_ms`.execute(tx);
  // The history contains texts and names from before each edit, even of lines that others speak now.
  await sql`delete from transcript_edits where recording_id = ${recordingId}`.execute(tx);
  await sql`
    update transcript_segments set original = null,
      -- The times belong to the words before the correction.
      word_times = case when original ? 'text' then null else word_times end
    where recording_id = ${recordingId} and original is not null`.execute(tx);
  await sql`
    update highlights set transcript = '', speakers = '{}'
    where recording_id = ${recordingId} and (transcript <> '' or speakers <> '{}')`.execute(tx);
  return rows;
}

/**
 * Deletes AI output about the recording, including responses of an unfinished run.
 * @returns whether there was any.
 */
async function deleteModelOutput(tx: Tx, recordingId: string): Promise<boolean> {
  await tx.deleteFrom("ask_statements").where("recording_id", "=", recordingId).execute();
  const run = await tx
    .deleteFrom("intelligence_runs")
    .where("recording_id", "=", recordingId)
    .returning("written_title")
    .executeTakeFirst();
  await sql`
    update recordings set ai_summary = null, ai_summary_points = null, ai_action_items = null,
      ai_template_sections = null, ai_chapters = null, chapters_by_hand = false,
      title = case when title = ${run?.written_title ?? null}::text then coalesce(default_title, title) else title end
    where id = ${recordingId}`.execute(tx);
  return run !== undefined;
}

async function findRemains(
  tx: Tx,
  recordingId: string,
): Promise<{ hasMedia: boolean; hasUnknownSpeakers: boolean }> {
  const { rows } = await sql<{ has_media: boolean; has_unknown: boolean }>`
    select exists (select 1 from recording_media where recording_id = ${recordingId}) as has_media,
      exists (select 1 from transcript_segments where recording_id = ${recordingId}
        and participant_id is null and speaker <> ${erasedName}) as has_unknown`.execute(tx);
  return { hasMedia: rows[0]?.has_media ?? false, hasUnknownSpeakers: rows[0]?.has_unknown ?? false };
}
