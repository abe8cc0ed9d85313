import type { RetryPolicy } from "./retry.ts";

/** As quick as tests want it; waits of more than a second belong to the sweep. */
export const quickRetry: RetryPolicy = {
  firstDelayMs: 1,
  longestDelayMs: 5,
  longestRetryAfterMs: 3_600_000,
  longestWaitInJobMs: 1000,
  giveUpAfterMs: 86_400_000,
  mostNonsense: 3,
  slowlyMs: 6 * 3_600_000,
  slowlyForMs: 7 * 86_400_000,
};
