import { availableParallelism } from "node:os";
import type { FastifyBaseLogger } from "fastify";
import { sendMailJob } from "./accounts/mailer.ts";
import { sweepLinks } from "./accounts/one-time-links.ts";
import { requestPasswordResetJob } from "./accounts/password-reset.ts";
import { sweepSessions } from "./accounts/sessions.ts";
import { sweepThrottle } from "./accounts/throttle.ts";
import { markChains } from "./audit/mark.ts";
import { pruneAudit } from "./audit/prune.ts";
import { sealAudit } from "./audit/seal.ts";
import type { Config, TranscriptionSettings } from "./config.ts";
import type { Database } from "./db/database.ts";
import { RETRY_SCHEDULE_MS } from "./hooks/backoff.ts";
import { startDeliveries } from "./hooks/deliver.ts";
import { findForgottenHooks } from "./hooks/delivery-queries.ts";
import { deleteOldHistory } from "./hooks/queries.ts";
import type { HookSender } from "./hooks/send.ts";
import { deleteOldCounters } from "./http/rate-limit.ts";
import { fetchImportJob } from "./imports/fetch.ts";
import {
  findDueRuns,
  type IntelligenceDependencies,
  openAiModel,
  requestUnderstanding,
  understandRecordingJob,
} from "./intelligence/index.ts";
import { type JobDefinition, job, type Pump, startPump } from "./jobs/pump.ts";
import type { JobQueue } from "./jobs/queue.ts";
import { startSchedule } from "./jobs/schedule.ts";
import type { Sealer } from "./links/sealer.ts";
import type { LinkSigner } from "./links/signer.ts";
import { extractSpeech } from "./media/render/index.ts";
import { sweepScratch } from "./media/scratch.ts";
import { sweepOAuth } from "./oauth/sweep.ts";
import { tendClips } from "./public-links/clips.ts";
import { renderClipJob } from "./public-links/render-clip.ts";
import { erasePersonJob } from "./retention/erase-person.ts";
import { applyRetention } from "./retention/sweep.ts";
import { indexBacklog, mergePending } from "./search/backlog.ts";
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

/** How often to merge what is new into the search index. */
const searchIndexMs = 5000;

/** How long an entry of the audit log may stand outside of the chain. */
const sealIntervalMs = 1000;

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

/** Models are asked over the network; two at a time keep one busy while the other's answer is written. */
function understandingJob(deps: IntelligenceDependencies, signal: AbortSignal): JobDefinition {
  return job({
    name: "understand_recording",
    concurrency: 2,
    run: ({ recordingId }) => understandRecordingJob(deps, recordingId, signal),
  });
}

/** Mail goes out where a mail server is set up. */
function mailJobs({ config, sealer, log }: WorkerDependencies): JobDefinition[] {
  const { smtp } = config;
  return smtp === null
    ? []
    : [job({ name: "send_mail", concurrency: 4, run: (data) => sendMailJob({ sealer, smtp, log }, data) })];
}

/** All background work: the list of jobs, and what is looked after regularly. */
export function startWorker(deps: WorkerDependencies): Worker {
  const { db, jobs, store, config, log } = deps;
  const stopping = new AbortController();
  let sweepAgainAt = 0;
  const model = config.languageModel === null ? null : openAiModel(config.languageModel);
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
      job({
        name: "request_password_reset",
        concurrency: 2,
        run: (data) => requestPasswordResetJob({ db, jobs, sealer: deps.sealer, config }, data),
      }),
      job({
        name: "erase_person",
        concurrency: 1,
        run: ({ erasureId }) =>
          erasePersonJob({ db, jobs, store, sealer: deps.sealer, config, log }, erasureId),
      }),
      job({
        name: "render_clip",
        concurrency: 1,
        run: ({ clipId }) => renderClipJob({ db, store, config }, clipId),
      }),
      ...mailJobs(deps),
      ...(config.transcription === null
        ? []
        : [
            transcriptionJob(
              {
                db,
                store,
                config,
                log,
                extractSpeech,
                onTranscript: (tx, recording) => requestUnderstanding(tx, jobs, config, recording),
              },
              config.transcription,
              stopping.signal,
            ),
          ]),
      ...(model === null || config.languageModel === null
        ? []
        : [understandingJob({ db, log, model, settings: config.languageModel }, stopping.signal)]),
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
    "ended sessions": () => sweepSessions(db),
    "dead links": () => sweepLinks(db),
    "attempts to sign in": () => sweepThrottle(db),
    "rate limit counters": () => deleteOldCounters(db.pool),
    "ended OAuth grants": () => sweepOAuth(db),
    "due transcriptions": async () => {
      if (config.transcription === null) return;
      for (const recordingId of await findDueTranscriptions(db.kysely))
        await db.kysely
          .transaction()
          .execute((tx) => jobs.enqueue(tx, "transcribe_recording", { recordingId }, recordingId));
    },
    "due runs of the language model": async () => {
      if (model === null) return;
      for (const recordingId of await findDueRuns(db.kysely))
        await db.kysely
          .transaction()
          .execute((tx) => jobs.enqueue(tx, "understand_recording", { recordingId }, recordingId));
    },
    "abandoned scratch folders": () => sweepScratch(config.dataDir),
    "audit log told to the store": () => markChains(db, store, log),
    "old audit entries": async () => {
      if (config.auditTtlMs === null) return;
      const count = await pruneAudit(db, new Date(Date.now() - config.auditTtlMs));
      if (count > 0) log.info({ count }, "removed old entries of the audit log");
    },
    "recordings that rules delete": () => applyRetention({ db, store, log }),
    "files cut for public links": () => tendClips({ db, jobs, store, log }),
    "orphaned files": removeLeftovers,
  });
  const searching = startSchedule(searchIndexMs, log, {
    "search index": () => mergePending(db.pool),
    "recordings not indexed yet": async () => {
      const count = await indexBacklog(db.pool, stopping.signal);
      if (count > 0) log.info({ count }, "indexed recordings for the search");
    },
  });
  const arrivals = startSchedule(arrivalCheckMs, log, {
    "arrived files": () => noticeArrivals({ db, jobs, store, log }, soonestLookMs[store.kind]),
  });

  const sealing = startSchedule(sealIntervalMs, log, {
    "audit log": async () => void (await sealAudit(db)),
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
      await sealing.stop();
      await schedule.stop();
      stopping.abort(new Error("the server is stopping"));
      await searching.stop();
      await pump.stop(graceMs);
      await model?.close();
    },
  };
}
