import type { RetryPolicy } from "../../../platform/model-server/retry.ts";

/** Fast enough for tests; waits of more than a second are left to the sweep. */
export const quickRetry: RetryPolicy = {
  firstDelayMs: 1,
  maxDelayMs: 5,
  maxRetryAfterMs: 3_600_000,
  maxWaitInJobMs: 1000,
  failAfterMs: 86_400_000,
  maxUnusable: 3,
  afterSettingsFailure: { everyMs: 6 * 3_600_000, forMs: 7 * 86_400_000 },
};
