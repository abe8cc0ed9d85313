import type { FastifyBaseLogger } from "fastify";
import type { JobWithMetadata } from "pg-boss";
import { heartbeatSeconds, type JobData, type JobName, type JobQueue } from "./queue.ts";

/** One kind of job: what it does and how many of it this process does at once. */
export interface JobDefinition<N extends JobName = JobName> {
  readonly name: N;
  readonly concurrency: number;
  run(data: JobData[N]): Promise<void>;
}

/** Ties a handler to the data of its kind. */
export function job<N extends JobName>(definition: JobDefinition<N>): JobDefinition {
  return definition as unknown as JobDefinition;
}

export interface Pump {
  /** Takes no more jobs and waits for those running; jobs still running after the time are handed back. */
  stop(graceMs: number): Promise<void>;
}

/** How long new work of another process may go unnoticed. Work of this process is noticed at once. */
const pollIntervalMs = 500;

/**
 * Takes jobs as slots become free and runs them. pg-boss's own worker does one job per poll (22 a second); this
 * fetches as many as fit. A running job shows a heartbeat; when its process dies, another takes it after 10 s.
 * Settling names the attempt, so a worker that was taken for dead can't settle a job that has moved on.
 */
export function startPump(queue: JobQueue, jobs: readonly JobDefinition[], log: FastifyBaseLogger): Pump {
  const running = new Map<string, { definition: JobDefinition; job: JobWithMetadata; done: Promise<void> }>();
  let isStopping = false;
  let filling: Promise<void> | null = null;
  let isWoken = false;

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
      } while (isWoken && !isStopping);
    } catch (error) {
      log.warn({ err: error }, "could not fetch jobs; trying again");
    }
  }

  async function fetchInto(definition: JobDefinition): Promise<void> {
    const busy = [...running.values()].filter((entry) => entry.definition === definition).length;
    const free = definition.concurrency - busy;
    if (free <= 0) return;
    const fetched = await queue.boss.fetch<object>(definition.name, {
      batchSize: free,
      includeMetadata: true,
    });
    for (const fetchedJob of fetched) {
      const done = runOne(definition, fetchedJob).finally(() => {
        running.delete(fetchedJob.id);
        wake();
      });
      running.set(fetchedJob.id, { definition, job: fetchedJob, done });
    }
  }

  async function runOne(definition: JobDefinition, taken: JobWithMetadata): Promise<void> {
    const attempt = { id: taken.id, retryCount: taken.retryCount };
    try {
      await definition.run(taken.data as JobData[JobName]);
      await queue.boss.complete(definition.name, attempt);
    } catch (error) {
      log.warn(
        { err: error, job: definition.name, jobId: taken.id, attempt: taken.retryCount + 1 },
        "job failed",
      );
      // When even this can't be written, the missing heartbeat gives the job to somebody else.
      await queue.boss
        .fail(definition.name, attempt, { message: (error as Error).message })
        .catch((failure: Error) =>
          log.warn({ err: failure, jobId: taken.id }, "job could not be handed back"),
        );
    }
  }

  async function beat(): Promise<void> {
    for (const definition of jobs) {
      const attempts = [...running.values()]
        .filter((entry) => entry.definition === definition)
        .map((entry) => ({ id: entry.job.id, retryCount: entry.job.retryCount }));
      if (attempts.length > 0) await queue.boss.touch(definition.name, attempts);
    }
  }

  const poll = setInterval(wake, pollIntervalMs);
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
    async stop(graceMs) {
      isStopping = true;
      clearInterval(poll);
      // What is being fetched belongs to us as well.
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
