import { sql } from "kysely";
import type { z } from "zod";
import { because } from "../../../contract/causes/causes.ts";
import { type listAccessRequests, maxListedRequests } from "../../../contract/sharing/access-requests.ts";
import { type AuditActor, recordAudit } from "../../platform/audit/record.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Database, Tx } from "../../platform/db/database.ts";
import { ProblemError } from "../../platform/http/errors/problem.ts";
import type { JobQueue } from "../../platform/jobs/queue.ts";
import { changedIf, success, updateRecording } from "../../recordings/recordings/change/update-recording.ts";
import { checkRight } from "../../recordings/recordings/rights.ts";
import { addUserShare, notifyShared } from "../../recordings/recordings/share/shares.ts";

type Listed = z.input<(typeof listAccessRequests)["response"]>;

const action = "decide about requests for access to it";

/** The users who request access and still can't see the recording. @throws ProblemError as `checkRight`. */
export async function findAccessRequests(
  db: Database,
  principal: Principal,
  recordingId: string,
): Promise<Listed> {
  await checkRight(db.kysely, principal, recordingId, "share", action);
  const { rows } = await sql<{ id: string; name: string; email: string; requested_at: Date }>`
    select u.id, u.name, u.email, a.requested_at
    from access_requests a
    join users u on u.id = a.user_id and u.deactivated_at is null
    join workspaces w on w.id = u.workspace_id
    where a.recording_id = ${recordingId} and a.declined_at is null and not exists (
      select 1 from recording_grants g
      where g.recording_id = a.recording_id and g.principal_id = any(parley_principals(u.id, w.members_id)))
    order by a.requested_at desc, u.id limit ${maxListedRequests}`.execute(db.kysely);
  return {
    requests: rows.map(({ requested_at, ...user }) => ({
      user,
      requested_datetime: requested_at.toISOString(),
    })),
  };
}

interface Decision {
  readonly principal: Principal;
  readonly actor: AuditActor;
  readonly recordingId: string;
  readonly userId: string;
}

/** Shares the recording with the user who requested it. @throws ProblemError `not_found` without a request. */
export async function grantAccess(
  { db, jobs }: { readonly db: Database; readonly jobs: JobQueue },
  { principal, actor, recordingId, userId }: Decision,
): Promise<{ success: true }> {
  await updateRecording(
    db,
    principal,
    recordingId,
    async (tx) => {
      await removeRequest(tx, recordingId, userId);
      const isNew = await addUserShare(tx, actor, recordingId, userId);
      await notifyShared(tx, actor, recordingId, "access_granted", sql`select ${userId}::uuid`);
      return changedIf(isNew);
    },
    "share",
    action,
  );
  jobs.wake();
  return { success: true };
}

/** @throws ProblemError `not_found` without a request. */
async function removeRequest(tx: Tx, recordingId: string, userId: string): Promise<void> {
  const { rows } = await sql`
    delete from access_requests a using users u
    where a.recording_id = ${recordingId} and a.user_id = ${userId}
      and u.id = a.user_id and u.deactivated_at is null
    returning 1`.execute(tx);
  if (rows.length === 0) throw noRequest(userId);
}

/** Declines a request. @throws ProblemError `not_found` without an open request. */
export function declineAccess(
  db: Database,
  { principal, actor, recordingId, userId }: Decision,
): Promise<{ success: true }> {
  const change = updateRecording(
    db,
    principal,
    recordingId,
    async (tx) => {
      const { rows } = await sql`
        update access_requests set declined_at = clock_timestamp()
        where recording_id = ${recordingId} and user_id = ${userId} and declined_at is null
        returning 1`.execute(tx);
      if (rows.length === 0) throw noRequest(userId);
      await recordAudit(tx, actor, {
        action: "recording_access_declined",
        subject: { type: "recording", id: recordingId },
        details: { user_id: userId },
      });
      return changedIf(false);
    },
    "share",
    action,
  );
  return success(change);
}

function noRequest(userId: string): ProblemError {
  return new ProblemError("not_found", because("access_request_closed", { user: userId }));
}
