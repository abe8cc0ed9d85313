import type { FastifyBaseLogger } from "fastify";
import { jobFinished } from "../telemetry/signals.ts";
import { type TracedWork, traced } from "../telemetry/trace.ts";
import type { Admission, ClaimedJob } from "./fair-fetch.ts";
import {
  heartbeatSeconds,
  type JobData,
  type JobName,
  type JobQueue,
  logStoppedJobs,
  superviseIntervalMs,
} from "./queue.ts";

/** One kind of job: its work and how many of them this process runs concurrently. */
export interface JobDefinition<N extends JobName = JobName> {
  readonly name: N;
  /** How many run concurrently, for all owners together. */
  readonly concurrency: number;
  /** Whether users who have none running may start one although all slots are busy (`reservedSlots`). For long jobs. */
  readonly hasReservedSlots?: boolean;
  /** Whether none may start for now. */
  readonly isPaused?: () => Promise<boolean>;
  run(data: JobData[N]): Promise<void>;
}

/** Binds a handler to the data of its kind. */
export function job<N extends JobName>(definition: JobDefinition<N>): JobDefinition {
  return { ...definition, run: (data) => definition.run(data as JobData[N]) };
}

export interface Pump {
  /** Milliseconds since it last fetched jobs successfully, or had no free slot to fetch for. */
  msSinceLastFetch(): number;
  /** Takes no more jobs and waits for those running; jobs still running after the time are returned to the queue. */
  stop(graceMs: number): Promise<void>;
}

/** How long new work of another process may go unnoticed. Work of this process is noticed at once. */
const pollIntervalMs = 500;

/** How often to check for jobs of dead workers and for ended jobs while the worker sleeps. */
const maxUnsupervisedMs = 60_000;

/**
 * Slots beyond `concurrency`: two for users who have no job of this kind running in any process, and one more for a
 * workspace that has none. One user's long jobs can't fill them, so another's job starts at once.
 */
const reservedSlots = { people: 2, workspaces: 1 } as const;

/** Who may take the next slot when this many are taken; null: nobody. */
export function admissionAt(
  taken: number,
  { concurrency, hasReservedSlots }: Pick<JobDefinition, "concurrency" | "hasReservedSlots">,
): Admission | null {
  if (taken < concurrency) return "anyone";
  if (!hasReservedSlots) return null;
  if (taken < concurrency + reservedSlots.people) return "idle_person";
  return taken < concurrency + reservedSlots.people + reservedSlots.workspaces ? "idle_workspace" : null;
}

/** Hooks of the worker around the pump. */
export interface PumpOptions {
  /** Called when a job starts; the returned function when it has ended. */
  readonly onStart?: (name: JobName) => () => void;
  /** Whether the worker sleeps until a notification; the pump does not poll meanwhile. */
  readonly isAsleep?: () => boolean;
}

/** How a trace shows a run of a job. */
function workOf({ name }: JobDefinition, { id, retryCount }: ClaimedJob): TracedWork {
  return {
    name: `job ${name}`,
    kind: "consumer",
    attributes: { "parley.queue": name, "parley.job_id": id, "parley.attempt": retryCount + 1 },
  };
}

/**
 * Takes jobs as slots become free and runs them. pg-boss's own worker does one job per poll (22 a second); this claims
 * jobs until no slot is free, alternating between users and workspaces (fair-fetch.ts). A running job sends a
 * heartbeat; when its process dies, another takes it after 10 s. Completing a job names the attempt, so a worker that
 * was taken for dead can't complete a job that has moved on.
 */
export function startPump(
  queue: JobQueue,
  jobs: readonly JobDefinition[],
  log: FastifyBaseLogger,
  { onStart = () => () => undefined, isAsleep = () => false }: PumpOptions = {},
): Pump {
  const running = new Map<string, { definition: JobDefinition; job: ClaimedJob; done: Promise<void> }>();
  let isStopping = false;
  let filling: Promise<void> | null = null;
  let isWoken = false;
  let lastFetchAt = performance.now();

  function wake(): void {
    isWoken = true;
    if (isStopping) return;
    filling ??= fill().finally(() => {
      filling = null;
    });
  }

  async function fill(): Promise<void> {
    try {
      do {
        isWoken = false;
        for (const definition of jobs) await fetchInto(definition);
        lastFetchAt = performance.now();
      } while (isWoken && !isStopping);
    } catch (error) {
      log.warn({ err: error }, "could not fetch jobs; retrying");
    }
  }

  async function fetchInto(definition: JobDefinition): Promise<void> {
    if (await definition.isPaused?.()) return;
    while (!isStopping) {
      const taken = [...running.values()].filter((entry) => entry.definition === definition).length;
      const admission = admissionAt(taken, definition);
      const claimed = admission === null ? undefined : await queue.claim(definition.name, admission);
      if (claimed === undefined) return;
      const done = runOne(definition, claimed).finally(() => {
        running.delete(claimed.id);
        wake();
      });
      running.set(claimed.id, { definition, job: claimed, done });
    }
  }

  async function runOne(definition: JobDefinition, taken: ClaimedJob): Promise<void> {
    const attempt = { id: taken.id, retryCount: taken.retryCount };
    const end = onStart(definition.name);
    const startedAt = performance.now();
    let result: "success" | "failure" = "failure";
    try {
      await traced(
        () => workOf(definition, taken),
        async () => {
          await definition.run(taken.data as JobData[JobName]);
          await queue.boss.complete(definition.name, attempt);
        },
      );
      result = "success";
    } catch (error) {
      log.warn(
        { err: error, job: definition.name, jobId: taken.id, attempt: taken.retryCount + 1 },
        "job failed",
      );
      // If even this can't be written, the missing heartbeat returns the job to the queue.
      await queue.boss
        .fail(definition.name, attempt, { message: (error as Error).message })
        .catch((failure: Error) =>
          log.warn({ err: failure, jobId: taken.id }, "job could not be returned to the queue"),
        );
    } finally {
      end();
      const seconds = (performance.now() - startedAt) / 1000;
      jobFinished.publish({ queue: definition.name, result, seconds });
    }
  }

  async function supervise(): Promise<void> {
    logStoppedJobs(log, await queue.stopDeadlyJobs());
    await queue.boss.supervise();
  }

  async function beat(): Promise<void> {
    for (const definition of jobs) {
      const attempts = [...running.values()]
        .filter((entry) => entry.definition === definition)
        .map((entry) => ({ id: entry.job.id, retryCount: entry.job.retryCount }));
      if (attempts.length > 0) await queue.boss.touch(definition.name, attempts);
    }
  }

  const poll = setInterval(() => {
    // A sleeping worker has checked and found nothing; the sleep itself checks again every few seconds.
    if (isAsleep()) lastFetchAt = performance.now();
    else wake();
  }, pollIntervalMs);
  let [supervisedAt, tickedAt, steadySince] = [0, 0, 0];
  const supervision = setInterval(() => {
    const now = Date.now();
    // It also removes jobs that ended a while ago, which can wait.
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
  const heart = setInterval(
    () => {
      beat().catch((error: Error) =>
        log.warn({ err: error }, "could not write the heartbeat of running jobs"),
      );
    },
    (heartbeatSeconds * 1000) / 4,
  );
  queue.onWake(wake);
  wake();

  return {
    msSinceLastFetch: () => performance.now() - lastFetchAt,
    async stop(graceMs) {
      isStopping = true;
      clearInterval(poll);
      clearInterval(supervision);
      // A job being fetched belongs to this process as well.
      await filling;
      const drained = Promise.all([...running.values()].map((entry) => entry.done));
      await Promise.race([drained, new Promise((resolve) => setTimeout(resolve, graceMs).unref())]);
      clearInterval(heart);
      for (const { definition, job: unfinished } of running.values()) {
        await queue.boss.fail(definition.name, { id: unfinished.id, retryCount: unfinished.retryCount });
      }
    },
  };
}
