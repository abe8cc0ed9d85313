import { createHash, randomUUIDv7 } from "node:crypto";
import { sql } from "kysely";
import { recordingLimits } from "../../../../contract/recordings/recordings.ts";
import { foldCase, foldName } from "../../../../shared/fold-case.ts";
import type { Tx } from "../../../platform/db/database.ts";
import type { CalendarEventTimes, CalendarPerson } from "../../../platform/db/json-columns.ts";
import { defaultTitle } from "../../../processing/uploads/api/attributes.ts";
import { removeReferences } from "../../../recordings/participants/participants.ts";
import {
  deriveFromParticipants,
  participantScopes,
} from "../../../recordings/recordings/participant-scope.ts";
import type { Candidate } from "./candidates.ts";

/** What a recording gets from its meeting. The caller has locked the recording, and updates its grants. */
export async function applyMeeting(
  tx: Tx,
  { id: recordingId, workspace_id: workspaceId }: { readonly id: string; readonly workspace_id: string },
  event: Candidate,
  chosenBy: string | null,
): Promise<void> {
  const recording = await tx
    .selectFrom("recordings")
    .select(["title", "default_title", "calendar_event", "source", "media_type", "start_datetime"])
    .select(sql<string | null>`calendar_event ->> 'ical_uid'`.as("named_uid"))
    .where("id", "=", recordingId)
    .executeTakeFirstOrThrow();
  const isNamed = recording.named_uid !== null && recording.named_uid === event.ical_uid;
  /** The Record button filled in the fields from this meeting. */
  const isFilledIn = isNamed && recording.source === "local_capture";
  const isTitleTaken =
    event.title !== null &&
    ((isFilledIn && recording.title === event.title) || (await hasGeneratedTitle(tx, recordingId)));
  const title = isTitleTaken ? event.title : null;
  const fallback = recording.default_title ?? defaultTitle(recording.media_type, recording.start_datetime);
  const times: CalendarEventTimes = {
    ical_uid: event.ical_uid,
    scheduled_start_datetime: event.start_at.toISOString(),
    scheduled_end_datetime: event.end_at.toISOString(),
  };
  await tx
    .updateTable("recordings")
    .set({
      calendar_event: JSON.stringify(times),
      ...(title === null ? {} : { title, default_title: fallback }),
    })
    .where("id", "=", recordingId)
    .execute();
  const filledInIds = isFilledIn ? await findFilledIn(tx, recordingId, event) : [];
  const participantIds = await addParticipants(tx, recordingId, workspaceId, event, chosenBy === null);
  await deriveFromParticipants(tx, recordingId);
  const noteUserIds = await addNotes(tx, recordingId, workspaceId, event.key, chosenBy);
  // One that names this meeting came from it, so undoing doesn't bring it back.
  const before = recording.calendar_event;
  const row = {
    state: "matched" as const,
    is_chosen: chosenBy !== null,
    event_key: event.key,
    title_hash: title === null ? null : hashOf(title),
    participant_ids: participantIds,
    filled_in_participant_ids: filledInIds,
    previous_event: before === null || isNamed ? null : JSON.stringify(before),
    applied_event: JSON.stringify(times),
    note_user_ids: noteUserIds,
  };
  await tx
    .insertInto("recording_meetings")
    .values({ recording_id: recordingId, ...row })
    .onConflict((conflict) => conflict.column("recording_id").doUpdateSet(row))
    .execute();
}

/** The participants that are invited to the meeting. */
async function findFilledIn(
  tx: Tx,
  recordingId: string,
  { organizer, attendees }: Pick<Candidate, "organizer" | "attendees">,
): Promise<string[]> {
  const invited = [...attendees, ...(organizer === null ? [] : [organizer])];
  const keys = new Set(
    invited.map(({ name, email }) => (email === null ? foldName(name ?? "") : foldCase(email))),
  );
  const present = await tx
    .selectFrom("participants")
    .select(["id", "name", "email"])
    .where("recording_id", "=", recordingId)
    .execute();
  return present
    .filter(({ name, email }) => keys.has(email === null ? foldName(name) : foldCase(email)))
    .map(({ id }) => id);
}

function hashOf(title: string): Buffer {
  return createHash("sha256").update(title).digest();
}

/** Whether the title is the one a recording has that nobody gave one, or a language model wrote it. */
export async function hasGeneratedTitle(tx: Tx, recordingId: string): Promise<boolean> {
  const { rows } = await sql<{ is: boolean }>`
    select r.title = r.default_title or exists (
      select 1 from intelligence_runs i where i.recording_id = r.id and i.written_title = r.title) as is
    from recordings r where r.id = ${recordingId}`.execute(tx);
  return rows[0]?.is ?? false;
}

/** Adds the invited people who are not among the participants yet. Whether they attended is not known. */
async function addParticipants(
  tx: Tx,
  recordingId: string,
  workspaceId: string,
  { organizer, attendees }: Pick<Candidate, "organizer" | "attendees">,
  isInvited: boolean,
): Promise<string[]> {
  const present = await tx
    .selectFrom("participants")
    .select(["name", "email", "position"])
    .where("recording_id", "=", recordingId)
    .execute();
  const known = new Set(present.flatMap(({ name, email }) => [foldCase(email ?? ""), foldName(name)]));
  const people: CalendarPerson[] = [];
  for (const person of [organizer, ...attendees.filter(({ declined }) => declined !== true)]) {
    if (person === null || people.length + present.length >= recordingLimits.participants) continue;
    const email = person.email === null ? null : foldCase(person.email);
    const name = person.name === null ? null : foldName(person.name);
    // Two people may have one name, but not one email.
    const hasName = name !== null && known.has(name) && (email === null || isNameless(present, name));
    if (hasName || (email !== null && known.has(email))) continue;
    if (email !== null) known.add(email);
    people.push(person);
  }
  if (people.length === 0) return [];
  const scopes = await participantScopes(
    tx,
    workspaceId,
    people.map(({ email }) => email),
  );
  const next = Math.max(-1, ...present.map(({ position }) => position)) + 1;
  const rows = people.map(({ name, email }, index) => ({
    id: randomUUIDv7(),
    recording_id: recordingId,
    workspace_id: workspaceId,
    position: next + index,
    name: name ?? email ?? "",
    email,
    scope: scopes[index] ?? "unknown",
    confirmed_attendee: false,
    attended: false,
    is_invited: isInvited,
  }));
  await tx.insertInto("participants").values(rows).execute();
  return rows.map(({ id }) => id);
}

/** Whether a participant of this name has no email, who is probably the invited person of this name. */
function isNameless(
  present: readonly { readonly name: string; readonly email: string | null }[],
  name: string,
): boolean {
  return present.some((one) => one.email === null && foldName(one.name) === name);
}

/** Gives recorders, and the user who chose the meeting, their notes for it as private notes. @returns who got some. */
async function addNotes(
  tx: Tx,
  recordingId: string,
  workspaceId: string,
  eventKey: string,
  chosenBy: string | null,
): Promise<string[]> {
  const { rows } = await sql<{ user_id: string }>`
    insert into private_notes (recording_id, user_id, text)
    select distinct on (n.user_id) ${recordingId}::uuid, n.user_id, n.text
    from meeting_notes n join calendars c on c.id = n.calendar_id
    where c.workspace_id = ${workspaceId} and n.event_key = ${eventKey} and (n.user_id = ${chosenBy}::uuid or exists (
      select 1 from recording_recorders rr where rr.recording_id = ${recordingId} and rr.user_id = n.user_id))
    order by n.user_id, n.calendar_id
    on conflict do nothing returning user_id`.execute(tx);
  return rows.map((row) => row.user_id);
}

/** SQL: recording `r` has the title of its meeting `m` still. */
export const hasTitle = sql<boolean | null>`sha256(convert_to(r.title, 'UTF8')) = m.title_hash`;

/** SQL: recording `r` has the scheduled times of its meeting `m` still. */
export const hasTimes = sql<boolean | null>`r.calendar_event = m.applied_event`;

/** SQL: the participants that a recording has from its meeting `m`. */
export const partIds = sql<string[]>`(m.participant_ids || m.filled_in_participant_ids)`;

/**
 * Removes what a recording has from its meeting, and not what users have changed since. The caller has locked the recording,
 * and updates its grants. @returns whether anything changed.
 */
export async function removeMeeting(tx: Tx, recordingId: string): Promise<boolean> {
  const match = await tx
    .selectFrom("recording_meetings")
    .selectAll()
    .where("recording_id", "=", recordingId)
    .executeTakeFirst();
  if (match?.state !== "matched") return false;
  await sql`
    update recordings r set
      title = case when ${hasTitle} then coalesce(r.default_title, r.title) else r.title end,
      calendar_event = case when ${hasTimes} then m.previous_event else r.calendar_event end
    from recording_meetings m where r.id = ${recordingId} and m.recording_id = r.id`.execute(tx);
  const { rows } = await sql<{ id: string }>`
    delete from participants p
    where p.recording_id = ${recordingId}
      and (p.id = any(${match.filled_in_participant_ids}::uuid[])
        or p.id = any(${match.participant_ids}::uuid[]) and not p.attended and not p.confirmed_attendee)
      and not exists (select 1 from transcript_segments s
        where s.recording_id = p.recording_id and s.participant_id = p.id)
      and not exists (select 1 from recordings r, jsonb_array_elements(r.ai_action_items) i
        where r.id = p.recording_id and i #>> '{assignee,id}' = p.id::text)
    returning p.id`.execute(tx);
  for (const { id } of rows) await removeReferences(tx, recordingId, id);
  await sql`
    delete from private_notes p
    where p.recording_id = ${recordingId} and p.user_id = any(${match.note_user_ids}::uuid[]) and exists (
      select 1 from meeting_notes n where n.user_id = p.user_id and n.event_key = ${match.event_key} and n.text = p.text)`.execute(
    tx,
  );
  await deriveFromParticipants(tx, recordingId);
  return true;
}
