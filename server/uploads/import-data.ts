import { sql } from "kysely";
import type { Tx } from "../db/database.ts";
import type { MediaExpectation } from "../media/facts.ts";
import type { NewParticipant } from "../recordings/create.ts";

/** What an import says of a participant beyond what an upload does. */
export interface ParticipantExtra {
  readonly crm_contact_id?: string | null;
  readonly confirmed_attendee?: boolean;
  readonly attended?: boolean;
  /** As the service writes timestamps. */
  readonly observed_join_time?: string | null;
  readonly observed_leave_time?: string | null;
}

/** What an import says beyond the attributes of an upload, as it is kept with the upload. */
export interface ImportData {
  /** The form of its file; null for a transcript alone. */
  readonly format: Extract<MediaExpectation, { kind: "one_step" }>["extension"] | null;
  /** Where its file lies in the store; null: it is sent. */
  readonly media_key: string | null;
  readonly source: string;
  readonly share_state: string | null;
  readonly tags: readonly string[];
  readonly team_ids: readonly string[];
  /** Chosen by hand; null: by the participants. */
  readonly meeting_type_id: string | null;
  readonly calendar_event: object | null;
  readonly crm: object | null;
  /** `participant` is a place among the participants. */
  readonly screenshares: readonly { start: number; end: number; participant: number }[];
}

/** Writes what an import says into the recording it becomes, before its grants and its event. */
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
    // What lies after the end of the file, or names nobody any more, was a mistake on the other side.
    if (person === undefined || start >= durationMs) return [];
    return [{ start, end: Math.min(end, durationMs), participant_id: person.id }];
  });
  const json = (value: object | null) => (value === null ? null : JSON.stringify(value));
  await sql`
    update recordings r set
      source = ${data.source},
      share_state = coalesce(${data.share_state}::text, r.share_state),
      tags = ${data.tags}::text[],
      -- One that was deleted since it was looked for is not chosen.
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
      confirmed_attendee = coalesce(x.confirmed_attendee, p.confirmed_attendee),
      attended = coalesce(x.attended, p.attended),
      observed_join_time = x.observed_join_time,
      observed_leave_time = x.observed_leave_time
    from jsonb_to_recordset(${JSON.stringify(known)}::jsonb) as x (id uuid, crm_contact_id text,
      confirmed_attendee boolean, attended boolean, observed_join_time timestamptz, observed_leave_time timestamptz)
    where p.id = x.id and p.recording_id = ${recordingId}`.execute(tx);
}
