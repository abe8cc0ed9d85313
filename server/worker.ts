import type { FastifyBaseLogger } from "fastify";
import type { Config } from "./config.ts";
import type { Database } from "./db/database.ts";
import { deleteOldCounters } from "./http/rate-limit.ts";
import { job, type Pump, startPump } from "./jobs/pump.ts";
import type { JobQueue } from "./jobs/queue.ts";
import { startSchedule } from "./jobs/schedule.ts";
import { promoteUploadJob } from "./uploads/promote.ts";
import { deleteStaleUploads, findStuckPromotions } from "./uploads/queries.ts";

export interface WorkerDependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly config: Config;
  readonly log: FastifyBaseLogger;
}

export interface Worker {
  /** Finishes running jobs, or hands them back after the time. */
  stop(graceMs: number): Promise<void>;
}

/** A promotion takes seconds at most; one that lasts longer than this has lost its job. */
const stuckAfterMs = 60_000;

/** All background work: the list of jobs, and what is looked after regularly. */
export function startWorker({ db, jobs, config, log }: WorkerDependencies): Worker {
  const pump: Pump = startPump(
    jobs,
    [
      job({
        name: "promote_upload",
        concurrency: 4,
        run: ({ uploadId }) => promoteUploadJob({ db, jobs, config }, uploadId),
      }),
    ],
    log,
  );

  const schedule = startSchedule(config.sweepIntervalMs, log, {
    "stuck promotions": async () => {
      for (const uploadId of await findStuckPromotions(db.kysely, stuckAfterMs)) {
        // The queue takes it only when no job for this upload waits or runs.
        await db.kysely
          .transaction()
          .execute((tx) => jobs.enqueue(tx, "promote_upload", { uploadId }, uploadId));
      }
    },
    "stale uploads": async () => {
      const count = await deleteStaleUploads(db.kysely, config.staleUploadTtlMs);
      if (count > 0) log.info({ count }, "deleted stale uploads");
    },
    "rate limit counters": () => deleteOldCounters(db.pool),
  });

  return {
    async stop(graceMs) {
      await schedule.stop();
      await pump.stop(graceMs);
    },
  };
}
