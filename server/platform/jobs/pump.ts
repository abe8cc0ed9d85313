import { jobFinished } from "../telemetry/signals.ts";
import { type TracedWork, traced } from "../telemetry/trace.ts";
import type { Again, Guard, Job, JobContext } from "./define.ts";
import {
  type Admission,
  addRecurringJobs,
  beat,
  beatLater,
  type ClaimedJob,
  claimJob,
  claimRecurringJob,
  completeJob,
  correctFutureRuns,
  failJob,
  findDueNames,
  heartbeatSeconds,
  postponeJob,
  releaseJob,
  takeEarlierJobs,
  takeFromTheDead,
} from "./queries.ts";
import { logStoppedJobs } from "./queue.ts";

export interface Pump {
  /** Milliseconds since it last fetched jobs successfully, or had no free slot to fetch for. */
  msSinceLastFetch(): number;
  /** Takes no more jobs and waits for those running; jobs still running after the time are returned to the queue. */
  stop(graceMs: number): Promise<void>;
}

/** How long new work of another process may go unnoticed. Work of this process is noticed at once. */
const pollIntervalMs = 500;

/** How often to check for jobs of dead workers: they are found after the heartbeat plus this at most. */
const superviseIntervalMs = 2000;

/** How often to do so while the worker sleeps. */
const maxUnsupervisedMs = 60_000;

/** How long a failed job waits: the first delay doubles with each attempt. */
const [firstRetryMs, maxRetryMs] = [1000, 10_000];

/** A recurring job that fails is tried again at its next time, but no later than this. */
const maxRecurringRetryMs = 3_600_000;

/** How many recurring jobs run concurrently in a process. */
const recurringSlots = 2;

/**
 * Slots beyond `concurrency`: two for users who have no job of this kind running in any process, and one more for a
 * workspace that has none. One user's long jobs can't fill them, so another's job starts at once.
 */
const reservedSlots = { people: 2, workspaces: 1 } as const;

/** Who may take the next slot when this many are taken; null: nobody. */
export function admissionAt(
  taken: number,
  { concurrency, hasReservedSlots }: { readonly concurrency: number; readonly hasReservedSlots: boolean },
): Admission | null {
  if (taken < concurrency) return "anyone";
  if (!hasReservedSlots) return null;
  if (taken < concurrency + reservedSlots.people) return "idle_person";
  return taken < concurrency + reservedSlots.people + reservedSlots.workspaces ? "idle_workspace" : null;
}

/** Hooks of the worker around the pump. */
export interface PumpOptions {
  /** Called when a job starts; the returned function when it has ended. */
  readonly onStart?: (name: string) => () => void;
  /** Whether the worker sleeps until a notification; the pump does not poll meanwhile. */
  readonly isAsleep?: () => boolean;
  /** Whether jobs with this guard may run now; default: they may. */
  readonly mayRun?: (guard: Guard) => Promise<boolean>;
}

/** How a trace shows a run of a job. */
function workOf({ name, key, attempts }: ClaimedJob): TracedWork {
  return {
    name: `job ${name}`,
    kind: "consumer",
    attributes: { "parley.queue": name, "parley.job_id": `${name}.${key}`, "parley.attempt": attempts },
  };
}

/**
 * Takes jobs as slots become free and runs them, alternating between users and workspaces (`claimJob`). A running job sends
 * a heartbeat; when its process dies, another takes it after 10 s. Completing a job names the attempt, so a worker that was
 * taken for dead can't complete a job that has moved on.
 */
export function startPump(
  context: JobContext,
  kinds: readonly Job[],
  { onStart = () => () => undefined, isAsleep = () => false, mayRun = async () => true }: PumpOptions = {},
): Pump {
  const { config, log } = context;
  const { pool } = context.db;
  /** Those of the present settings. */
  const findEnabled = (): ReadonlyMap<string, Job> =>
    new Map(kinds.filter((kind) => kind.isEnabled(config)).map((kind) => [kind.name, kind] as const));
  const running = new Map<string, { kind: Job; job: ClaimedJob; done: Promise<void> }>();
  const stopping = new AbortController();
  /** The recurring jobs that were added to the queue. */
  const recurring = new Set<string>();
  let filling: Promise<void> | null = null;
  let isWoken = false;
  /** When recurring jobs are due next. The pump takes them also while the worker sleeps: waking all of it would cost more. */
  let recurringAt = 0;
  let lastFetchAt = performance.now();

  function wake(): void {
    isWoken = true;
    if (stopping.signal.aborted) return;
    filling ??= fill().finally(() => {
      filling = null;
    });
  }

  async function fill(): Promise<void> {
    try {
      do {
        isWoken = false;
        const enabled = findEnabled();
        await addRecurring(enabled);
        for (const name of await findDueNames(pool, [...enabled.keys()])) await fetchInto(enabled.get(name));
        lastFetchAt = performance.now();
      } while (isWoken && !stopping.signal.aborted);
      recurringAt = performance.now() + msUntilRecurring();
    } catch (error) {
      log.warn({ err: error }, "could not fetch jobs; retrying");
    }
  }

  function msUntilRecurring(): number {
    const now = new Date();
    return Math.min(
      ...[...findEnabled().values()].map((kind) => kind.msUntilNext(config, now) ?? Number.POSITIVE_INFINITY),
    );
  }

  async function addRecurring(enabled: ReadonlyMap<string, Job>): Promise<void> {
    const now = new Date();
    const added = [...enabled.values()].flatMap((kind) => {
      const afterMs = recurring.has(kind.name) ? null : kind.msUntilNext(config, now);
      return afterMs === null ? [] : [{ name: kind.name, afterMs }];
    });
    if (added.length === 0) return;
    await addRecurringJobs(pool, added);
    for (const { name } of added) recurring.add(name);
  }

  /** @returns who may take the next slot. */
  function admit(kind: Job): Admission | null {
    const all = [...running.values()];
    if (kind.isRecurring)
      return all.filter((one) => one.kind.isRecurring).length < recurringSlots ? "anyone" : null;
    return admissionAt(all.filter((one) => one.kind === kind).length, {
      concurrency: kind.concurrency,
      hasReservedSlots: kind.hasReservedSlots(config),
    });
  }

  async function fetchInto(kind: Job | undefined): Promise<void> {
    if (kind === undefined) return;
    // Recurring jobs that may not run are skipped until their next time.
    if (!kind.isRecurring && ((await kind.isPaused(config)) || !(await passes(kind)))) return;
    while (!stopping.signal.aborted) {
      const admission = admit(kind);
      if (admission === null) return;
      const job = kind.isRecurring
        ? await claimRecurringJob(pool, kind.name)
        : await claimJob(pool, kind.name, admission);
      if (job === undefined) return;
      const done = runOne(kind, job).finally(() => {
        running.delete(job.runId);
        wake();
      });
      running.set(job.runId, { kind, job, done });
      // There is one of it.
      if (kind.isRecurring) return;
    }
  }

  const passes = async ({ guard }: Job): Promise<boolean> => guard === null || (await mayRun(guard));

  async function runOne(kind: Job, job: ClaimedJob): Promise<void> {
    const end = onStart(kind.name);
    const startedAt = performance.now();
    let result: "success" | "failure" = "failure";
    try {
      if (kind.isRecurring)
        await postpone(kind, job, (await passes(kind)) ? await runInTime(kind, job) : null);
      else
        await traced(
          () => workOf(job),
          async () => {
            await runInTime(kind, job);
            await completeJob(pool, job);
          },
        );
      result = "success";
    } catch (error) {
      await giveBack(kind, job, error as Error);
    } finally {
      end();
      const seconds = (performance.now() - startedAt) / 1000;
      if (!kind.isRecurring) jobFinished.publish({ queue: kind.name, result, seconds });
    }
  }

  async function runInTime(kind: Job, job: ClaimedJob): Promise<Again | null> {
    const late = new AbortController();
    const isLate = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      const error = new Error(`the job has taken more than ${kind.timeoutMs / 60_000} minutes`);
      late.abort(error);
      isLate.reject(error);
    }, kind.timeoutMs);
    try {
      const signal = AbortSignal.any([stopping.signal, late.signal]);
      return await Promise.race([kind.run({ ...context, signal }, job.data), isLate.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  async function postpone(kind: Job, job: ClaimedJob, again: Again | null): Promise<void> {
    const nextMs = kind.msUntilNext(config, new Date()) ?? 0;
    const afterMs = Math.max(nextMs, again?.pauseMs ?? 0);
    await postponeJob(pool, job, afterMs, again?.state ?? job.data);
  }

  /** If even this can't be written, the missing heartbeat returns the job to the queue. */
  async function giveBack(kind: Job, job: ClaimedJob, error: Error): Promise<void> {
    const { name: kindName, key, attempts } = job;
    try {
      if (stopping.signal.aborted && error === stopping.signal.reason) {
        await releaseJob(pool, job);
        return;
      }
      log.warn({ err: error, job: kindName, key, attempt: attempts }, "job failed");
      await failJob(pool, job, error.message, retryMs(kind, attempts));
    } catch (failure) {
      log.warn({ err: failure, job: kindName, key }, "job could not be returned to the queue");
    }
  }

  /** @returns null: it is not tried again. */
  function retryMs(kind: Job, attempts: number): number | null {
    if (kind.retries !== null && attempts > kind.retries) return null;
    const nextMs = kind.msUntilNext(config, new Date());
    if (nextMs !== null) return Math.min(nextMs, maxRecurringRetryMs);
    return Math.min(maxRetryMs, firstRetryMs * 2 ** Math.min(attempts - 1, 10)) * (0.5 + Math.random() / 2);
  }

  async function supervise(): Promise<void> {
    logStoppedJobs(log, await takeFromTheDead(context.db.kysely, "silent"));
    await correctFutureRuns(pool);
    await takeEarlierJobs(pool);
  }

  const poll = setInterval(() => {
    // A sleeping worker has checked and found nothing; the sleep itself checks again every few seconds.
    if (isAsleep()) lastFetchAt = performance.now();
    if (!isAsleep() || performance.now() >= recurringAt) wake();
  }, pollIntervalMs);
  let [supervisedAt, tickedAt, steadySince] = [0, 0, 0];
  const supervision = setInterval(() => {
    const now = Date.now();
    if (isAsleep() && now - supervisedAt < maxUnsupervisedMs) return;
    // After a pause of this machine or of the database, workers get time to send the heartbeats that are missing.
    if (now - tickedAt > 3 * superviseIntervalMs) steadySince = now;
    tickedAt = now;
    if (now - steadySince < (heartbeatSeconds * 1000) / 2) return;
    supervisedAt = now;
    supervise().catch((error: Error) => {
      steadySince = Date.now();
      log.warn({ err: error }, "could not check for jobs of dead workers");
    });
  }, superviseIntervalMs);
  let isWaitingToBeat = false;
  async function writeHeartbeats(): Promise<void> {
    if (running.size === 0) return;
    const left = await beat(pool, [...running.keys()]);
    if (left.length === 0 || isWaitingToBeat) return;
    isWaitingToBeat = true;
    try {
      await beatLater(pool, left);
    } finally {
      isWaitingToBeat = false;
    }
  }
  const heart = setInterval(
    () =>
      writeHeartbeats().catch((error: Error) =>
        log.warn({ err: error }, "could not write the heartbeat of running jobs"),
      ),
    (heartbeatSeconds * 1000) / 4,
  );
  context.jobs.onWake(wake);
  wake();

  return {
    msSinceLastFetch: () => performance.now() - lastFetchAt,
    async stop(graceMs) {
      stopping.abort(new Error("the server is stopping"));
      clearInterval(poll);
      clearInterval(supervision);
      // A job being fetched belongs to this process as well.
      await filling;
      const drained = Promise.all([...running.values()].map((entry) => entry.done));
      await Promise.race([drained, new Promise((resolve) => setTimeout(resolve, graceMs).unref())]);
      clearInterval(heart);
      for (const { job } of running.values()) await releaseJob(pool, job);
    },
  };
}
