import { sql } from "kysely";
import type { Tx } from "../../platform/db/database.ts";
import { areInternal, type NewParticipant } from "./create.ts";

/**
 * The scope of participants by their emails: internal for an email of the workspace's domains or users, external for any
 * other, unknown without a valid email.
 * @returns a scope for each email, in their order.
 */
export async function participantScopes(
  tx: Tx,
  workspaceId: string,
  emails: readonly (string | null)[],
): Promise<NewParticipant["scope"][]> {
  const internal = await areInternal(tx, workspaceId, emails);
  return emails.map((email, index) => {
    if (email === null || !/@[^\s@]+$/.test(email)) return "unknown";
    return internal[index] ? "internal" : "external";
  });
}

/**
 * Updates what is derived from the participants of a locked recording: whether someone external took part,
 * and the meeting type, where nobody has chosen one. A type that is not the default of the other scope was chosen in
 * some way, and stays.
 */
export async function deriveFromParticipants(tx: Tx, recordingId: string): Promise<void> {
  await sql`
    update recordings r set external = d.external,
      meeting_type_id = case
        when r.meeting_type_by_hand then r.meeting_type_id
        when r.meeting_type_id is null or exists (
          select 1 from meeting_types m
          where m.id = r.meeting_type_id and m.is_default and m.scope <> d.scope
        ) then (
          select m.id from meeting_types m
          where m.workspace_id = r.workspace_id and m.is_default and m.scope = d.scope)
        else r.meeting_type_id
      end
    from (
      select external, case when external then 'external' else 'internal' end as scope
      from (select exists (
        select 1 from participants p
        where p.recording_id = ${recordingId} and p.scope = 'external') as external) e
    ) d
    where r.id = ${recordingId}`.execute(tx);
}

/** Goes back to choosing the meeting type by the participants. */
export async function chooseMeetingTypeByParticipants(tx: Tx, recordingId: string): Promise<void> {
  await sql`
    update recordings set meeting_type_by_hand = false, meeting_type_id = null
    where id = ${recordingId}`.execute(tx);
  await deriveFromParticipants(tx, recordingId);
}
