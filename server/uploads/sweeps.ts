import type { FastifyBaseLogger } from "fastify";
import type { Config } from "../config.ts";
import type { Database } from "../db/database.ts";
import type { JobQueue } from "../jobs/queue.ts";
import { uploadFileKey } from "../storage/layout.ts";
import type { ObjectStore } from "../storage/store.ts";
import { findExpiredMedia, findLingering } from "./media-queries.ts";
import { lockUploadById } from "./queries.ts";
import { jobOf, transition } from "./transition.ts";

interface Dependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
}

/** A job begins within seconds; one that has not ended after this may be long, or lost. */
const restartAfterMs = 60_000;

/**
 * Looks after uploads that only a job can move on: gives those their job back that have lost it, and gives those up
 * that no job has brought to an end in all the time allowed. Nothing stays processing for ever.
 */
export async function tendLingering(
  deps: Dependencies & {
    readonly config: Pick<Config, "processingTtlMs">;
    readonly log: FastifyBaseLogger;
  },
): Promise<void> {
  const { db, jobs, config, log } = deps;
  for (const status of ["processing", "promoting"] as const) {
    for (const row of await findLingering(db.kysely, status, restartAfterMs)) {
      const job = jobOf(row);
      // The queue takes it only when no job for this upload waits or runs.
      if (job !== null)
        await db.kysely.transaction().execute((tx) => jobs.enqueue(tx, job, { uploadId: row.id }, row.id));
    }
    for (const { id } of await findLingering(db.kysely, status, config.processingTtlMs)) {
      await db.kysely.transaction().execute(async (tx) => {
        const row = await lockUploadById(tx, id);
        if (row?.status !== status || row.updated_at.getTime() > Date.now() - config.processingTtlMs) return;
        log.error(
          { uploadId: id, status },
          "gave an upload up that no job could finish; see its job's errors",
        );
        await transition(tx, jobs, row, status === "processing" ? "processing_failed" : "promotion_failed", {
          failureReason: `The server could not finish this upload within ${Math.round(config.processingTtlMs / 60_000)} minutes, through no fault of the file as far as is known. Send it again; if that fails too, ask the operator to look into the server's log.`,
        });
      });
    }
  }
}

/** Contract: a staged upload fails when "media expired before promotion". */
export async function failExpiredMedia(deps: Dependencies & { readonly store: ObjectStore }): Promise<void> {
  const { db, jobs, store } = deps;
  for (const uploadId of await findExpiredMedia(db.kysely)) {
    const failed = await db.kysely.transaction().execute(async (tx) => {
      const row = await lockUploadById(tx, uploadId);
      if (row?.status !== "staged" || row.media_expires_at === null) return false;
      await transition(tx, jobs, row, "media_expired", {
        failureReason: `The uploaded file expired at ${row.media_expires_at.toISOString()}, before the upload was promoted. Create the upload again, and promote it in time.`,
      });
      return true;
    });
    if (failed) await store.delete(uploadFileKey(uploadId));
  }
}
