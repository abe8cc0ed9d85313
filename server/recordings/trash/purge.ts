import type { FastifyBaseLogger } from "fastify";
import { maxEmptied } from "../../../contract/recordings/recording-management.ts";
import { type AuditActor, serverItself } from "../../platform/audit/record.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Database } from "../../platform/db/database.ts";
import { ProblemError } from "../../platform/http/errors/problem.ts";
import { defineRecurringJob } from "../../platform/jobs/define.ts";
import { forEachIsolated } from "../../platform/jobs/for-each-isolated.ts";
import type { ObjectStore } from "../../platform/storage/store.ts";
import { type Receipt, removeFiles, removeRecording } from "../recordings/delete/delete.ts";
import { type DeletionDeps, refuseHeld } from "./delete.ts";
import { findDue, findPurgeable, lockDue } from "./queries.ts";
import { lockForRestoring } from "./restore.ts";

/** Permanently deletes a recording in the trash. */
export async function purgeRecording(
  deps: DeletionDeps,
  principal: Principal,
  recordingId: string,
  actor: AuditActor,
): Promise<Receipt> {
  const removed = await deps.db.kysely.transaction().execute(async (tx) => {
    await lockForRestoring(tx, principal, recordingId, "delete it");
    await refuseHeld(tx, recordingId);
    return removeRecording(tx, actor, recordingId);
  });
  return removeFiles(deps, recordingId, removed);
}

/**
 * Permanently deletes recordings in the trash that the principal can restore, but none on legal hold.
 * @param before only those deleted before this time.
 */
export async function purgeAll(
  deps: DeletionDeps,
  principal: Principal,
  actor: AuditActor,
  before: Date | null,
): Promise<{ deleted: number; is_complete: boolean }> {
  const found = await findPurgeable(deps.db.pool, principal, before, maxEmptied + 1);
  let deleted = 0;
  for (const id of found.slice(0, maxEmptied))
    try {
      await purgeRecording(deps, principal, id, actor);
      deleted += 1;
    } catch (error) {
      // Restored, deleted or put on hold meanwhile.
      if (!(error instanceof ProblemError)) throw error;
    }
  return { deleted, is_complete: found.length <= maxEmptied };
}

/** Most recordings deleted per run; the next run continues. */
const batch = 500;

/**
 * Permanently deletes recordings whose time in the trash is over. Safe in several processes: the second one finds the
 * recording gone.
 */
export async function emptyTrash(deps: {
  readonly db: Database;
  readonly store: ObjectStore;
  readonly log: FastifyBaseLogger;
}): Promise<void> {
  const { db, log } = deps;
  const due = await findDue(db.kysely, batch);
  let count = 0;
  await forEachIsolated(log, "emptying the trash", due, async ({ recording_id: id, workspace_id }) => {
    const removed = await db.kysely
      .transaction()
      .execute(async (tx) =>
        (await lockDue(tx, id)) ? removeRecording(tx, serverItself(workspace_id), id) : null,
      );
    if (removed === null) return;
    count += 1;
    const onError = (error: unknown) =>
      log.warn(
        { err: error, recordingId: id },
        "could not remove the files of a deleted recording; the sweep will",
      );
    await removeFiles({ ...deps, onError }, id, removed);
  });
  if (count > 0) log.info({ count }, "permanently deleted recordings that were in the trash");
}

export const emptyTrashKind = defineRecurringJob({
  name: "empty_trash",
  label: (i18n) => i18n.t("Empty trash"),
  every: "sweep",
  guard: "age",
  handler: (deps) => emptyTrash(deps),
});
