import { availableParallelism } from "node:os";
import type { FastifyBaseLogger } from "fastify";
import type { Config, TranscriptionSettings } from "./config.ts";
import type { Database } from "./db/database.ts";
import { RETRY_SCHEDULE_MS } from "./hooks/backoff.ts";
import { startDeliveries } from "./hooks/deliver.ts";
import { findForgottenHooks } from "./hooks/delivery-queries.ts";
import { deleteOldHistory } from "./hooks/queries.ts";
import type { HookSender } from "./hooks/send.ts";
import { deleteOldCounters } from "./http/rate-limit.ts";
import { fetchImportJob } from "./imports/fetch.ts";
import { type JobDefinition, job, type Pump, startPump } from "./jobs/pump.ts";
import type { JobQueue } from "./jobs/queue.ts";
import { startSchedule } from "./jobs/schedule.ts";
import type { Sealer } from "./links/sealer.ts";
import type { LinkSigner } from "./links/signer.ts";
import { extractSpeech } from "./media/render/index.ts";
import { sweepScratch } from "./media/scratch.ts";
import type { ObjectStore } from "./storage/store.ts";
import {
  findDueTranscriptions,
  openAiTranscriber,
  type TranscriptionDependencies,
  transcribeRecordingJob,
} from "./transcription/index.ts";
import { failExpiredUploads, noticeArrivals } from "./uploads/arrival.ts";
import { finishUploadJob } from "./uploads/finish-pieces.ts";
import { judgeUploadJob } from "./uploads/judge.ts";
import { removeOrphans } from "./uploads/orphans.ts";
import { promoteUploadJob } from "./uploads/promote.ts";
import { promoteMediaJob } from "./uploads/promote-media.ts";
import { deleteStaleUploads } from "./uploads/stale.ts";
import { createSweepGate } from "./uploads/store-mark.ts";
import { failExpiredMedia, tendLingering } from "./uploads/sweeps.ts";

export interface WorkerDependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly store: ObjectStore;
  readonly signer: LinkSigner;
  readonly sealer: Sealer;
  readonly sender: HookSender;
  readonly config: Config;
  /** What time it is for hooks; tests have their own. */
  readonly clock?: { now(): Date };
  readonly log: FastifyBaseLogger;
}

export interface Worker {
  /** Finishes running jobs, or hands them back after the time. */
  stop(graceMs: number): Promise<void>;
}

/** How often to see which uploads are due to be looked after for their file. */
const arrivalCheckMs = 1000;

/** How soon to look again: files come to the local store through a server, which says so unless it dies. */
const soonestLookMs = { local: 15_000, s3: 2000 } as const;

/** Each of these keeps one core busy; the API needs some room as well. */
const mediaAtOnce = Math.max(1, Math.floor(availableParallelism() / 2));

/** What a process leaves behind in the store that is older than this, nobody works on any more. */
const leftoverAgeMs = 86_400_000;

/** Going through all files is to take at most one part in this many of the time. */
const sweepShare = 50;

/** One at a time: the model is the bottleneck, and each waits for it alone. */
function transcriptionJob(
  deps: Omit<TranscriptionDependencies, "transcriber">,
  settings: TranscriptionSettings,
  signal: AbortSignal,
): JobDefinition {
  const transcriber = openAiTranscriber(settings);
  return job({
    name: "transcribe_recording",
    concurrency: 1,
    run: ({ recordingId }) => transcribeRecordingJob({ ...deps, transcriber }, recordingId, signal),
  });
}

/** All background work: the list of jobs, and what is looked after regularly. */
export function startWorker(deps: WorkerDependencies): Worker {
  const { db, jobs, store, config, log } = deps;
  const stopping = new AbortController();
  let sweepAgainAt = 0;
  const maySweep = createSweepGate(db, store, log);

  /** Small stores are swept at every interval, large ones less often. */
  async function removeLeftovers(): Promise<void> {
    if (Date.now() < sweepAgainAt) return;
    const began = Date.now();
    const isOurs = await maySweep();
    const count = isOurs ? await removeOrphans(db, store, log) : 0;
    if (isOurs) await store.sweepLeftovers(new Date(began - leftoverAgeMs));
    sweepAgainAt = Date.now() + (Date.now() - began) * sweepShare;
    if (count > 0) log.info({ count }, "removed orphaned files");
  }

  const pump: Pump = startPump(
    jobs,
    [
      job({
        name: "promote_upload",
        concurrency: 4,
        run: ({ uploadId }) => promoteUploadJob({ db, jobs, config }, uploadId),
      }),
      job({
        name: "judge_upload",
        concurrency: 2,
        run: ({ uploadId }) => judgeUploadJob({ db, jobs, store, config }, uploadId),
      }),
      job({
        name: "finish_upload",
        concurrency: 2,
        run: ({ uploadId }) => finishUploadJob({ db, jobs, store, log }, uploadId),
      }),
      job({
        name: "promote_media",
        concurrency: mediaAtOnce,
        run: ({ uploadId }) => promoteMediaJob({ db, jobs, store, config }, uploadId),
      }),
      job({
        name: "fetch_import",
        concurrency: 2,
        run: ({ uploadId }) => fetchImportJob({ db, jobs, store }, uploadId),
      }),
      ...(config.transcription === null
        ? []
        : [
            transcriptionJob(
              { db, store, config, log, extractSpeech },
              config.transcription,
              stopping.signal,
            ),
          ]),
    ],
    log,
  );

  const schedule = startSchedule(config.sweepIntervalMs, log, {
    "lingering uploads": () => tendLingering({ db, jobs, store, config, log }),
    "expired upload URLs": () => failExpiredUploads({ db, jobs, store, config, log }),
    "expired media": () => failExpiredMedia({ db, jobs, store, log }),
    "stale uploads": async () => {
      const count = await deleteStaleUploads(db.kysely, config);
      if (count > 0) log.info({ count }, "deleted stale uploads");
    },
    "old deliveries and events": () => deleteOldHistory(db.pool),
    "forgotten hooks": () => findForgottenHooks(db.pool),
    "rate limit counters": () => deleteOldCounters(db.pool),
    "due transcriptions": async () => {
      if (config.transcription === null) return;
      for (const recordingId of await findDueTranscriptions(db.kysely))
        await db.kysely
          .transaction()
          .execute((tx) => jobs.enqueue(tx, "transcribe_recording", { recordingId }, recordingId));
    },
    "abandoned scratch folders": () => sweepScratch(config.dataDir),
    "orphaned files": removeLeftovers,
  });
  const arrivals = startSchedule(arrivalCheckMs, log, {
    "arrived files": () => noticeArrivals({ db, jobs, store, log }, soonestLookMs[store.kind]),
  });

  const deliveries = startDeliveries({
    ...deps,
    clock: deps.clock ?? { now: () => new Date() },
    scheduleMs: config.hookRetryScheduleMs ?? RETRY_SCHEDULE_MS,
    random: Math.random,
  });
  jobs.onWake(deliveries.wake);

  return {
    async stop(graceMs) {
      await deliveries.stop();
      await arrivals.stop();
      await schedule.stop();
      stopping.abort(new Error("the server is stopping"));
      await pump.stop(graceMs);
    },
  };
}
