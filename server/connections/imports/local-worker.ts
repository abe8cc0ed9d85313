import { availableParallelism } from "node:os";
import { pino } from "pino";
import type { Config } from "../../platform/config/config.ts";
import type { Database } from "../../platform/db/database.ts";
import { job, startPump } from "../../platform/jobs/pump.ts";
import type { JobQueue } from "../../platform/jobs/queue.ts";
import type { ObjectStore } from "../../platform/storage/store.ts";
import { promoteUploadJob } from "../../processing/uploads/promotion/promote.ts";
import { promoteMediaJob } from "../../processing/uploads/promotion/promote-media.ts";
import { validateUploadJob } from "../../processing/uploads/promotion/validate-file.ts";

/**
 * Runs the jobs of imports in this process, for a command. A running server's workers share them; without a server this
 * worker runs all.
 * @returns stops it.
 */
export function runLocalWorker({
  db,
  jobs,
  store,
  config,
}: {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly store: ObjectStore;
  readonly config: Config;
}): () => Promise<void> {
  const pump = startPump(
    jobs,
    [
      job({
        name: "promote_upload",
        concurrency: 2,
        run: ({ uploadId }) => promoteUploadJob({ db, jobs, config }, uploadId),
      }),
      job({
        name: "validate_upload",
        concurrency: 2,
        run: ({ uploadId }) => validateUploadJob({ db, jobs, store, config }, uploadId),
      }),
      job({
        name: "promote_media",
        concurrency: Math.max(1, Math.floor(availableParallelism() / 2)),
        run: ({ uploadId }) => promoteMediaJob({ db, jobs, store, config }, uploadId),
      }),
    ],
    pino({ level: "silent" }),
  );
  return () => pump.stop(30_000);
}
