import { isDeepStrictEqual } from "node:util";
import { type Selectable, sql } from "kysely";
import { toTimestamp } from "../../../../contract/common.ts";
import { fieldNames, normalizeFields } from "../../../../contract/recordings/fields.ts";
import type { RecordingDataInput } from "../../../../contract/recordings/recording-data.ts";
import type { AuditActor } from "../../../platform/audit/record.ts";
import type { Principal } from "../../../platform/auth/principal.ts";
import type { Database, Tx } from "../../../platform/db/database.ts";
import type { Recordings } from "../../../platform/db/types.ts";
import { invalidInput } from "../../../platform/http/errors/problem.ts";
import type { JobQueue } from "../../../platform/jobs/queue.ts";
import { insertRecorders, toColumns } from "../create.ts";
import { chooseMeetingTypeByParticipants } from "../participant-scope.ts";
import { requestMeetingMatch } from "../request-match.ts";
import { requireRight } from "../rights.ts";
import { auditAccess, readAccess } from "./audit-access.ts";
import { changedIf, success, updateRecording } from "./update-recording.ts";
import { findDataViolations } from "./violations.ts";

/** Fields that decide who sees a recording. */
const sharingFields = ["share_state", "team_ids", "recorder_ids"] as const;

/** The same, and the field that its grants are ordered by. */
const accessFields: ReadonlySet<string> = new Set<keyof RecordingDataInput>([
  ...sharingFields,
  "start_datetime",
]);

/** Changes the given fields of a recording. */
export async function changeRecordingData(
  { db, jobs }: { readonly db: Database; readonly jobs: JobQueue },
  principal: Principal,
  recordingId: string,
  actor: AuditActor,
  input: RecordingDataInput,
): Promise<{ success: true }> {
  const change = updateRecording(db, principal, recordingId, async (tx, recording) => {
    const { workspace_id } = recording;
    if (sharingFields.some((name) => input[name] !== undefined))
      requireRight(recording, principal, recordingId, "share");
    // Checked before too, but without the lock.
    const violations = await findDataViolations(tx, workspace_id, recordingId, input);
    if (violations.length > 0) throw invalidInput(violations);
    if (!Object.keys(input).some((name) => accessFields.has(name)))
      return { ...changedIf(await changeColumns(tx, recordingId, input)), keepsAccess: true };
    const access = await readAccess(tx, recordingId);
    // Workspace tokens state it for everybody, as they do in an upload.
    const ground = principal.scope === "workspace" ? null : "user";
    const columns = await changeColumns(tx, recordingId, input, ground);
    if (columns && input.start_datetime !== undefined)
      await requestMeetingMatch(
        tx,
        jobs,
        { id: recordingId, workspaceId: workspace_id },
        ground === null ? undefined : principal.userId,
      );
    const teams = input.team_ids !== undefined && (await setTeams(tx, recordingId, input.team_ids));
    const recorders =
      input.recorder_ids !== undefined && (await setRecorders(tx, recordingId, input.recorder_ids));
    const changed = columns || teams || recorders;
    if (changed) await auditAccess(tx, actor, recordingId, access, await readAccess(tx, recordingId));
    return changedIf(changed);
  });
  const done = await success(change);
  if (input.start_datetime !== undefined) jobs.wake();
  return done;
}

const columns = [
  ...fieldNames,
  "title",
  "start_datetime",
  "start_ground",
  "end_datetime",
  "duration_ms",
  "meeting_type_id",
  "meeting_type_by_hand",
  "screenshares",
] as const;
type Row = Pick<Selectable<Recordings>, (typeof columns)[number]>;

/** @returns whether the value of any column changed. */
async function changeColumns(
  tx: Tx,
  recordingId: string,
  input: RecordingDataInput,
  startGround: "user" | null = null,
): Promise<boolean> {
  const before = await readRow(tx, recordingId);
  const changes = columnsOf(input, before, startGround);
  const given = Object.entries(changes).filter(
    ([name, value]) => !isDeepStrictEqual(value, before[name as keyof Row]),
  );
  if (given.length > 0)
    await tx
      .updateTable("recordings")
      .set(toColumns(Object.fromEntries(given)))
      .where("id", "=", recordingId)
      .execute();
  if (input.meeting_type_id === "auto") await chooseMeetingTypeByParticipants(tx, recordingId);
  return !isDeepStrictEqual(before, await readRow(tx, recordingId));
}

async function readRow(tx: Tx, recordingId: string): Promise<Row> {
  return tx.selectFrom("recordings").select(columns).where("id", "=", recordingId).executeTakeFirstOrThrow();
}

/** The given fields as columns. */
function columnsOf(input: RecordingDataInput, before: Row, startGround: "user" | null): Partial<Row> {
  const { title, start_datetime, meeting_type_id: type, screenshares } = input;
  const start = start_datetime === undefined ? undefined : new Date(toTimestamp(start_datetime));
  return {
    ...(normalizeFields(input) as Partial<Row>),
    ...(title === undefined ? {} : { title: title.trim() }),
    ...(start === undefined
      ? {}
      : { start_datetime: start, end_datetime: new Date(start.getTime() + before.duration_ms) }),
    // The same start again says more only where none was stated.
    ...(start === undefined ||
    (start.getTime() === before.start_datetime.getTime() && before.start_ground === null)
      ? {}
      : { start_ground: startGround }),
    ...(type === undefined || type === "auto"
      ? {}
      : { meeting_type_id: type?.toLowerCase() ?? null, meeting_type_by_hand: true }),
    ...(screenshares === undefined
      ? {}
      : {
          screenshares:
            screenshares?.map((share) => ({
              ...share,
              participant_id: share.participant_id.toLowerCase(),
            })) ?? null,
        }),
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
