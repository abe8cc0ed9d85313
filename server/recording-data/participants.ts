import { randomUUIDv7 } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { type Selectable, sql } from "kysely";
import {
  leaveRule,
  leavesAfterJoining,
  nameRule,
  type ParticipantChanges,
  type ParticipantInput,
} from "../../contract/participants.ts";
import { most, toTimestamp } from "../../contract/recording-data.ts";
import type { Principal } from "../access/principal.ts";
import type { Database, Tx } from "../db/database.ts";
import type { Participants } from "../db/types.ts";
import { invalidInput, ProblemError } from "../http/problem.ts";
import { deriveFromParticipants, participantScopes } from "../recordings/participant-scope.ts";
import { findIdentities, findPeople, nextVersion } from "../transcripts/queries.ts";
import { planRename } from "../transcripts/speakers.ts";
import { editorOf, writeEdit } from "../transcripts/write-edit.ts";
import { changeRecording } from "./change.ts";
import { findDataFaults } from "./faults.ts";

type Row = Pick<
  Selectable<Participants>,
  | "name"
  | "email"
  | "phone"
  | "crm_contact_id"
  | "confirmed_attendee"
  | "attended"
  | "observed_join_time"
  | "observed_leave_time"
>;

/** Adds somebody who took part. @returns the id. */
export function createParticipant(
  db: Database,
  principal: Principal,
  recordingId: string,
  input: ParticipantInput,
): Promise<string> {
  return changeRecording(db, principal, recordingId, async (tx, { workspace_id }) => {
    await refuseFaults(tx, workspace_id, recordingId, input);
    const { count, next } = await findRoom(tx, recordingId);
    if (count >= most.participants)
      throw new ProblemError(
        "wrong_state",
        `the recording has ${count} participants, which is the most; delete one first`,
      );
    const row = applyTo(
      {
        name: "",
        email: null,
        phone: null,
        crm_contact_id: null,
        confirmed_attendee: false,
        attended: true,
        observed_join_time: null,
        observed_leave_time: null,
      },
      input,
    );
    const [scope = "unknown"] = await participantScopes(tx, workspace_id, [row.email]);
    const id = randomUUIDv7();
    await tx
      .insertInto("participants")
      .values({ id, recording_id: recordingId, workspace_id, position: next, scope, ...row })
      .execute();
    await deriveFromParticipants(tx, recordingId);
    return { changed: true, result: id };
  });
}

/** Changes what is given of a participant. A new name is also that of the speaker in the transcript. */
export function updateParticipant(
  db: Database,
  principal: Principal,
  recordingId: string,
  participantId: string,
  input: ParticipantChanges,
): Promise<string> {
  return changeRecording(db, principal, recordingId, async (tx, { workspace_id }) => {
    await refuseFaults(tx, workspace_id, recordingId, input);
    const before = await findParticipant(tx, recordingId, participantId);
    const row = applyTo(before, input);
    if (row.name === "") throw invalidInput([{ pointer: "/name", detail: nameRule }]);
    const times = {
      observed_join_time: row.observed_join_time?.toISOString(),
      observed_leave_time: row.observed_leave_time?.toISOString(),
    };
    if (!leavesAfterJoining(times)) {
      const field = input.observed_leave_time == null ? "observed_join_time" : leaveRule.path[0];
      const detail =
        field === "observed_join_time" ? "must be before observed_leave_time" : leaveRule.message;
      throw invalidInput([{ pointer: `/${field}`, detail }]);
    }
    if (isDeepStrictEqual(row, before)) return { changed: false, result: participantId };
    if (row.name !== before.name) await rename(tx, principal, recordingId, participantId, row.name);
    const [scope = "unknown"] = await participantScopes(tx, workspace_id, [row.email]);
    await tx
      .updateTable("participants")
      .set({ ...row, scope })
      .where("id", "=", participantId)
      .execute();
    await deriveFromParticipants(tx, recordingId);
    return { changed: true, result: participantId };
  });
}

/** Removes a participant: what they said stays under their name, and what shows them on the screen goes. */
export function deleteParticipant(
  db: Database,
  principal: Principal,
  recordingId: string,
  participantId: string,
): Promise<{ success: true }> {
  return changeRecording(db, principal, recordingId, async (tx) => {
    await findParticipant(tx, recordingId, participantId);
    const { rows } = await sql`
      select 1 from transcript_segments where participant_id = ${participantId} limit 1`.execute(tx);
    // The transcript names participants, so one that is rendered already is not true any more.
    if (rows.length > 0) await nextVersion(tx, recordingId);
    await tx.deleteFrom("participants").where("id", "=", participantId).execute();
    await forgetIn(tx, recordingId, participantId);
    await deriveFromParticipants(tx, recordingId);
    return { changed: true, result: { success: true } };
  });
}

async function refuseFaults(
  tx: Tx,
  workspaceId: string,
  recordingId: string,
  input: ParticipantChanges,
): Promise<void> {
  const faults = await findDataFaults(tx, workspaceId, recordingId, input);
  if (faults.length > 0) throw invalidInput(faults);
}

async function findRoom(tx: Tx, recordingId: string): Promise<{ count: number; next: number }> {
  const { rows } = await sql<{ count: number; next: number }>`
    select count(*)::integer as count, coalesce(max(position) + 1, 0)::integer as next
    from participants where recording_id = ${recordingId}`.execute(tx);
  return rows[0] ?? { count: 0, next: 0 };
}

async function findParticipant(tx: Tx, recordingId: string, participantId: string): Promise<Row> {
  const row = await tx
    .selectFrom("participants")
    .select([
      "name",
      "email",
      "phone",
      "crm_contact_id",
      "confirmed_attendee",
      "attended",
      "observed_join_time",
      "observed_leave_time",
    ])
    .where("id", "=", participantId)
    .where("recording_id", "=", recordingId)
    .executeTakeFirst();
  if (row === undefined)
    throw new ProblemError("not_found", `the recording has no participant ${participantId}`);
  return row;
}

/** A participant with what is given; a name that is not given, or emptied, is the email or else the phone. */
function applyTo(before: Row, input: ParticipantChanges): Row {
  const time = (text: string | null | undefined, otherwise: Date | null) =>
    text === undefined ? otherwise : text === null ? null : new Date(toTimestamp(text));
  const email = input.email === undefined ? before.email : input.email;
  const phone = input.phone === undefined ? before.phone : input.phone;
  const name = input.name === undefined ? before.name : (input.name ?? "");
  return {
    name: name || email || phone || "",
    email,
    phone,
    crm_contact_id: input.crm_contact_id === undefined ? before.crm_contact_id : input.crm_contact_id,
    confirmed_attendee: input.confirmed_attendee ?? before.confirmed_attendee,
    attended: input.attended ?? before.attended,
    observed_join_time: time(input.observed_join_time, before.observed_join_time),
    observed_leave_time: time(input.observed_leave_time, before.observed_leave_time),
  };
}

/** The name in the transcript follows, as an edit that can be taken back. */
async function rename(
  tx: Tx,
  principal: Principal,
  recordingId: string,
  participantId: string,
  name: string,
): Promise<void> {
  const people = await findPeople(tx, recordingId);
  const speaker = { participant_id: participantId, speaker: people.get(participantId)?.name ?? "" };
  const edit = planRename(speaker, name, people, await findIdentities(tx, recordingId));
  if (edit !== null && edit.changes.segments.length > 0)
    await writeEdit(tx, recordingId, editorOf(principal), edit);
}

/** Takes a participant out of what names participants by their id. */
async function forgetIn(tx: Tx, recordingId: string, participantId: string): Promise<void> {
  await sql`
    update recordings set
      screenshares = (select jsonb_agg(s order by place) from jsonb_array_elements(screenshares)
        with ordinality as e (s, place) where s ->> 'participant_id' <> ${participantId}),
      ai_action_items = (select jsonb_agg(
          case when i #>> '{assignee,id}' = ${participantId} then i || '{"assignee": null}' else i end
          order by place)
        from jsonb_array_elements(ai_action_items) with ordinality as e (i, place))
    where id = ${recordingId}`.execute(tx);
}
