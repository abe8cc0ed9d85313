import { type RawBuilder, sql } from "kysely";
import { findTeam, findUser } from "../../../people/directory/queries.ts";
import { notify, today } from "../../../people/events/notify.ts";
import { type AuditActor, type AuditEntry, recordAudit } from "../../../platform/audit/record.ts";
import type { Principal } from "../../../platform/auth/principal.ts";
import type { Database, Tx } from "../../../platform/db/database.ts";
import { invalidInput, ProblemError } from "../../../platform/http/errors/problem.ts";
import { changedIf, updateRecording } from "../change/update-recording.ts";
import { deleteTeam, deleteUserShare, insertTeam, insertUserShare } from "./queries.ts";

/** The audit log entry of a share that was added or removed. */
function sharing(
  action: "recording_shared" | "recording_unshared",
  recordingId: string,
  details: { readonly user_id: string } | { readonly team_id: string },
): AuditEntry {
  return { action, subject: { type: "recording", id: recordingId }, details };
}

/** Shares a recording with a user of the workspace. */
export function shareWithUser(
  db: Database,
  principal: Principal,
  recordingId: string,
  userId: string,
  actor: AuditActor,
) {
  return updateRecording(
    db,
    principal,
    recordingId,
    async (tx, recording) => {
      if (!(await findUser(tx, recording.workspace_id, userId)))
        throw invalidInput([
          { pointer: "/user_id", detail: "is not a user of this workspace; see List Users" },
        ]);
      const isNew = await addUserShare(tx, actor, recording.id, userId);
      if (isNew) await notifyShared(tx, actor, recording.id, "shared", sql`select ${userId}::uuid`);
      return changedIf(isNew);
    },
    "share",
  );
}

/**
 * Inserts and audits a share with a user, whom the caller knows to be in the workspace.
 * @returns false when the recording was shared with the user already.
 */
export async function addUserShare(
  tx: Tx,
  actor: AuditActor,
  recordingId: string,
  userId: string,
): Promise<boolean> {
  if (!(await insertUserShare(tx, recordingId, userId))) return false;
  await recordAudit(tx, actor, sharing("recording_shared", recordingId, { user_id: userId }));
  return true;
}

/** Notifies users, once a day at most, that they see the recording now. */
export function notifyShared(
  tx: Tx,
  { userId }: AuditActor,
  recordingId: string,
  kind: "shared" | "access_granted",
  to: RawBuilder<unknown>,
  data: { readonly is_team?: true } = {},
): Promise<void> {
  return notify(tx, {
    kind,
    key: `shared:${recordingId}:${today()}`,
    to,
    actorId: userId,
    recordingId,
    data,
  });
}

/** Stops sharing a recording with a user. */
export function unshareFromUser(
  db: Database,
  principal: Principal,
  recordingId: string,
  userId: string,
  actor: AuditActor,
) {
  return updateRecording(
    db,
    principal,
    recordingId,
    async (tx, recording) => {
      if (await deleteUserShare(tx, recording.id, userId)) {
        await recordAudit(tx, actor, sharing("recording_unshared", recording.id, { user_id: userId }));
        return changedIf(true);
      }
      if (!(await findUser(tx, recording.workspace_id, userId)))
        throw new ProblemError("not_found", `there is no user ${userId} in this workspace`);
      return changedIf(false);
    },
    "share",
  );
}

/** Shares a recording with a team of the workspace. */
export function shareWithTeam(
  db: Database,
  principal: Principal,
  recordingId: string,
  teamId: string,
  actor: AuditActor,
) {
  return updateRecording(
    db,
    principal,
    recordingId,
    async (tx, recording) => {
      if (!(await findTeam(tx, recording.workspace_id, teamId)))
        throw invalidInput([
          { pointer: "/team_id", detail: "is not a team of this workspace; see List Teams" },
        ]);
      if (!(await insertTeam(tx, recording.id, teamId))) return changedIf(false);
      await recordAudit(tx, actor, sharing("recording_shared", recording.id, { team_id: teamId }));
      const others = sql`
        select user_id from team_members where team_id = ${teamId}
        except select user_id from recording_recorders where recording_id = ${recording.id}`;
      await notifyShared(tx, actor, recording.id, "shared", others, { is_team: true });
      return changedIf(true);
    },
    "share",
  );
}

/** Stops sharing a recording with a team. */
export function unshareFromTeam(
  db: Database,
  principal: Principal,
  recordingId: string,
  teamId: string,
  actor: AuditActor,
) {
  return updateRecording(
    db,
    principal,
    recordingId,
    async (tx, recording) => {
      if (await deleteTeam(tx, recording.id, teamId)) {
        await recordAudit(tx, actor, sharing("recording_unshared", recording.id, { team_id: teamId }));
        return changedIf(true);
      }
      if (!(await findTeam(tx, recording.workspace_id, teamId)))
        throw new ProblemError("not_found", `there is no team ${teamId} in this workspace`);
      return changedIf(false);
    },
    "share",
  );
}
