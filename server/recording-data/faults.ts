import { sql } from "kysely";
import { z } from "zod";
import { parseTimestamp, Uuid } from "../../contract/common.ts";
import type { Violation } from "../../contract/errors.ts";
import type { Executor } from "../db/database.ts";
import { findTeamIds, findUserIds } from "../directory/queries.ts";

/** As much of a body as these rules look at. What has another form is passed over: the schema names it. */
const LookedId = Uuid.transform((id) => id.toLowerCase())
  .optional()
  .catch(undefined);
const LookedIds = z.array(LookedId).nullish().catch(undefined);
const Looked = z.object({
  team_ids: LookedIds,
  recorder_ids: LookedIds,
  meeting_type_id: LookedId,
  screenshares: z
    .array(
      z
        .object({ end: z.number().optional().catch(undefined), participant_id: LookedId })
        .optional()
        .catch(undefined),
    )
    .nullish()
    .catch(undefined),
  observed_join_time: z.string().nullish().catch(undefined),
  observed_leave_time: z.string().nullish().catch(undefined),
});

/** Bodies longer than their schema allows are named by it; no need to look up all of what they hold. */
const mostLooked = 1000;

/** What of a recording the rules need. */
interface RecordingFacts {
  readonly start_datetime: Date;
  readonly duration_ms: number;
  readonly participant_ids: readonly string[];
  readonly recorder_ids: readonly string[];
}

async function findFacts(db: Executor, recordingId: string): Promise<RecordingFacts | undefined> {
  const { rows } = await sql<RecordingFacts>`
    select r.start_datetime, r.duration_ms,
      array(select p.id from participants p where p.recording_id = r.id) as participant_ids,
      array(select rr.user_id from recording_recorders rr where rr.recording_id = r.id) as recorder_ids
    from recordings r where r.id = ${recordingId}`.execute(db);
  return rows[0];
}

/** Rules of a recording's data that depend on the recording and the workspace; for bodies of any form. */
export async function findDataFaults(
  db: Executor,
  workspaceId: string,
  recordingId: string,
  body: unknown,
): Promise<Violation[]> {
  const looked = Looked.safeParse(body).data;
  const facts = looked && (await findFacts(db, recordingId));
  if (looked === undefined || facts === undefined) return [];
  return [
    ...(await findReferenceFaults(db, workspaceId, looked, facts.recorder_ids)),
    ...(looked.screenshares ?? []).flatMap((share, index) => {
      const pointer = `/screenshares/${index}`;
      const faults: Violation[] = [];
      if (share?.participant_id !== undefined && !facts.participant_ids.includes(share.participant_id))
        faults.push({
          pointer: `${pointer}/participant_id`,
          detail: "is no participant of this recording",
        });
      if (share?.end !== undefined && share.end > facts.duration_ms)
        faults.push({
          pointer: `${pointer}/end`,
          detail: `lies after the end of the recording, at ${facts.duration_ms} ms`,
        });
      return faults;
    }),
    ...findObservedFaults(looked, facts),
  ];
}

/**
 * Ids that name nothing in the workspace.
 * @param kept users who may stay although they are not active any more.
 */
export async function findReferenceFaults(
  db: Executor,
  workspaceId: string,
  body: unknown,
  kept: readonly string[] = [],
): Promise<Violation[]> {
  const looked = Looked.safeParse(body).data;
  if (looked === undefined) return [];
  const faults: Violation[] = [];
  const teams = (looked.team_ids ?? []).slice(0, mostLooked);
  const knownTeams = await findTeamIds(
    db,
    workspaceId,
    teams.filter((id) => id !== undefined),
  );
  teams.forEach((id, index) => {
    if (id !== undefined && !knownTeams.has(id))
      faults.push({
        pointer: `/team_ids/${index}`,
        detail: "is no team of this workspace; take it from List Teams",
      });
  });
  const recorders = (looked.recorder_ids ?? []).slice(0, mostLooked);
  const named = recorders.filter((id) => id !== undefined);
  const known = await findUserIds(db, workspaceId, named);
  recorders.forEach((id, index) => {
    if (id !== undefined && !known.has(id) && !kept.includes(id))
      faults.push({
        pointer: `/recorder_ids/${index}`,
        detail: "is no user of this workspace; take it from List Users",
      });
  });
  const typeId = looked.meeting_type_id;
  if (typeId !== undefined && !(await isMeetingType(db, workspaceId, typeId)))
    faults.push({
      pointer: "/meeting_type_id",
      detail: "is no meeting type of this workspace; take it from List Meeting Types",
    });
  return faults;
}

/** Held until the transaction ends, where there is one, so that it is not deleted meanwhile. */
async function isMeetingType(db: Executor, workspaceId: string, id: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from meeting_types where id = ${id} and workspace_id = ${workspaceId}
    for key share`.execute(db);
  return rows.length > 0;
}

/** Clocks and time zones may be off, days are not. */
const observedSlackMs = 86_400_000;

/** A recorder sees people come and go about the time of the recording. */
function findObservedFaults(
  looked: z.output<typeof Looked>,
  { start_datetime, duration_ms }: Pick<RecordingFacts, "start_datetime" | "duration_ms">,
): Violation[] {
  const earliest = start_datetime.getTime() - observedSlackMs;
  const latest = start_datetime.getTime() + duration_ms + observedSlackMs;
  return (["observed_join_time", "observed_leave_time"] as const).flatMap((field) => {
    const at = parseTimestamp(looked[field] ?? "")?.getTime();
    if (at === undefined || (at >= earliest && at <= latest)) return [];
    return [
      {
        pointer: `/${field}`,
        detail: `must be within a day of the recording, which began at ${start_datetime.toISOString()}`,
      },
    ];
  });
}
