import type { FastifyBaseLogger } from "fastify";

export interface Schedule {
  stop(): Promise<void>;
}

/**
 * Runs what each process does for itself, one after the other, at the start and then at every interval: polls that are too
 * frequent for a job, and its own folders. Each must be safe to run in several processes concurrently.
 */
export function startSchedule(
  intervalMs: number,
  log: FastifyBaseLogger,
  tasks: Readonly<Record<string, () => Promise<void>>>,
): Schedule {
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

  function tick(): void {
    current ??= runAll().finally(() => {
      current = null;
    });
  }

  const timer = setInterval(tick, intervalMs);
  tick();
  return {
    async stop() {
      clearInterval(timer);
      await current;
    },
  };
}
