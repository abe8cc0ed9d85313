import { randomUUIDv7 } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { type Selectable, sql } from "kysely";
import { because } from "../../../contract/causes/causes.ts";
import { toTimestamp } from "../../../contract/common.ts";
import {
  leaveRule,
  leavesAfterJoining,
  nameRule,
  type ParticipantChanges,
  type ParticipantInput,
} from "../../../contract/recordings/participants.ts";
import { recordingLimits } from "../../../contract/recordings/recordings.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Database, Tx } from "../../platform/db/database.ts";
import type { Participants } from "../../platform/db/types.ts";
import { invalidInput, ProblemError } from "../../platform/http/errors/problem.ts";
import { updateRecording } from "../recordings/change/update-recording.ts";
import { findDataViolations } from "../recordings/change/violations.ts";
import { deriveFromParticipants, participantScopes } from "../recordings/participant-scope.ts";
import { findIdentities, findParticipants, nextVersion } from "../transcripts/queries.ts";
import { planRename } from "../transcripts/speakers.ts";
import { editorOf, writeEdit } from "../transcripts/write-edit.ts";

type Row = Pick<
  Selectable<Participants>,
  | "name"
  | "email"
  | "phone"
  | "crm_contact_id"
  | "confirmed_attendee"
  | "is_invited"
  | "attended"
  | "observed_join_time"
  | "observed_leave_time"
>;

/** Adds a participant. @returns the id. */
export function createParticipant(
  db: Database,
  principal: Principal,
  recordingId: string,
  input: ParticipantInput,
): Promise<string> {
  return updateRecording(db, principal, recordingId, async (tx, { workspace_id }) => {
    await refuseViolations(tx, workspace_id, recordingId, input);
    const { count, next } = await findRoom(tx, recordingId);
    if (count >= recordingLimits.participants)
      throw new ProblemError(
        "wrong_state",
        because("participant_limit", { limit: recordingLimits.participants }),
      );
    const row = applyTo(
      {
        name: "",
        email: null,
        phone: null,
        crm_contact_id: null,
        confirmed_attendee: false,
        is_invited: false,
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

/** Changes the given fields of a participant. A new name also renames the speaker in the transcript. */
export function updateParticipant(
  db: Database,
  principal: Principal,
  recordingId: string,
  participantId: string,
  input: ParticipantChanges,
): Promise<string> {
  return updateRecording(db, principal, recordingId, async (tx, { workspace_id }) => {
    await refuseViolations(tx, workspace_id, recordingId, input);
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
    // What a user changed stays when the recording's meeting is undone.
    await sql`
      update recording_meetings set participant_ids = array_remove(participant_ids, ${participantId}::uuid),
        filled_in_participant_ids = array_remove(filled_in_participant_ids, ${participantId}::uuid)
      where recording_id = ${recordingId}`.execute(tx);
    await deriveFromParticipants(tx, recordingId);
    return { changed: true, result: participantId };
  });
}

/** Deletes a participant and their screen shares. Their transcript segments keep their name. */
export function deleteParticipant(
  db: Database,
  principal: Principal,
  recordingId: string,
  participantId: string,
): Promise<{ success: true }> {
  return updateRecording(db, principal, recordingId, async (tx) => {
    await findParticipant(tx, recordingId, participantId);
    const { rows } = await sql`
      select 1 from transcript_segments where participant_id = ${participantId} limit 1`.execute(tx);
    // A cached rendering of the transcript names participants, so it is out of date now.
    if (rows.length > 0) await nextVersion(tx, recordingId);
    await tx.deleteFrom("participants").where("id", "=", participantId).execute();
    await removeReferences(tx, recordingId, participantId);
    await deriveFromParticipants(tx, recordingId);
    return { changed: true, result: { success: true } };
  });
}

async function refuseViolations(
  tx: Tx,
  workspaceId: string,
  recordingId: string,
  input: ParticipantChanges,
): Promise<void> {
  const violations = await findDataViolations(tx, workspaceId, recordingId, input);
  if (violations.length > 0) throw invalidInput(violations);
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
      "is_invited",
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

/** Applies the given fields; an empty or missing name falls back to the email, then to the phone number. */
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
    // A user who says that they took part makes an invitation more than that.
    is_invited: before.is_invited && input.attended !== true && input.confirmed_attendee !== true,
    attended: input.attended ?? before.attended,
    observed_join_time: time(input.observed_join_time, before.observed_join_time),
    observed_leave_time: time(input.observed_leave_time, before.observed_leave_time),
  };
}

/** Renames the speaker in the transcript, as an edit that can be undone. */
async function rename(
  tx: Tx,
  principal: Principal,
  recordingId: string,
  participantId: string,
  name: string,
): Promise<void> {
  const people = await findParticipants(tx, recordingId);
  const speaker = { participant_id: participantId, speaker: people.get(participantId)?.name ?? "" };
  const edit = planRename(speaker, name, people, await findIdentities(tx, recordingId));
  if (edit !== null && edit.changes.segments.length > 0)
    await writeEdit(tx, recordingId, editorOf(principal), edit);
}

/** Removes a participant's screen shares and their assignment to action items. */
export async function removeReferences(tx: Tx, recordingId: string, participantId: string): Promise<void> {
  await sql`
    update recordings set
      screenshares = (select jsonb_agg(s order by position) from jsonb_array_elements(screenshares)
        with ordinality as e (s, position) where s ->> 'participant_id' <> ${participantId}),
      ai_action_items = (select jsonb_agg(
          case when i #>> '{assignee,id}' = ${participantId} then i || '{"assignee": null}' else i end
          order by position)
        from jsonb_array_elements(ai_action_items) with ordinality as e (i, position))
    where id = ${recordingId}`.execute(tx);
}
