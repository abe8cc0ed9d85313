import { randomBytes } from "node:crypto";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { createFirstAccount, type FirstAccount } from "./accounts/service.ts";
import { buildApp } from "./app.ts";
import { type Config, ConfigError } from "./config.ts";
import { releaseAllHooks } from "./hooks/delivery-queries.ts";
import { openHookSender } from "./hooks/open-sender.ts";
import { openJobQueue, releaseAbandonedJobs } from "./jobs/queue.ts";
import { createSealer } from "./links/sealer.ts";
import { openSecret } from "./links/secret.ts";
import { createSigner } from "./links/signer.ts";
import { createLog } from "./log.ts";
import { openMigratedDatabase } from "./open.ts";
import { openStore } from "./storage/open.ts";
import type { ObjectStore } from "./storage/store.ts";
import { findWebApp } from "./web/build.ts";
import { startWorker } from "./worker.ts";

/** How long running jobs may go on after the signal to stop. */
const graceMs = 20_000;

/** @throws ConfigError in one line when the store does not do what it must. */
async function probeStore(store: ObjectStore): Promise<void> {
  try {
    await store.probe();
  } catch (error) {
    throw new ConfigError(`the file store can't be used: ${(error as Error).message}`);
  }
}

/** A running server. */
export interface Server {
  readonly log: Logger;
  /** Set on the very first start. */
  readonly firstAccount: FirstAccount | null;
  /** Stops taking requests, finishes those in flight, hands running jobs back, stops PostgreSQL. */
  stop(): Promise<void>;
}

/**
 * Starts the roles that the settings name. Resolves when requests are answered and jobs are taken.
 * @param onLost told when the database is lost for good and the server should end.
 */
export async function startServer(config: Config, onLost: (error: Error) => void): Promise<Server> {
  const log = createLog(config.logLevel);
  const closers: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (const close of closers.splice(0).reverse()) {
      // One part that fails to close must not keep the others open.
      await close().catch((error: Error) => log.error({ err: error }, "a part did not close cleanly"));
    }
  };
  try {
    const database = await openMigratedDatabase(config, "server", log, onLost);
    closers.push(() => database.close());
    const { db } = database;
    const store = await openStore(config);
    closers.push(() => store.close());
    await probeStore(store);
    const secret = await openSecret(config.secret, store);
    const [signer, sealer] = [createSigner(secret), createSealer(secret)];
    const sender = openHookSender(config);
    closers.push(() => sender.close());
    const runsWorker = config.role !== "api";
    const jobs = await openJobQueue({
      pool: db.pool,
      supervise: runsWorker,
      onError: (error) => log.warn({ err: error }, "the job queue had an error; it goes on"),
    });
    closers.push(() => jobs.close());
    if (runsWorker) {
      if (database.isEmbedded) await Promise.all([releaseAbandonedJobs(db, jobs), releaseAllHooks(db.pool)]);
      const worker = startWorker({ db, jobs, store, signer, sealer, sender, config, log });
      closers.push(() => worker.stop(graceMs));
    }
    let firstAccount: FirstAccount | null = null;
    if (config.role !== "worker") {
      const started = { isComplete: false };
      const app: FastifyInstance = await buildApp({
        db,
        jobs,
        store,
        signer,
        sealer,
        sender,
        config,
        log,
        started,
        webFolder: findWebApp(),
      });
      closers.push(() => app.close());
      await app.listen({ host: config.host, port: config.port });
      // Last, when nothing can fail any more: its password is shown once, by the process that makes it.
      firstAccount = await createFirstAccount(db, randomBytes(12).toString("base64url"));
      started.isComplete = true;
    }
    log.info({ role: config.role, migrated: database.migrated }, "ready");
    return { log, firstAccount, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
