import { setTimeout as delay } from "node:timers/promises";
import type { FastifyBaseLogger } from "fastify";

export interface Schedule {
  stop(): Promise<void>;
}

type Tasks = Readonly<Record<string, () => Promise<void>>>;

/** How long the next schedule waits for the first run of the one before. */
const maxFirstRunMs = 500;

/**
 * Starts schedules one after another. Those that start together open a database connection each, at the start and at every
 * time they have in common.
 */
export function startSchedules(
  log: FastifyBaseLogger,
  schedules: readonly { readonly intervalMs: number; readonly tasks: Tasks }[],
): Schedule {
  const started: Schedule[] = [];
  const stopping = Promise.withResolvers<void>();
  let isStopping = false;

  async function startAll(): Promise<void> {
    for (const { intervalMs, tasks } of schedules) {
      if (isStopping) return;
      const schedule = startSchedule(intervalMs, log, tasks);
      started.push(schedule);
      await Promise.race([
        schedule.firstRun,
        delay(maxFirstRunMs, undefined, { ref: false }),
        stopping.promise,
      ]);
    }
  }

  const starting = startAll();
  return {
    async stop() {
      isStopping = true;
      stopping.resolve();
      await starting;
      for (const schedule of started) await schedule.stop();
    },
  };
}

/**
 * Runs what each process does for itself, one after the other, at the start and then at every interval: polls that are too
 * frequent for a job, and its own folders. Each must be safe to run in several processes concurrently.
 */
export function startSchedule(
  intervalMs: number,
  log: FastifyBaseLogger,
  tasks: Tasks,
): Schedule & { readonly firstRun: Promise<void> } {
  let current: Promise<void> | null = null;

  async function runAll(): Promise<void> {
    for (const [name, task] of Object.entries(tasks)) {
      try {
        await task();
      } catch (error) {
        log.warn({ err: error, task: name }, "a recurring task failed; it runs again at the next interval");
      }
    }
  }

  function tick(): Promise<void> {
    current ??= runAll().finally(() => {
      current = null;
    });
    return current;
  }

  const timer = setInterval(tick, intervalMs);
  return {
    firstRun: tick(),
    async stop() {
      clearInterval(timer);
      await current;
    },
  };
}
