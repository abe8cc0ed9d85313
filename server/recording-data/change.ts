import { isDeepStrictEqual } from "node:util";
import { type Selectable, sql } from "kysely";
import {
  type CalendarEventInput,
  type RecordingDataInput,
  toTimestamp,
} from "../../contract/recording-data.ts";
import { holdMembership, syncGrants } from "../access/grants.ts";
import type { Principal } from "../access/principal.ts";
import type { Database, Tx } from "../db/database.ts";
import type { Recordings } from "../db/types.ts";
import { record } from "../events/record.ts";
import { invalidInput } from "../http/problem.ts";
import { insertRecorders } from "../recordings/create.ts";
import { chooseMeetingTypeByParticipants } from "../recordings/participant-scope.ts";
import type { ChangeableRecording } from "../recordings/queries.ts";
import { lockForChange } from "../recordings/rights.ts";
import { findDataFaults } from "./faults.ts";

/**
 * Runs one change of what a recording says of itself: locks it, checks the right to change it, keeps the grants in
 * line and reports `recording_updated` when something did change.
 * @param apply says what it returns and whether something changed.
 */
export async function changeRecording<T>(
  db: Database,
  principal: Principal,
  recordingId: string,
  apply: (tx: Tx, recording: ChangeableRecording) => Promise<{ changed: boolean; result: T }>,
): Promise<T> {
  return db.kysely.transaction().execute(async (tx) => {
    // Before the recording, as everywhere: who joins the workspace locks in this order.
    await holdMembership(tx, principal.workspaceId);
    const recording = await lockForChange(tx, principal, recordingId, "change it");
    const { changed, result } = await apply(tx, recording);
    if (changed) await reportChange(tx, recording);
    return result;
  });
}

/** What follows every change of a locked recording. */
export async function reportChange(
  tx: Tx,
  recording: Pick<ChangeableRecording, "id" | "workspace_id">,
): Promise<void> {
  await sql`update recordings set updated_at = clock_timestamp() where id = ${recording.id}`.execute(tx);
  await syncGrants(tx, [recording.id]);
  await record(tx, {
    workspaceId: recording.workspace_id,
    type: "recording_updated",
    subjectId: recording.id,
    data: {},
  });
}

/** Changes what is given of a recording's data; the rest stays. */
export function changeRecordingData(
  db: Database,
  principal: Principal,
  recordingId: string,
  input: RecordingDataInput,
): Promise<{ success: true }> {
  return changeRecording(db, principal, recordingId, async (tx, { workspace_id }) => {
    // Asked before, too, but without the lock.
    const faults = await findDataFaults(tx, workspace_id, recordingId, input);
    if (faults.length > 0) throw invalidInput(faults);
    const columns = await changeColumns(tx, recordingId, input);
    const teams = input.team_ids !== undefined && (await setTeams(tx, recordingId, input.team_ids));
    const recorders =
      input.recorder_ids !== undefined && (await setRecorders(tx, recordingId, input.recorder_ids));
    const changed = columns || teams || recorders;
    return { changed, result: { success: true } };
  });
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

/** @returns whether a column has another value now. */
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

/** What is given, as columns. */
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

/** A calendar event as it is kept: as the contract shows it. */
export function calendarEventOf(input: CalendarEventInput) {
  const time = (text: string | null) => (text === null ? null : toTimestamp(text));
  return {
    ical_uid: input.ical_uid,
    scheduled_start_datetime: time(input.scheduled_start_datetime),
    scheduled_end_datetime: time(input.scheduled_end_datetime),
  };
}

/** Each id once. */
export function crmOf(input: NonNullable<RecordingDataInput["crm"]>) {
  return {
    crm_company_ids: [...new Set(input.crm_company_ids)],
    crm_deal_ids: [...new Set(input.crm_deal_ids)],
  };
}

/** Tags in one form of writing, each once, in their order. */
export function uniqueTags(tags: readonly string[]): string[] {
  return [...new Set(tags.map((tag) => tag.normalize("NFC")))];
}

async function setTeams(tx: Tx, recordingId: string, ids: readonly string[]): Promise<boolean> {
  const teamIds = [...new Set(ids.map((id) => id.toLowerCase()))];
  const removed = await sql`
    delete from recording_teams
    where recording_id = ${recordingId} and not team_id = any(${teamIds}::uuid[])
    returning team_id`.execute(tx);
  // One that was deleted since it was looked for stays out.
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
