import { randomUUID } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { sql } from "kysely";
import { z } from "zod";
import { keyOf, takeAttempt, tooManyAttempts } from "../../people/accounts/sign-in/throttle.ts";
import { notify, today } from "../../people/events/notify.ts";
import { type AuditActor, actorOf, recordAudit } from "../../platform/audit/record.ts";
import type { Database, Executor, Tx } from "../../platform/db/database.ts";
import { defineJob, defineRecurringJob, type JobPayloads } from "../../platform/jobs/define.ts";
import type { JobQueue } from "../../platform/jobs/queue.ts";
import { rolesWithRight } from "../../recordings/recordings/rights.ts";

/** Requests of one user: ten at once, then ten an hour. */
const perUser = { free: 10, leakSec: 360 };

/** Undecided requests of one user at a time; further ones are ignored. */
const maxOpen = 100;

/** Users notified of one request; recordings rarely have more recorders. */
const maxNotified = 10;

/** How long requests are kept, and declined ones can't be repeated. */
const keptDays = 30;

/**
 * Requests access to a recording. A job looks it up, so neither the response nor its timing reveals whether it exists.
 * @throws ProblemError `rate_limited`.
 */
export async function requestAccess(
  deps: { readonly db: Database; readonly jobs: JobQueue },
  request: FastifyRequest,
  recordingId: string,
): Promise<{ success: true }> {
  const actor = actorOf(request);
  const wait = await takeAttempt(deps.db, [
    { key: keyOf("request access", request.principal.userId), ...perUser },
  ]);
  if (wait > 0) throw tooManyAttempts(wait);
  await deps.db.kysely
    .transaction()
    .execute((tx) => deps.jobs.enqueue(tx, "request_access", { wantedId: recordingId, actor }, randomUUID()));
  deps.jobs.wake();
  return { success: true };
}

/** Stores the request and notifies the recorders, if it can be granted and is new. */
async function requestAccessJob(
  { db, jobs }: { readonly db: Database; readonly jobs: JobQueue },
  { wantedId, actor }: JobPayloads["request_access"],
): Promise<void> {
  await db.kysely.transaction().execute(async (tx) => {
    if (!(await lockWanted(tx, wantedId, actor)) || !(await insertRequest(tx, wantedId, actor))) return;
    await recordAudit(tx, actor, {
      action: "recording_access_requested",
      subject: { type: "recording", id: wantedId },
    });
    await notify(tx, {
      kind: "access_requested",
      key: `access_requested:${wantedId}:${actor.userId}:${today()}`,
      to: sql`select unnest(${await findDeciders(tx, wantedId)}::uuid[])`,
      actorId: actor.userId,
      recordingId: wantedId,
    });
  });
  jobs.wake();
}

/** Locks the recording if the user is active in its workspace and can't see it; not in the trash, which nobody can see. */
async function lockWanted(
  tx: Tx,
  recordingId: string,
  { userId, workspaceId }: AuditActor,
): Promise<boolean> {
  const { rows } = await sql`
    select 1 from recordings r
    join workspaces w on w.id = r.workspace_id
    join users u on u.workspace_id = r.workspace_id and u.id = ${userId} and u.deactivated_at is null
    where r.id = ${recordingId} and r.workspace_id = ${workspaceId} and not exists (
      select 1 from trashed_recordings t where t.recording_id = r.id) and not exists (
      select 1 from recording_grants g
      where g.recording_id = r.id and g.principal_id = any(parley_principals(u.id, w.members_id)))
    for update of r`.execute(tx);
  return rows.length > 0;
}

/** @returns false when the user has requested it already, or has too many open requests. */
async function insertRequest(tx: Tx, recordingId: string, { userId }: AuditActor): Promise<boolean> {
  const { rows } = await sql`
    insert into access_requests (recording_id, user_id)
    select ${recordingId}, ${userId} where (
      select count(*) from access_requests where user_id = ${userId} and declined_at is null) < ${maxOpen}
    on conflict do nothing returning 1`.execute(tx);
  return rows.length > 0;
}

/** The users to notify: the recorders; the admins who can see the recording if no recorder can decide any more. */
async function findDeciders(db: Executor, recordingId: string): Promise<string[]> {
  const recorders = sql`${rolesWithRight("share", { is_recorder: true })}::text[]`;
  const others = sql`${rolesWithRight("share", { is_recorder: false })}::text[]`;
  const { rows } = await sql<{ id: string; is_recorder: boolean }>`
    select u.id, rr.user_id is not null as is_recorder
    from recordings r
    join workspaces w on w.id = r.workspace_id
    join users u on u.workspace_id = r.workspace_id and u.deactivated_at is null and u.invited_at is null
    left join recording_recorders rr on rr.recording_id = r.id and rr.user_id = u.id
    where r.id = ${recordingId}
      and u.role = any(case when rr.user_id is null then ${others} else ${recorders} end)
      and (rr.user_id is not null or exists (
        select 1 from recording_grants g
        where g.recording_id = r.id and g.principal_id = any(parley_principals(u.id, w.members_id))))
    order by rr.position nulls last, u.id limit ${maxNotified}`.execute(db);
  const first = rows.filter((row) => row.is_recorder);
  return (first.length > 0 ? first : rows).map(({ id }) => id);
}

/** Deletes old requests, and those of users who have access by another way, so that they don't return when it ends. */
export async function deleteOldRequests(db: Executor): Promise<void> {
  await sql`
    delete from access_requests a using users u, workspaces w
    where u.id = a.user_id and w.id = u.workspace_id and (
      a.requested_at < now() - ${keptDays} * interval '1 day' or exists (
        select 1 from recording_grants g
        where g.recording_id = a.recording_id and g.principal_id = any(parley_principals(u.id, w.members_id))))`.execute(
    db,
  );
}

/** The recording is looked up by the job; `actor` is the requester, for the audit log. */
const payload = z.object({ wantedId: z.string(), actor: z.custom<AuditActor>() });

declare module "../../platform/jobs/define.ts" {
  interface JobPayloads {
    request_access: z.infer<typeof payload>;
  }
}

export const requestAccessKind = defineJob({
  name: "request_access",
  label: (i18n) => i18n.t("Request access"),
  schema: payload,
  subject: "access_request",
  owner: null,
  concurrency: 2,
  discard: { lost: (i18n) => i18n.t("The request is lost. The user can request access again.") },
  handler: (deps, data) => requestAccessJob(deps, data),
});

export const deleteOldAccessRequestsKind = defineRecurringJob({
  name: "delete_old_access_requests",
  label: (i18n) => i18n.t("Delete old access requests"),
  every: "1 h",
  guard: "age",
  handler: ({ db }) => deleteOldRequests(db.kysely),
});
