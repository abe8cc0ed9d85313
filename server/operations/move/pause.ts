import type { FastifyBaseLogger } from "fastify";
import type { MoveHandlers } from "../../platform/db/presence.ts";
import type { Listener } from "../../platform/http/listening/listener.ts";
import { MovedError } from "./errors.ts";
import { movedMessage } from "./moved.ts";

/** How long running jobs may continue when the database is moved. */
const graceMs = 20_000;

/** Background work of a process. */
interface Work {
  msSinceLastFetch(): number;
  stop(graceMs: number): Promise<void>;
}

/** Stops requests and background work while the database is moved, and for good when it was moved. */
export interface Pause {
  readonly handlers: Pick<MoveHandlers, "pause" | "resume">;
  /** The process has started: from now on it outlives a move. */
  started(): void;
  /** Starts work that pauses with the process. */
  work(start: () => Work): Work;
}

/** @param listener null: the process serves no requests. */
export function createPause(listener: Listener | null, log: FastifyBaseLogger): Pause {
  let isPaused = false;
  let hasStarted = false;
  let hasTold = false;
  let start: (() => Work) | null = null;
  let running: Work | null = null;
  let stopping: Promise<void> = Promise.resolve();

  function stopWork(ms: number): Promise<void> {
    const work = running;
    running = null;
    if (work !== null) stopping = work.stop(ms);
    return stopping;
  }

  return {
    handlers: {
      async pause(movedTo) {
        if (movedTo !== null && !hasTold) {
          hasTold = true;
          const message = movedMessage(movedTo, null);
          if (!hasStarted) throw new MovedError(message);
          log.error(message);
        }
        if (!isPaused) log.warn("the database is being moved; requests get 503 and jobs wait");
        isPaused = true;
        listener?.refuse(
          movedTo === null
            ? "the database is being moved; try again later"
            : "the database was moved; the operator has to restart this server with the new setting",
        );
        await stopWork(graceMs);
      },
      async resume() {
        log.info("the database was not moved; requests are served again");
        isPaused = false;
        hasTold = false;
        if (start !== null) running ??= start();
        listener?.refuse(null);
      },
    },
    started() {
      hasStarted = true;
    },
    work(startWork) {
      start = startWork;
      if (!isPaused) running = startWork();
      return {
        msSinceLastFetch: () => running?.msSinceLastFetch() ?? 0,
        async stop(ms) {
          start = null;
          await stopWork(ms);
        },
      };
    },
  };
}
