import type { FastifyBaseLogger } from "fastify";
import { eventLoopBlocked } from "./telemetry/signals.ts";

/** A block of the event loop that is longer than this is logged, in milliseconds. */
const maxBlockMs = 1000;

const checkIntervalMs = 250;

/** As many requests and jobs are named in one line of the log. */
const maxNamed = 10;

/** Knows which requests and jobs are in flight. */
export interface EventLoopWatch {
  /**
   * Notes that work begins.
   * @param name of the operation or job; never anything of its content.
   * @returns notes that it has ended; may be called again.
   */
  begin(name: string): () => void;
  stop(): void;
}

/**
 * Warns when nothing else could run for more than a second, with the requests and jobs that were in flight meanwhile:
 * one of them kept the process busy. Little processor time means that the machine was busy instead.
 */
export function watchEventLoop(log: Pick<FastifyBaseLogger, "warn">): EventLoopWatch {
  const inFlight = new Set<{ readonly name: string }>();
  /** Since the last check. */
  let ended: string[] = [];
  let before = performance.now();
  let usedBefore = process.cpuUsage();
  const timer = setInterval(() => {
    const now = performance.now();
    const blockedMs = Math.round(now - before - checkIntervalMs);
    const { user, system } = process.cpuUsage(usedBefore);
    if (blockedMs > maxBlockMs) {
      eventLoopBlocked.publish({ seconds: blockedMs / 1000 });
      const names = new Set([...ended, ...[...inFlight].map(({ name }) => name)]);
      log.warn(
        { blockedMs, cpuMs: Math.round((user + system) / 1000), inFlight: [...names].slice(0, maxNamed) },
        "the event loop was blocked; one of these requests or jobs took too long at a time",
      );
    }
    before = now;
    usedBefore = process.cpuUsage();
    ended = [];
  }, checkIntervalMs);
  timer.unref();
  return {
    begin(name) {
      const work = { name };
      inFlight.add(work);
      return () => {
        if (inFlight.delete(work) && ended.length < maxNamed) ended.push(name);
      };
    },
    stop: () => clearInterval(timer),
  };
}
