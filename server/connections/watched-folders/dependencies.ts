import type { FastifyBaseLogger } from "fastify";
import type { Config } from "../../platform/config/config.ts";
import type { Database } from "../../platform/db/database.ts";
import type { JobQueue } from "../../platform/jobs/queue.ts";
import type { ObjectStore } from "../../platform/storage/store.ts";

/** What importing a watched file needs. */
export interface ImportDependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly store: ObjectStore;
  readonly config: Config;
  readonly log: FastifyBaseLogger;
}
