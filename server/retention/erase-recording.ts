import { sql } from "kysely";
import { syncGrants } from "../access/grants.ts";
import type { Config } from "../config.ts";
import type { Tx } from "../db/database.ts";
import { record } from "../events/record.ts";
import { requestUnderstanding } from "../intelligence/index.ts";
import type { JobQueue } from "../jobs/queue.ts";
import { reportHighlights } from "../transcripts/highlights.ts";
import { eraseFromFinished, nameKey } from "./erase-uploads.ts";
import { erasedName, erasedWords, type Person } from "./person.ts";
import { renewDeliveries } from "./renew-deliveries.ts";

export interface ErasedFromRecording {
  readonly segments: number;
  readonly uploads: number;
  readonly hasMedia: boolean;
  /** Somebody speaks of whom nobody knows who it is. */
  readonly hasUnknownSpeakers: boolean;
}

/**
 * Takes a person out of a recording that stays: name, address, phone and what they said, the history of edits that
 * would still show it, what a model wrote of it, and what was rendered of it for hooks. The caller has locked the
 * recording, and before it the membership.
 * @returns null when they are not in it any more.
 */
export async function eraseFromRecording(
  tx: Tx,
  { jobs, config }: { readonly jobs: JobQueue; readonly config: Pick<Config, "languageModel"> },
  recordingId: string,
  { workspaceId, email, names: accountNames }: Person,
): Promise<ErasedFromRecording | null> {
  const { rows: people } = await sql<{ id: string; name: string }>`
    select id, name from participants
    where recording_id = ${recordingId} and email_key = lower(${email}) order by id for update`.execute(tx);
  if (people.length === 0) return null;
  const ids = people.map((person) => person.id);
  const names = new Set([...people.map((person) => person.name), ...accountNames].map(nameKey));
  const spoken = await eraseWords(tx, recordingId, ids, names);
  await sql`
    update participants set name = ${erasedName}, email = null, phone = null, crm_contact_id = null
    where id = any(${ids}::uuid[])`.execute(tx);
  const uploadIds = await eraseFromFinished(tx, recordingId, email, names);
  // What was rendered before shows the person; what is recorded from here on does not.
  await renewDeliveries(tx, [recordingId], uploadIds);
  const hadRun = await forgetUnderstanding(tx, recordingId);
  await sql`
    update recordings set transcript_version = transcript_version + 1, updated_at = clock_timestamp()
    where id = ${recordingId}`.execute(tx);
  await syncGrants(tx, [recordingId]);
  await reportHighlights(tx, recordingId, spoken);
  await record(tx, { workspaceId, type: "recording_updated", subjectId: recordingId, data: {} });
  // Of what is left. A run under way finds another transcript, and begins again.
  if (hadRun) await requestUnderstanding(tx, jobs, config, { id: recordingId, workspaceId });
  return {
    segments: spoken.length,
    uploads: uploadIds.length,
    ...(await findRemains(tx, recordingId)),
  };
}

/** @returns when the person spoke. */
async function eraseWords(
  tx: Tx,
  recordingId: string,
  participantIds: readonly string[],
  names: ReadonlySet<string>,
): Promise<{ start_ms: number; end_ms: number }[]> {
  // One that is under way would write what they say after this; it can be asked for again.
  await sql`delete from transcriptions where recording_id = ${recordingId} and status <> 'done'`.execute(tx);
  const { rows: speakers } = await sql<{ speaker: string }>`
    select distinct speaker from transcript_segments
    where recording_id = ${recordingId} and participant_id is null`.execute(tx);
  const theirs = speakers.map(({ speaker }) => speaker).filter((speaker) => names.has(nameKey(speaker)));
  const { rows } = await sql<{ start_ms: number; end_ms: number }>`
    update transcript_segments set speaker = ${erasedName}, text = ${erasedWords}, original = null
    where recording_id = ${recordingId} and (participant_id = any(${participantIds}::uuid[])
      or (participant_id is null and speaker = any(${theirs}::text[])))
    returning start_ms, end_ms`.execute(tx);
  // The history keeps what texts and names were before each edit, also where others are said to speak now.
  await sql`delete from transcript_edits where recording_id = ${recordingId}`.execute(tx);
  await sql`
    update transcript_segments set original = null
    where recording_id = ${recordingId} and original is not null`.execute(tx);
  await sql`
    update highlights set transcript = '', speakers = '{}'
    where recording_id = ${recordingId} and (transcript <> '' or speakers <> '{}')`.execute(tx);
  return rows;
}

/**
 * Removes what a model made of the recording, and answers it has given in a run that is not finished.
 * @returns whether it was ever asked.
 */
async function forgetUnderstanding(tx: Tx, recordingId: string): Promise<boolean> {
  const run = await tx
    .deleteFrom("intelligence_runs")
    .where("recording_id", "=", recordingId)
    .returning("written_title")
    .executeTakeFirst();
  await sql`
    update recordings set ai_summary = null, ai_action_items = null, ai_template_sections = null,
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
