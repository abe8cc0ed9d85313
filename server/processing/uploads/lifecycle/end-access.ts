import { sql } from "kysely";
import { fileCause } from "../../../../contract/causes/files.ts";
import { holdMembership } from "../../../people/access/grants.ts";
import { coalesce } from "../../../platform/coalesce.ts";
import type { Database, Executor, Tx } from "../../../platform/db/database.ts";
import { prepared } from "../../../platform/db/prepared.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import { defineRecurringJob } from "../../../platform/jobs/define.ts";
import { forEachIsolated, type SweepLog } from "../../../platform/jobs/for-each-isolated.ts";
import type { JobQueue } from "../../../platform/jobs/queue.ts";
import type { ObjectStore } from "../../../platform/storage/store.ts";
import { lockUploadById, type UploadRow } from "../queries.ts";
import { transition } from "./transition.ts";
import { removeFile } from "./upload-file.ts";

interface Dependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly store: ObjectStore;
}

/** Uploads failed per sweep. */
const batch = 1000;

export const accessEndedReason =
  "The account of the user who created this upload was deactivated, so it did not become a recording.";

/** Whether the user who created an upload, or issued the token that did, is deactivated. */
export async function isCreatorDeactivated(
  db: Executor,
  { created_by }: Pick<UploadRow, "created_by">,
): Promise<boolean> {
  const active = await db
    .selectFrom("users")
    .select("id")
    .where("id", "=", created_by)
    .where("deactivated_at", "is", null)
    .modifyEnd(prepared)
    .executeTakeFirst();
  return active === undefined;
}

/** Why the users who created uploads may not send their files any more; null: they may. */
async function findEndedAccess(
  db: Executor,
  uploadIds: readonly string[],
): Promise<Map<string, "deactivated" | "viewer" | null>> {
  const { rows } = await sql<{ id: string; ended: "deactivated" | "viewer" | null }>`
    select p.id, case
        when u.deactivated_at is not null then 'deactivated'
        when u.role = 'viewer' and p.scope = 'personal' then 'viewer' end as ended
    from uploads p join users u on u.id = p.created_by where p.id = any(${uploadIds}::uuid[])`.execute(db);
  return new Map(rows.map(({ id, ended }) => [id, ended]));
}

/**
 * Refuses a file whose sender lost the right to upload since the upload was created: its URL carries no token.
 * @throws ProblemError `forbidden`.
 */
export async function refuseEndedAccess(db: Executor, { id }: Pick<UploadRow, "id">): Promise<void> {
  const ended = (await findEndedAccess(db, [id])).get(id);
  if (ended === null) return;
  if (ended !== "viewer") throw accessEnded();
  throw new ProblemError(
    "forbidden",
    "the user who created this upload is now a viewer, and viewers can't upload; ask an admin to change that role",
  );
}

/** The same for requests that are sending. @returns a check of an upload that shares its statement with concurrent ones. */
export function createSenderCheck(db: Executor): (uploadId: string) => Promise<boolean> {
  return coalesce(
    async (uploadIds: readonly string[]) => {
      const ended = await findEndedAccess(db, uploadIds);
      // A request whose upload was deleted meanwhile is refused with a reason at its end, and nothing of it is kept.
      return uploadIds.map((id) => (ended.get(id) ?? null) === null);
    },
    { concurrency: 1, maxItems: 1000 },
  );
}

export function accessEnded(): ProblemError {
  return new ProblemError(
    "forbidden",
    "the account of the user who created this upload was deactivated; another user must create the upload again",
  );
}

/**
 * Fails a locked upload instead of promoting it, if its creator is deactivated. Locks the workspace's membership, which
 * a deactivation changes: the deactivation is either seen here or waits until the recording exists.
 * @returns the failed upload; null when its creator is active.
 */
export async function endIfDeactivated(tx: Tx, jobs: JobQueue, upload: UploadRow): Promise<UploadRow | null> {
  await holdMembership(tx, upload.workspace_id);
  return (await isCreatorDeactivated(tx, upload)) ? endUpload(tx, jobs, upload) : null;
}

function endUpload(tx: Tx, jobs: JobQueue, upload: UploadRow): Promise<UploadRow> {
  return transition(tx, jobs, upload, "access_ended", {
    failureReason: accessEndedReason,
    failureCauses: [fileCause("creator_deactivated", {})],
  });
}

/**
 * Fails the unfinished uploads of deactivated users, each in its own transaction. None of them can become a recording
 * before that: arrival and promotion check the creator themselves.
 */
export async function endUploadsOfDeactivated(
  deps: Dependencies & { readonly log: SweepLog },
): Promise<void> {
  const { db, jobs, store, log } = deps;
  const { rows } = await sql<{ id: string }>`
    select p.id from users u join uploads p on p.created_by = u.id
    where u.deactivated_at is not null and p.status in ('awaiting', 'processing', 'staged', 'promoting')
    limit ${batch}`.execute(db.kysely);
  await forEachIsolated(log, "failing uploads of deactivated users", rows, async ({ id }) => {
    const ended = await db.kysely.transaction().execute(async (tx) => {
      const row = await lockUploadById(tx, id);
      if (row === undefined || row.status === "success" || row.status === "failure") return null;
      return (await isCreatorDeactivated(tx, row)) ? endUpload(tx, jobs, row) : null;
    });
    if (ended !== null && ended.media_type !== "transcript") await removeFile(store, ended);
  });
  if (rows.length > 0) jobs.wake();
}

export const endUploadsOfDeactivatedKind = defineRecurringJob({
  name: "end_uploads_of_deactivated",
  label: (i18n) => i18n.t("End uploads of deactivated users"),
  every: "sweep",
  handler: (deps) => endUploadsOfDeactivated(deps),
});
