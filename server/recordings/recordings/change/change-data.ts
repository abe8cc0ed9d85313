import { isDeepStrictEqual } from "node:util";
import { type Selectable, sql } from "kysely";
import {
  type CalendarEventInput,
  type RecordingDataInput,
  toTimestamp,
} from "../../../../contract/recordings/recording-data.ts";
import type { AuditActor } from "../../../platform/audit/record.ts";
import type { Principal } from "../../../platform/auth/principal.ts";
import type { Database, Tx } from "../../../platform/db/database.ts";
import type { Recordings } from "../../../platform/db/types.ts";
import { invalidInput } from "../../../platform/http/errors/problem.ts";
import { insertRecorders } from "../create.ts";
import { chooseMeetingTypeByParticipants } from "../participant-scope.ts";
import { uniqueTags } from "../tags.ts";
import { auditAccess, readAccess } from "./audit-access.ts";
import { changedIf, success, updateRecording } from "./update-recording.ts";
import { findDataViolations } from "./violations.ts";

/** Fields that decide neither who sees a recording nor what its grants have besides the title. */
const plainFields: ReadonlySet<string> = new Set<keyof RecordingDataInput>([
  "title",
  "source",
  "tags",
  "calendar_event",
  "crm",
  "screenshares",
]);

/** Changes the given fields of a recording. */
export function changeRecordingData(
  db: Database,
  principal: Principal,
  recordingId: string,
  actor: AuditActor,
  input: RecordingDataInput,
): Promise<{ success: true }> {
  const change = updateRecording(db, principal, recordingId, async (tx, { workspace_id }) => {
    // Checked before too, but without the lock.
    const violations = await findDataViolations(tx, workspace_id, recordingId, input);
    if (violations.length > 0) throw invalidInput(violations);
    if (Object.keys(input).every((name) => plainFields.has(name)))
      return { ...changedIf(await changeColumns(tx, recordingId, input)), keepsAccess: true };
    const access = await readAccess(tx, recordingId);
    const columns = await changeColumns(tx, recordingId, input);
    const teams = input.team_ids !== undefined && (await setTeams(tx, recordingId, input.team_ids));
    const recorders =
      input.recorder_ids !== undefined && (await setRecorders(tx, recordingId, input.recorder_ids));
    const changed = columns || teams || recorders;
    if (changed) await auditAccess(tx, actor, recordingId, access, await readAccess(tx, recordingId));
    return changedIf(changed);
  });
  return success(change);
}

type Row = Pick<
  Selectable<Recordings>,
  | "title"
  | "start_datetime"
  | "end_datetime"
  | "source"
  | "share_state"
  | "tags"
  | "meeting_type_id"
  | "meeting_type_by_hand"
  | "calendar_event"
  | "crm"
  | "screenshares"
> & { readonly duration_ms: number };

/** @returns whether the value of any column changed. */
async function changeColumns(tx: Tx, recordingId: string, input: RecordingDataInput): Promise<boolean> {
  const before = await readRow(tx, recordingId);
  const changes = columnsOf(input, before.duration_ms);
  const given = Object.entries(changes).filter(
    ([name, value]) => !isDeepStrictEqual(value, before[name as keyof Row]),
  );
  if (given.length > 0) {
    const json = ["calendar_event", "crm", "screenshares"];
    await tx
      .updateTable("recordings")
      .set(
        Object.fromEntries(
          given.map(([name, value]) => [
            name,
            json.includes(name) && value !== null ? JSON.stringify(value) : value,
          ]),
        ),
      )
      .where("id", "=", recordingId)
      .execute();
  }
  if (input.meeting_type_id === "auto") await chooseMeetingTypeByParticipants(tx, recordingId);
  return !isDeepStrictEqual(before, await readRow(tx, recordingId));
}

async function readRow(tx: Tx, recordingId: string): Promise<Row> {
  return tx
    .selectFrom("recordings")
    .select([
      "title",
      "start_datetime",
      "end_datetime",
      "duration_ms",
      "source",
      "share_state",
      "tags",
      "meeting_type_id",
      "meeting_type_by_hand",
      "calendar_event",
      "crm",
      "screenshares",
    ])
    .where("id", "=", recordingId)
    .executeTakeFirstOrThrow();
}

/** The given fields as columns. */
function columnsOf(input: RecordingDataInput, durationMs: number): Partial<Row> {
  const start = input.start_datetime === undefined ? undefined : new Date(toTimestamp(input.start_datetime));
  const type = input.meeting_type_id;
  return {
    ...(input.title === undefined ? {} : { title: input.title.trim() }),
    ...(start === undefined
      ? {}
      : { start_datetime: start, end_datetime: new Date(start.getTime() + durationMs) }),
    ...(input.source === undefined ? {} : { source: input.source }),
    ...(input.share_state === undefined ? {} : { share_state: input.share_state }),
    ...(input.tags === undefined ? {} : { tags: uniqueTags(input.tags) }),
    ...(type === undefined || type === "auto"
      ? {}
      : { meeting_type_id: type?.toLowerCase() ?? null, meeting_type_by_hand: true }),
    ...(input.calendar_event === undefined
      ? {}
      : { calendar_event: input.calendar_event && calendarEventOf(input.calendar_event) }),
    ...(input.crm === undefined ? {} : { crm: input.crm && crmOf(input.crm) }),
    ...(input.screenshares === undefined
      ? {}
      : {
          screenshares: input.screenshares && [
            ...input.screenshares.map((share) => ({
              ...share,
              participant_id: share.participant_id.toLowerCase(),
            })),
          ],
        }),
  } as Partial<Row>;
}

/** A calendar event in the form the contract returns, which is also how it is stored. */
export function calendarEventOf(input: CalendarEventInput) {
  const time = (text: string | null) => (text === null ? null : toTimestamp(text));
  return {
    ical_uid: input.ical_uid,
    scheduled_start_datetime: time(input.scheduled_start_datetime),
    scheduled_end_datetime: time(input.scheduled_end_datetime),
  };
}

/** CRM ids without duplicates. */
export function crmOf(input: NonNullable<RecordingDataInput["crm"]>) {
  return {
    crm_company_ids: [...new Set(input.crm_company_ids)],
    crm_deal_ids: [...new Set(input.crm_deal_ids)],
  };
}

async function setTeams(tx: Tx, recordingId: string, ids: readonly string[]): Promise<boolean> {
  const teamIds = [...new Set(ids.map((id) => id.toLowerCase()))];
  const removed = await sql`
    delete from recording_teams
    where recording_id = ${recordingId} and not team_id = any(${teamIds}::uuid[])
    returning team_id`.execute(tx);
  // Skips teams that were deleted since they were validated.
  const added = await sql`
    insert into recording_teams (recording_id, team_id)
    select ${recordingId}, id from (
      select id from teams where id = any(${teamIds}::uuid[]) order by id for key share) t
    on conflict do nothing
    returning team_id`.execute(tx);
  return removed.rows.length + added.rows.length > 0;
}

async function setRecorders(tx: Tx, recordingId: string, ids: readonly string[]): Promise<boolean> {
  const userIds = [...new Set(ids.map((id) => id.toLowerCase()))];
  const before = await tx
    .selectFrom("recording_recorders")
    .select("user_id")
    .where("recording_id", "=", recordingId)
    .orderBy("position")
    .execute();
  if (
    isDeepStrictEqual(
      before.map((row) => row.user_id),
      userIds,
    )
  )
    return false;
  await tx.deleteFrom("recording_recorders").where("recording_id", "=", recordingId).execute();
  await insertRecorders(tx, recordingId, userIds);
  return true;
}
