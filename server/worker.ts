import type pg from "pg";
import { addRecordingDeliveries } from "./connections/deliveries/fan-out.ts";
import { sendRecording } from "./connections/deliveries/send.ts";
import { startWatching } from "./connections/watched-folders/watch.ts";
import { msUntilHookDue } from "./connections/webhooks/deliveries/leases.ts";
import { startDeliveries } from "./connections/webhooks/dispatch/dispatcher.ts";
import { createHostLimit } from "./connections/webhooks/transport/host-limit.ts";
import type { HookSender } from "./connections/webhooks/transport/send.ts";
import { msUntilSealDue, sealAudit } from "./governance/audit/seal.ts";
import { jobKinds } from "./jobs.ts";
import { pruneUpgradeCopies } from "./operations/backup/upgrade.ts";
import { sweepVerifyFolders } from "./operations/backup/verify-folder.ts";
import type { LinkSigner } from "./platform/crypto/link-signer.ts";
import { watchQuarantine } from "./platform/db/quarantine.ts";
import type { EventLoopWatch } from "./platform/event-loop.ts";
import { createRateLimiter } from "./platform/http/limits/rate-limit.ts";
import { createClockGuard } from "./platform/jobs/clock-guard.ts";
import type { Guard, JobContext } from "./platform/jobs/define.ts";
import { startPump } from "./platform/jobs/pump.ts";
import { findMsUntilDue } from "./platform/jobs/queries.ts";
import { startSchedules } from "./platform/jobs/schedule.ts";
import { startSleep } from "./platform/jobs/sleep.ts";
import { sweepScratch } from "./processing/media/scratch.ts";
import { msUntilArrivalCheck } from "./processing/uploads/media-queries.ts";
import { noticeArrivals } from "./processing/uploads/transfer/arrival.ts";
import { announceReadyRecordings, notifyOfReadyRecordings } from "./recordings/recordings/announce.ts";
import { indexOutdated } from "./recordings/search/outdated.ts";
import { mergePending } from "./recordings/search/pending-entries.ts";

export interface WorkerDependencies extends JobContext {
  readonly signer: LinkSigner;
  readonly sender: HookSender;
  /** Called for each job; optional. */
  readonly eventLoop?: EventLoopWatch;
}

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

const dayMs = 86_400_000;

/** How long a check of the clock holds: the jobs of one interval share it. */
const clockCheckMs = 1000;

/** All background work: the jobs, and what each process does for itself. */
export function startWorker(deps: WorkerDependencies): Worker {
  const { db, jobs, store, config, log } = deps;
  const clock = createClockGuard(db, log, config.sweepIntervalMs);
  const isQuarantined = watchQuarantine(db);
  let clockCheck = { at: Number.NEGATIVE_INFINITY, mayDelete: Promise.resolve(false) };
  function mayDelete(): Promise<boolean> {
    if (performance.now() - clockCheck.at >= clockCheckMs)
      clockCheck = { at: performance.now(), mayDelete: clock.mayDelete() };
    return clockCheck.mayDelete;
  }
  const mayRun = async (guard: Guard): Promise<boolean> =>
    !(await isQuarantined()) && (guard === "original" || (await mayDelete()));

  const findNames = () =>
    jobKinds.filter((kind) => kind.isEnabled(config) && !kind.isRecurring).map(({ name }) => name);
  const dueChecks = [
    msUntilHookDue,
    (client: pg.ClientBase) => findMsUntilDue(client, findNames()),
    msUntilArrivalCheck,
    msUntilSealDue,
  ];
  // A test's own clock moves without a notification.
  const sleep = deps.clock === undefined ? startSleep({ db, log, dueChecks, onWake: jobs.wake }) : null;
  const isAsleep = (): boolean => sleep?.isAsleep() ?? false;
  const whenAwake = (task: () => Promise<unknown>) => async (): Promise<void> => {
    if (!isAsleep()) await task();
  };
  const pump = startPump(deps, jobKinds, {
    isAsleep,
    mayRun,
    onStart: (name) => deps.eventLoop?.begin(`job ${name}`) ?? (() => undefined),
  });

  const schedules = startSchedules(log, [
    {
      intervalMs: sealIntervalMs,
      tasks: {
        "audit log": whenAwake(() => sealAudit(db)),
      },
    },
    {
      intervalMs: arrivalCheckMs,
      tasks: {
        "arrived files": whenAwake(() => noticeArrivals({ db, jobs, store, log }, soonestLookMs[store.kind])),
      },
    },
    {
      intervalMs: announceMs,
      tasks: {
        "recordings that are ready": async () => {
          if ((await announceReadyRecordings(db)) > 0) jobs.wake();
        },
        "notifications of recordings that are ready": async () => {
          if ((await notifyOfReadyRecordings(db)) > 0) jobs.wake();
        },
      },
    },
    {
      intervalMs: searchIndexMs,
      tasks: {
        "search index": () => mergePending(db.pool),
        "outdated search index": async () => {
          const count = await indexOutdated(db.pool, searchIndexMs / 2);
          if (count > 0) log.info({ count }, "indexed recordings of an earlier version for the search");
        },
      },
    },
    {
      intervalMs: config.sweepIntervalMs,
      tasks: {
        "abandoned scratch folders": async () => {
          if (await mayRun("age")) await sweepScratch(config.dataDir);
        },
        "databases of killed verifications": () => sweepVerifyFolders(config.dataDir, log),
      },
    },
    {
      intervalMs: dayMs,
      tasks: {
        "old copies from before upgrades": async () => {
          if (await mayRun("age")) await pruneUpgradeCopies(config.dataDir);
        },
      },
    },
  ]);

  const watching = startWatching(deps, isQuarantined);

  const limiter = createRateLimiter({
    pool: db.pool,
    onError: (error) =>
      log.warn({ err: error }, "could not share the counts of hook requests; counting alone"),
  });
  const sending = {
    ...deps,
    hostLimit: createHostLimit(limiter, config.hookRequestsPerHostPerMinute),
    clock: deps.clock ?? { now: () => new Date() },
    isClockTrusted: clock.isTrusted,
    isHeldBack: isQuarantined,
    scheduleMs: config.hookRetryScheduleMs,
    random: Math.random,
    isAsleep,
  };
  const deliveries = startDeliveries({
    ...sending,
    others: { add: addRecordingDeliveries, send: (hook) => sendRecording(sending, hook) },
  });
  jobs.onWake(deliveries.wake);
  if (sleep !== null) jobs.onWake(sleep.wake);

  return {
    msSinceLastFetch: () => pump.msSinceLastFetch(),
    async stop(graceMs) {
      await sleep?.stop();
      await deliveries.stop();
      await limiter.close();
      await schedules.stop();
      await watching.stop();
      await pump.stop(graceMs);
    },
  };
}
