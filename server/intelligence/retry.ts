import type { ModelError } from "./model.ts";

/** When a model that failed is asked again. */
export interface RetryPolicy {
  readonly firstDelayMs: number;
  readonly longestDelayMs: number;
  /** What a server may ask for at most. */
  readonly longestRetryAfterMs: number;
  /** Longer waits end the job; it goes on by the sweep. */
  readonly longestWaitInJobMs: number;
  /** When nothing has succeeded for so long, the run fails. */
  readonly giveUpAfterMs: number;
  /** Answers that make no sense cost as much as others; after so many in a row the run fails. */
  readonly mostNonsense: number;
  /** How often a run that failed because of settings is tried again: they may have been put right. */
  readonly slowlyMs: number;
  /** And for how long. */
  readonly slowlyForMs: number;
}

/** A day: a model's machine that is down over night is back by then. */
export const defaultRetryPolicy: RetryPolicy = {
  firstDelayMs: 2_000,
  longestDelayMs: 600_000,
  longestRetryAfterMs: 3_600_000,
  longestWaitInJobMs: 20_000,
  giveUpAfterMs: 86_400_000,
  mostNonsense: 4,
  slowlyMs: 6 * 3_600_000,
  slowlyForMs: 7 * 86_400_000,
};

/** What to do after a failure: ask again after a while, or give up, for good or until a look in some hours. */
export type Decision =
  | { readonly what: "again"; readonly delayMs: number }
  | { readonly what: "fail"; readonly againInMs: number | null };

/**
 * @param failures so far in a row, this one included, and for how long they last.
 */
export function decide(
  policy: RetryPolicy,
  error: ModelError,
  failures: { readonly attempts: number; readonly failing_ms: number },
): Decision {
  switch (error.failure) {
    case "final":
      return { what: "fail", againInMs: null };
    case "settings":
      return {
        what: "fail",
        againInMs: failures.failing_ms + policy.slowlyMs > policy.slowlyForMs ? null : policy.slowlyMs,
      };
    case "nonsense":
      if (failures.attempts >= policy.mostNonsense) return { what: "fail", againInMs: null };
      return { what: "again", delayMs: backoffMs(policy, failures.attempts, null) };
    case "passing": {
      const delayMs = backoffMs(policy, failures.attempts, error.retryAfterMs);
      if (failures.failing_ms + delayMs > policy.giveUpAfterMs) return { what: "fail", againInMs: null };
      return { what: "again", delayMs };
    }
  }
}

/** @param attempts failures so far, 1 at least. @param retryAfterMs what the server asked for. */
function backoffMs(policy: RetryPolicy, attempts: number, retryAfterMs: number | null): number {
  const doubled = Math.min(policy.longestDelayMs, policy.firstDelayMs * 2 ** Math.min(attempts - 1, 30));
  return Math.max(doubled, Math.min(retryAfterMs ?? 0, policy.longestRetryAfterMs));
}
