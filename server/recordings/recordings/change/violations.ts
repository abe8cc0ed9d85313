import { sql } from "kysely";
import { z } from "zod";
import { Uuid } from "../../../../contract/common.ts";
import type { Violation } from "../../../../contract/errors.ts";
import { parseTimestamp } from "../../../../shared/times/timestamp.ts";
import { findTeamIds, findUserIds, holdMeetingType } from "../../../people/directory/queries.ts";
import type { Principal } from "../../../platform/auth/principal.ts";
import type { Database, Executor } from "../../../platform/db/database.ts";
import { canSeeRecording } from "../queries.ts";

/** The parts of a body that these rules read. Values of other types are skipped, because the schema reports them. */
const PartialId = Uuid.transform((id) => id.toLowerCase())
  .optional()
  .catch(undefined);
const PartialIds = z.array(PartialId).nullish().catch(undefined);
const PartialBody = z.object({
  team_ids: PartialIds,
  recorder_ids: PartialIds,
  meeting_type_id: PartialId,
  screenshares: z
    .array(
      z
        .object({ end: z.number().optional().catch(undefined), participant_id: PartialId })
        .optional()
        .catch(undefined),
    )
    .nullish()
    .catch(undefined),
  observed_join_time: z.string().nullish().catch(undefined),
  observed_leave_time: z.string().nullish().catch(undefined),
});

/** The schema reports longer lists, so looking up more ids is not needed. */
const maxLookups = 1000;

/** The fields of a recording that the rules need. */
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

/** Checks the rules that depend on the recording and its workspace. Accepts any body, validated or not. */
export async function findDataViolations(
  db: Executor,
  workspaceId: string,
  recordingId: string,
  body: unknown,
): Promise<Violation[]> {
  const partial = PartialBody.safeParse(body).data;
  const facts = partial && (await findFacts(db, recordingId));
  if (partial === undefined || facts === undefined) return [];
  return [
    ...(await findReferenceViolations(db, workspaceId, partial, facts.recorder_ids)),
    ...(partial.screenshares ?? []).flatMap((share, index) => {
      const pointer = `/screenshares/${index}`;
      const violations: Violation[] = [];
      if (share?.participant_id !== undefined && !facts.participant_ids.includes(share.participant_id))
        violations.push({
          pointer: `${pointer}/participant_id`,
          detail: "is not a participant of this recording",
        });
      if (share?.end !== undefined && share.end > facts.duration_ms)
        violations.push({
          pointer: `${pointer}/end`,
          detail: `is after the end of the recording, at ${facts.duration_ms} ms`,
        });
      return violations;
    }),
    ...findObservedTimeViolations(partial, facts),
  ];
}

/**
 * Ids that do not exist in the workspace.
 * @param kept deactivated users who may stay.
 */
export async function findReferenceViolations(
  db: Executor,
  workspaceId: string,
  body: unknown,
  kept: readonly string[] = [],
): Promise<Violation[]> {
  const partial = PartialBody.safeParse(body).data;
  if (partial === undefined) return [];
  const violations: Violation[] = [];
  const teams = (partial.team_ids ?? []).slice(0, maxLookups);
  const knownTeams = await findTeamIds(
    db,
    workspaceId,
    teams.filter((id) => id !== undefined),
  );
  teams.forEach((id, index) => {
    if (id !== undefined && !knownTeams.has(id))
      violations.push({
        pointer: `/team_ids/${index}`,
        detail: "is not a team of this workspace; see List Teams",
      });
  });
  const recorders = (partial.recorder_ids ?? []).slice(0, maxLookups);
  const named = recorders.filter((id) => id !== undefined);
  const known = await findUserIds(db, workspaceId, named);
  recorders.forEach((id, index) => {
    if (id !== undefined && !known.has(id) && !kept.includes(id))
      violations.push({
        pointer: `/recorder_ids/${index}`,
        detail: "is not a user of this workspace; see List Users",
      });
  });
  const typeId = partial.meeting_type_id;
  if (typeId !== undefined && !(await holdMeetingType(db, workspaceId, typeId)))
    violations.push({
      pointer: "/meeting_type_id",
      detail: "is not a meeting type of this workspace; see List Meeting Types",
    });
  return violations;
}

/** Tolerates wrong clocks and time zones, but not wrong dates. */
const observedSlackMs = 86_400_000;

/** Join and leave times must be close to the time of the recording. */
function findObservedTimeViolations(
  partial: z.output<typeof PartialBody>,
  { start_datetime, duration_ms }: Pick<RecordingFacts, "start_datetime" | "duration_ms">,
): Violation[] {
  const earliest = start_datetime.getTime() - observedSlackMs;
  const latest = start_datetime.getTime() + duration_ms + observedSlackMs;
  return (["observed_join_time", "observed_leave_time"] as const).flatMap((field) => {
    const at = parseTimestamp(partial[field] ?? "")?.getTime();
    if (at === undefined || (at >= earliest && at <= latest)) return [];
    return [
      {
        pointer: `/${field}`,
        detail: `must be within a day of the recording's start, ${start_datetime.toISOString()}`,
      },
    ];
  });
}

/**
 * Options of routes whose bodies refer to users, teams and meeting types: references to unknown ones are violations.
 * A caller who can't see the recording gets none, because the handler returns 404 to them.
 */
export function refuseUnknownReferences(db: Database) {
  return {
    keepNulls: true,
    findViolations: async (
      principal: Principal,
      body: unknown,
      params: Readonly<Record<string, string>>,
    ): Promise<Violation[]> => {
      const recordingId = params.recording_id ?? "";
      if (!(await canSeeRecording(db.pool, principal, recordingId))) return [];
      return findDataViolations(db.kysely, principal.workspaceId, recordingId, body);
    },
  } as const;
}
