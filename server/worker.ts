import { deleteOldEvents } from "./connections/imports/connect/events.ts";
import { continueEvents } from "./connections/imports/connect/job.ts";
import { continueRuns } from "./connections/imports/move/job.ts";
import { startWatching } from "./connections/watched-folders/watch.ts";
import { disableExpiredHooks } from "./connections/webhooks/api/access.ts";
import { correctFutureDeliveries, deleteOldHistory } from "./connections/webhooks/deliveries/history.ts";
import { findForgottenHooks, msUntilHookDue } from "./connections/webhooks/deliveries/leases.ts";
import { startDeliveries } from "./connections/webhooks/dispatch/dispatcher.ts";
import { createHostLimit } from "./connections/webhooks/dispatch/host-limit.ts";
import { RETRY_SCHEDULE_MS } from "./connections/webhooks/dispatch/retry-policy.ts";
import { anchorChains } from "./governance/audit/anchor.ts";
import { pruneAudit } from "./governance/audit/prune.ts";
import { msUntilSealDue, sealAudit } from "./governance/audit/seal.ts";
import { pruneReceipts } from "./governance/retention/prune.ts";
import { applyRetention } from "./governance/retention/sweep.ts";
import { createBackupSchedule } from "./operations/backup/schedule.ts";
import { pruneUpgradeCopies } from "./operations/backup/upgrade.ts";
import { sweepVerifyFolders } from "./operations/backup/verify-folder.ts";
import { removeOrphans } from "./operations/storage-maintenance/orphans.ts";
import { createSweepGate } from "./operations/storage-maintenance/owner-marker.ts";
import { deleteOldMailCounts } from "./people/accounts/one-time-links/mail-limits.ts";
import { sweepLinks } from "./people/accounts/one-time-links/one-time-links.ts";
import { sweepSessions } from "./people/accounts/sign-in/sessions.ts";
import { sweepThrottle } from "./people/accounts/sign-in/throttle.ts";
import { sweepTokens } from "./people/accounts/tokens/sweep.ts";
import { sweepOAuth } from "./people/oauth/sweep.ts";
import { watchQuarantine } from "./platform/db/quarantine.ts";
import { createRateLimiter, deleteOldCounters } from "./platform/http/limits/rate-limit.ts";
import { createClockGuard } from "./platform/jobs/clock-guard.ts";
import { deleteOldTurns } from "./platform/jobs/fair-fetch.ts";
import { correctFutureTimes } from "./platform/jobs/future-times.ts";
import { type Pump, startPump } from "./platform/jobs/pump.ts";
import { deleteFinishedJobs, msUntilJobDue } from "./platform/jobs/queue.ts";
import { startSchedule } from "./platform/jobs/schedule.ts";
import { startSleep } from "./platform/jobs/sleep.ts";
import { createFileCheck } from "./processing/integrity/check.ts";
import { deleteOldUsage, findDueRuns, openAiModel } from "./processing/intelligence/index.ts";
import { sweepScratch } from "./processing/media/scratch.ts";
import { deleteOldVoices, findDueTranscriptions, hasSpeechModel } from "./processing/transcription/index.ts";
import { endUploadsOfDeactivated } from "./processing/uploads/lifecycle/end-access.ts";
import { deleteStaleUploads } from "./processing/uploads/lifecycle/stale.ts";
import {
  failExpiredMedia,
  failStuckUploads,
  retryStuckUploads,
} from "./processing/uploads/lifecycle/sweeps.ts";
import { msUntilArrivalCheck } from "./processing/uploads/media-queries.ts";
import { removeTranscriptCopies } from "./processing/uploads/transcript-copies.ts";
import { failExpiredUploads, noticeArrivals } from "./processing/uploads/transfer/arrival.ts";
import { reconcileClips } from "./recordings/public-link-records/clips.ts";
import { announceReadyRecordings } from "./recordings/recordings/announce.ts";
import { indexOutdated } from "./recordings/search/outdated.ts";
import { mergePending } from "./recordings/search/pending-entries.ts";
import { emptyTrash } from "./recordings/trash/purge.ts";
import { deleteOldRequests } from "./sharing/access-requests/request.ts";
import { listJobs, type WorkerDependencies } from "./worker-jobs.ts";

export type { WorkerDependencies } from "./worker-jobs.ts";

export interface Worker {
  /** Milliseconds since it last checked for jobs successfully. */
  msSinceLastFetch(): number;
  /** Finishes running jobs, or returns them to the queue after the time. */
  stop(graceMs: number): Promise<void>;
}

/** How often to check which awaiting uploads are due to be checked for their file. */
const arrivalCheckMs = 1000;

/** How often to check for recordings whose transcription and language model have finished. */
const announceMs = 2000;

/** How often to merge what is new into the search index. */
const searchIndexMs = 5000;

/** How long an entry of the audit log may remain outside the chain. */
const sealIntervalMs = 1000;

/** How soon to check again: files reach the local store through a server, which reports them unless it dies. */
const soonestLookMs = { local: 15_000, s3: 2000 } as const;

/** Leftovers in the store older than this belong to no running process. */
const leftoverAgeMs = 86_400_000;

const dayMs = 86_400_000;

/** Going through all files should take at most one part in this many of the time. */
const sweepShare = 50;

/** All background work: the list of jobs and the recurring tasks. */
export function startWorker(deps: WorkerDependencies): Worker {
  const { db, jobs, store, config, log } = deps;
  const stopping = new AbortController();
  const endChecks = new AbortController();
  let [sweepAgainAt, pruneCopiesAt] = [0, 0];
  const model = config.languageModel === null ? null : openAiModel(config.languageModel);
  const maySweep = createSweepGate(db, store, log);
  const clock = createClockGuard(db, log, config.sweepIntervalMs);

  const isQuarantined = watchQuarantine(db);
  const backups = createBackupSchedule(deps);

  /** A task that deletes or ends what is old: not in a restored copy, and not while the clock can't be trusted. */
  const byAge = (task: () => Promise<void>) => async (): Promise<void> => {
    if (!(await isQuarantined()) && (await clock.mayDelete())) await task();
  };

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

  const definitions = listJobs(deps, model, isQuarantined, stopping.signal);
  const names = definitions.map(({ name }) => name);
  const dueChecks = [msUntilHookDue, msUntilJobDue(names), msUntilArrivalCheck, msUntilSealDue];
  // A test's own clock moves without a notification.
  const sleep = deps.clock === undefined ? startSleep({ db, log, dueChecks, onWake: jobs.wake }) : null;
  const isAsleep = (): boolean => sleep?.isAsleep() ?? false;
  const whenAwake = (task: () => Promise<unknown>) => async (): Promise<void> => {
    if (!isAsleep()) await task();
  };
  const pump: Pump = startPump(jobs, definitions, log, {
    isAsleep,
    onStart: (name) => deps.eventLoop?.begin(`job ${name}`) ?? (() => undefined),
  });

  const deliveryClock = deps.clock ?? { now: () => new Date() };
  const retryScheduleMs = config.hookRetryScheduleMs ?? RETRY_SCHEDULE_MS;

  const schedule = startSchedule(config.sweepIntervalMs, log, {
    // Only once the clock is trusted again: by a clock that is ahead, nothing is in the future.
    "times in the future": byAge(async () => {
      await correctFutureTimes(db.pool);
      await correctFutureDeliveries(db.pool, {
        now: deliveryClock.now(),
        // With room for jitter, and for the delay that a receiver asks for.
        maxWaitMs: 2 * Math.max(dayMs, ...retryScheduleMs),
      });
    }),
    "lost jobs of uploads": () => retryStuckUploads({ db, jobs, log }),
    "uploads that no job could finish": byAge(() => failStuckUploads({ db, jobs, store, config, log })),
    "uploads of deactivated users": () => endUploadsOfDeactivated({ db, jobs, store, log }),
    "expired upload URLs": byAge(() => failExpiredUploads({ db, jobs, store, config, log })),
    "expired media": byAge(() => failExpiredMedia({ db, jobs, store, log })),
    "stale uploads": byAge(async () => {
      const count = await deleteStaleUploads(db.kysely, config);
      if (count > 0) log.info({ count }, "deleted stale uploads");
    }),
    "transcripts of succeeded uploads": byAge(async () => {
      const count = await removeTranscriptCopies(db, config);
      if (count > 0) log.info({ count }, "removed copies of transcripts that recordings have");
    }),
    "finished jobs": byAge(() => deleteFinishedJobs(db.pool)),
    "old deliveries and events": byAge(() => deleteOldHistory(db.pool)),
    "forgotten hooks": () => findForgottenHooks(db.pool),
    "ended sessions": byAge(() => sweepSessions(db)),
    "dead links": byAge(() => sweepLinks(db)),
    "attempts to sign in": byAge(() => sweepThrottle(db)),
    "counts of emails": byAge(() => deleteOldMailCounts(db.kysely)),
    "ended tokens": byAge(() => sweepTokens(db)),
    "old usage of the language model": byAge(() => deleteOldUsage(db.kysely)),
    "turns of jobs": () => deleteOldTurns(db.pool),
    "rate limit counters": () => deleteOldCounters(db.pool),
    "ended OAuth grants": byAge(() => sweepOAuth(db)),
    // Nothing is sent to them in any case; disabling them can't be undone by correcting the clock.
    "hooks of expired tokens": byAge(() => disableExpiredHooks(db.kysely)),
    "due transcriptions": async () => {
      if (!(await hasSpeechModel(config))) return;
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
          .execute((tx) => jobs.enqueue(tx, "analyze_recording", { recordingId }, recordingId));
    },
    "abandoned scratch folders": byAge(() => sweepScratch(config.dataDir)),
    "old copies from before upgrades": byAge(async () => {
      if (Date.now() < pruneCopiesAt) return;
      await pruneUpgradeCopies(config.dataDir);
      pruneCopiesAt = Date.now() + dayMs;
    }),
    "databases of killed verifications": () => sweepVerifyFolders(config.dataDir, log),
    "audit log told to the store": () => anchorChains(db, store, log, config.auditTtlMs),
    "old audit entries": byAge(async () => {
      if (config.auditTtlMs === null) return;
      const count = await pruneAudit(db, store, config.auditTtlMs);
      await pruneReceipts(db.pool, new Date(Date.now() - config.auditTtlMs));
      if (count > 0) log.info({ count }, "removed old entries of the audit log");
    }),
    "recordings in the trash": byAge(() => emptyTrash({ db, store, log })),
    "recordings that rules delete": byAge(() => applyRetention({ db, store, log })),
    "voices that nobody remembered": byAge(() => deleteOldVoices(db.kysely)),
    "old requests for access": byAge(() => deleteOldRequests(db.kysely)),
    "events of connections": async () => {
      if (!(await isQuarantined())) await continueEvents(db, jobs);
    },
    "imports that wait": async () => {
      if (!(await isQuarantined())) await continueRuns(db, jobs);
    },
    "old events of connections": byAge(() => deleteOldEvents(db.kysely)),
    "clips for public links": () => reconcileClips({ db, jobs, store, log }),
    "orphaned files": byAge(removeLeftovers),
    backups: async () => {
      // A restored copy would write to the place of the original's backups.
      if (!(await isQuarantined())) await backups.check();
    },
    "damaged files": createFileCheck({ db, store, signal: endChecks.signal }, log),
  });
  const searching = startSchedule(searchIndexMs, log, {
    "search index": () => mergePending(db.pool),
    "outdated search index": async () => {
      const count = await indexOutdated(db.pool, searchIndexMs / 2);
      if (count > 0) log.info({ count }, "indexed recordings of an earlier version for the search");
    },
  });
  const arrivals = startSchedule(arrivalCheckMs, log, {
    "arrived files": whenAwake(() => noticeArrivals({ db, jobs, store, log }, soonestLookMs[store.kind])),
  });
  const announcements = startSchedule(announceMs, log, {
    "recordings that are ready": async () => {
      if ((await announceReadyRecordings(db)) > 0) jobs.wake();
    },
  });
  const sealing = startSchedule(sealIntervalMs, log, {
    "audit log": whenAwake(() => sealAudit(db)),
  });

  const watching = startWatching(deps, isQuarantined);

  const limiter = createRateLimiter({
    pool: db.pool,
    onError: (error) =>
      log.warn({ err: error }, "could not share the counts of hook requests; counting alone"),
  });
  const deliveries = startDeliveries({
    ...deps,
    hostLimit: createHostLimit(limiter, config.hookRequestsPerHostPerMinute),
    clock: deliveryClock,
    isClockTrusted: clock.isTrusted,
    isHeldBack: isQuarantined,
    scheduleMs: retryScheduleMs,
    random: Math.random,
    isAsleep,
  });
  jobs.onWake(deliveries.wake);
  if (sleep !== null) jobs.onWake(sleep.wake);

  return {
    msSinceLastFetch: () => pump.msSinceLastFetch(),
    async stop(graceMs) {
      await sleep?.stop();
      await backups.stop();
      await deliveries.stop();
      await limiter.close();
      await announcements.stop();
      await arrivals.stop();
      await sealing.stop();
      await watching.stop();
      // Reading a large file may take minutes.
      endChecks.abort(new Error("the server is stopping"));
      await schedule.stop();
      stopping.abort(new Error("the server is stopping"));
      await searching.stop();
      await pump.stop(graceMs);
      await model?.close();
    },
  };
}
