import { sql } from "kysely";
import { syncGrants } from "../access/grants.ts";
import type { Tx } from "../db/database.ts";
import { record } from "../events/record.ts";
import { forgetEvents } from "../recordings/delete-queries.ts";

/** What stands where a person's name was. */
export const erasedName = "Erased person";

/** What stands where the person's words were. */
const erasedWords = "[erased]";

export interface ErasedFromRecording {
  readonly segments: number;
  readonly hasMedia: boolean;
}

/**
 * Takes a person out of a recording that stays: name, address, phone and what they said, the history of edits that
 * would still show it, what a model wrote of it, and every event and payload made before. The caller has locked the
 * recording.
 */
export async function eraseFromRecording(
  tx: Tx,
  recording: { readonly id: string; readonly workspaceId: string },
  email: string,
): Promise<ErasedFromRecording> {
  const { id } = recording;
  const { rows: people } = await sql<{ id: string; name: string }>`
    select id, name from participants
    where recording_id = ${id} and email_key = lower(${email}) order by id for update`.execute(tx);
  const ids = people.map((person) => person.id);
  const names = people.map((person) => person.name);
  const segments = await sql`
    update transcript_segments set speaker = ${erasedName}, text = ${erasedWords}, original = null
    where recording_id = ${id} and (participant_id = any(${ids}::uuid[])
      or (participant_id is null and speaker = any(${names}::text[])))`.execute(tx);
  await sql`
    update participants set name = ${erasedName}, email = null, phone = null, crm_contact_id = null
    where id = any(${ids}::uuid[])`.execute(tx);
  // The history keeps what texts and names were before each edit.
  await sql`delete from transcript_edits where recording_id = ${id}`.execute(tx);
  await sql`update transcript_segments set original = null
    where recording_id = ${id} and original is not null`.execute(tx);
  await sql`delete from intelligence_steps where recording_id = ${id}`.execute(tx);
  await sql`
    update recordings set
      transcript_version = transcript_version + 1,
      updated_at = now(),
      ai_summary = null,
      ai_action_items = null,
      ai_template_sections = null
    where id = ${id}`.execute(tx);
  await eraseFromUploads(tx, recording.workspaceId, email, id);
  const { rows: highlights } = await sql<{ id: string }>`
    select id from highlights where recording_id = ${id} order by id`.execute(tx);
  await forgetEvents(tx, id, [id, ...highlights.map((highlight) => highlight.id)]);
  await syncGrants(tx, [id]);
  await record(tx, {
    workspaceId: recording.workspaceId,
    type: "recording_updated",
    subjectId: id,
    data: { id },
  });
  const { rows: media } = await sql`select 1 from recording_media where recording_id = ${id}`.execute(tx);
  return { segments: Number(segments.numAffectedRows ?? 0), hasMedia: media.length > 0 };
}

/**
 * Takes a person out of uploads: out of their participants, and the supplied transcript goes once the upload has
 * become a recording.
 * @param recordingId of the recording it became; null: all that became none.
 * @returns how many changed.
 */
export async function eraseFromUploads(
  tx: Tx,
  workspaceId: string,
  email: string,
  recordingId: string | null,
): Promise<number> {
  if (recordingId !== null)
    await sql`
      delete from upload_transcripts where upload_id in (
        select id from uploads where recording_id = ${recordingId})`.execute(tx);
  const changed = await sql`
    update uploads set
      participants = (
        select coalesce(jsonb_agg(case when lower(p ->> 'email') = lower(${email})
          then p || jsonb_build_object('name', ${erasedName}::text, 'email', null, 'phone', null) else p end
          order by place), '[]')
        from jsonb_array_elements(participants) with ordinality as e (p, place)),
      import_data = null,
      updated_at = now()
    where workspace_id = ${workspaceId}
      and recording_id is not distinct from ${recordingId}::uuid
      and exists (
        select 1 from jsonb_array_elements(participants) p where lower(p ->> 'email') = lower(${email}))`.execute(
    tx,
  );
  return Number(changed.numAffectedRows ?? 0);
}
