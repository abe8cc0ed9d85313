import type { FastifyBaseLogger } from "fastify";
import { companionFailed, uploadFinished } from "./signals.ts";

/** Logs failures that are counted, with what helps to find their cause. @returns ends the logging. */
export function logFailures(log: Pick<FastifyBaseLogger, "warn">): () => void {
  const subscriptions = [
    uploadFinished.subscribe(({ failure }) => {
      if (failure !== null) log.warn(failure, "an upload failed");
    }),
    companionFailed.subscribe((failure) =>
      log.warn(
        failure,
        `a recording is complete without its ${failure.companion === "all" ? "thumbnail and waveform" : failure.companion}, which could not be created; \`parley files verify --repair\` tries again`,
      ),
    ),
  ];
  return () => {
    for (const end of subscriptions) end();
  };
}
