import { isTag } from "../../contract/recordings.ts";
import { syncGrants } from "../access/grants.ts";
import type { Principal } from "../access/principal.ts";
import { type AuditActor, type AuditEntry, recordAudit } from "../audit/record.ts";
import type { Database, Tx } from "../db/database.ts";
import { findTeam, findUser } from "../directory/queries.ts";
import { record } from "../events/record.ts";
import { invalidInput, ProblemError } from "../http/problem.ts";
import {
  type ChangeableRecording,
  deleteTeam,
  deleteUserShare,
  insertTeam,
  insertUserShare,
  updateRecordingRow,
} from "./queries.ts";
import { lockForChange } from "./rights.ts";

/**
 * Runs one change of a recording: locks it, checks the right to change it, and reports `recording_updated` when
 * something did change. Repeating a change is no error and no event.
 */
async function change(
  db: Database,
  principal: Principal,
  recordingId: string,
  apply: (tx: Tx, recording: ChangeableRecording) => Promise<boolean>,
): Promise<{ success: true }> {
  await db.kysely.transaction().execute(async (tx) => {
    const recording = await lockForChange(tx, principal, recordingId);
    if (!(await apply(tx, recording))) return;
    await record(tx, {
      workspaceId: recording.workspace_id,
      type: "recording_updated",
      subjectId: recording.id,
      data: {},
    });
  });
  return { success: true };
}

/** How the audit log tells with whom a recording is shared, or not any more. */
function sharing(
  action: "recording_shared" | "recording_unshared",
  recordingId: string,
  details: { readonly user_id: string } | { readonly team_id: string },
): AuditEntry {
  return { action, subject: { type: "recording", id: recordingId }, details };
}

/** Gives a recording another title. */
export function renameRecording(db: Database, principal: Principal, recordingId: string, newTitle: string) {
  const title = newTitle.trim();
  return change(db, principal, recordingId, async (tx, recording) => {
    if (recording.title === title) return false;
    await updateRecordingRow(tx, recording.id, { title });
    await syncGrants(tx, [recording.id]);
    return true;
  });
}

/** More tags than this make no list a person could read. */
const maxTags = 200;

/** Adds a tag; one that is there already stays as it is. */
export function addTag(db: Database, principal: Principal, recordingId: string, tag: string) {
  return change(db, principal, recordingId, async (tx, recording) => {
    const normalized = tag.normalize("NFC");
    if (recording.tags.includes(normalized)) return false;
    if (recording.tags.length >= maxTags)
      throw invalidInput([
        { pointer: "/tag", detail: `is one too many: a recording has at most ${maxTags} tags` },
      ]);
    await updateRecordingRow(tx, recording.id, { tags: [...recording.tags, normalized] });
    return true;
  });
}

/** Takes a tag away. */
export function removeTag(db: Database, principal: Principal, recordingId: string, tag: string) {
  const normalized = tag.normalize("NFC");
  return change(db, principal, recordingId, async (tx, recording) => {
    if (!isTag(normalized) || !recording.tags.includes(normalized)) return false;
    await updateRecordingRow(tx, recording.id, {
      tags: recording.tags.filter((other) => other !== normalized),
    });
    return true;
  });
}

/** Shares with a user of the workspace. */
export function shareWithUser(
  db: Database,
  principal: Principal,
  recordingId: string,
  userId: string,
  actor: AuditActor,
) {
  return change(db, principal, recordingId, async (tx, recording) => {
    if (!(await findUser(tx, recording.workspace_id, userId)))
      throw invalidInput([
        { pointer: "/user_id", detail: "is no user of this workspace; take it from List Users" },
      ]);
    if (!(await insertUserShare(tx, recording.id, userId))) return false;
    await recordAudit(tx, actor, sharing("recording_shared", recording.id, { user_id: userId }));
    await syncGrants(tx, [recording.id]);
    return true;
  });
}

/** Takes a share with a user back. */
export function unshareFromUser(
  db: Database,
  principal: Principal,
  recordingId: string,
  userId: string,
  actor: AuditActor,
) {
  return change(db, principal, recordingId, async (tx, recording) => {
    if (await deleteUserShare(tx, recording.id, userId)) {
      await recordAudit(tx, actor, sharing("recording_unshared", recording.id, { user_id: userId }));
      await syncGrants(tx, [recording.id]);
      return true;
    }
    if (!(await findUser(tx, recording.workspace_id, userId)))
      throw new ProblemError("not_found", `there is no user ${userId} in this workspace`);
    return false;
  });
}

/** Shares with a team of the workspace. */
export function shareWithTeam(
  db: Database,
  principal: Principal,
  recordingId: string,
  teamId: string,
  actor: AuditActor,
) {
  return change(db, principal, recordingId, async (tx, recording) => {
    if (!(await findTeam(tx, recording.workspace_id, teamId)))
      throw invalidInput([
        { pointer: "/team_id", detail: "is no team of this workspace; take it from List Teams" },
      ]);
    if (!(await insertTeam(tx, recording.id, teamId))) return false;
    await recordAudit(tx, actor, sharing("recording_shared", recording.id, { team_id: teamId }));
    await syncGrants(tx, [recording.id]);
    return true;
  });
}

/** Takes a share with a team back. */
export function unshareFromTeam(
  db: Database,
  principal: Principal,
  recordingId: string,
  teamId: string,
  actor: AuditActor,
) {
  return change(db, principal, recordingId, async (tx, recording) => {
    if (await deleteTeam(tx, recording.id, teamId)) {
      await recordAudit(tx, actor, sharing("recording_unshared", recording.id, { team_id: teamId }));
      await syncGrants(tx, [recording.id]);
      return true;
    }
    if (!(await findTeam(tx, recording.workspace_id, teamId)))
      throw new ProblemError("not_found", `there is no team ${teamId} in this workspace`);
    return false;
  });
}
