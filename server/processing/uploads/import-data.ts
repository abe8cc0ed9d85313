import { randomUUIDv7 } from "node:crypto";
import { sql } from "kysely";
import { record } from "../../people/events/record.ts";
import type { Tx } from "../../platform/db/database.ts";
import type { ImportData, ParticipantExtra } from "../../platform/db/json-columns.ts";
import { insertHighlight } from "../../recordings/highlights/queries.ts";
import type { NewParticipant } from "../../recordings/recordings/create.ts";
import type { UploadRow } from "./queries.ts";

/** Writes the import's own attributes to its recording, before the recording's grants and event. */
export async function applyImportData(
  tx: Tx,
  recordingId: string,
  data: ImportData,
  people: readonly NewParticipant[],
  extras: readonly (ParticipantExtra | undefined)[],
  durationMs: number,
): Promise<void> {
  const screenshares = data.screenshares.flatMap(({ start, end, participant }) => {
    const person = people[participant];
    // A screenshare after the end of the file, or of a participant who is gone, was a mistake of the other system.
    if (person === undefined || start >= durationMs) return [];
    return [{ start, end: Math.min(end, durationMs), participant_id: person.id }];
  });
  const json = (value: object | null) => (value === null ? null : JSON.stringify(value));
  await sql`
    update recordings r set
      source = ${data.source},
      share_state = coalesce(${data.share_state}::text, r.share_state),
      tags = ${data.tags}::text[],
      -- One that was deleted since it was partial for is not chosen.
      meeting_type_id = coalesce(m.id, r.meeting_type_id),
      meeting_type_by_hand = m.id is not null,
      calendar_event = ${json(data.calendar_event)}::jsonb,
      crm = ${json(data.crm)}::jsonb,
      screenshares = ${screenshares.length === 0 ? null : JSON.stringify(screenshares)}::jsonb
    from (select 1) one
    left join lateral (
      select id from meeting_types where id = ${data.meeting_type_id}::uuid for key share) m on true
    where r.id = ${recordingId}`.execute(tx);
  await sql`
    insert into recording_teams (recording_id, team_id)
    select ${recordingId}, id from teams where id = any(${data.team_ids}::uuid[])
    on conflict do nothing`.execute(tx);
  const known = people.map(({ id }, index) => ({ id, ...extras[index] }));
  await sql`
    update participants p set
      crm_contact_id = x.crm_contact_id,
      -- Who did not attend was not there either, unless the import says otherwise.
      confirmed_attendee = coalesce(x.confirmed_attendee, p.confirmed_attendee and x.attended is not false),
      attended = coalesce(x.attended, p.attended),
      observed_join_time = x.observed_join_time,
      observed_leave_time = x.observed_leave_time
    from jsonb_to_recordset(${JSON.stringify(known)}::jsonb) as x (id uuid, crm_contact_id text,
      confirmed_attendee boolean, attended boolean, observed_join_time timestamptz, observed_leave_time timestamptz)
    where p.id = x.id and p.recording_id = ${recordingId}`.execute(tx);
}

/** Saves the private notes that the creator of an import gave with it. */
export async function createImportedNotes(
  tx: Tx,
  { created_by, scope }: Pick<UploadRow, "created_by" | "scope">,
  { notes = null }: ImportData,
  recordingId: string,
): Promise<void> {
  if (notes === null || scope !== "personal") return;
  await tx
    .insertInto("private_notes")
    .values({ recording_id: recordingId, user_id: created_by, text: notes })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Creates the highlights of an import in the name of its creator; those that begin after the end are left out. */
export async function createImportedHighlights(
  tx: Tx,
  upload: Pick<UploadRow, "workspace_id" | "created_by">,
  { highlights = [] }: ImportData,
  { recordingId, durationMs }: { readonly recordingId: string; readonly durationMs: number },
): Promise<void> {
  const { workspace_id, created_by } = upload;
  for (const { text, start, duration, tags } of highlights) {
    if (start >= durationMs) continue;
    const id = randomUUIDv7();
    await insertHighlight(tx, {
      id,
      recording_id: recordingId,
      workspace_id,
      created_by,
      text,
      start_ms: start,
      duration_ms: Math.min(duration, durationMs - start),
      tags: [...tags],
    });
    await record(tx, {
      workspaceId: workspace_id,
      type: "highlight_added",
      subjectId: id,
      recordingId,
      data: { id, recording_id: recordingId },
    });
  }
}
