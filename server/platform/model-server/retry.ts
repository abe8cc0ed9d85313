import type { ModelServerError } from "./refusal.ts";

/** When a failed model server is asked again. */
export interface RetryPolicy {
  /** After the first failure; doubles with each further one. */
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
  /** The longest wait that a server may ask for. */
  readonly maxRetryAfterMs: number;
  /** A job waits this long itself; for longer waits it ends, and a sweep starts it again. */
  readonly maxWaitInJobMs: number;
  /** The run fails when nothing has succeeded for this long. */
  readonly failAfterMs: number;
  /** The run fails after this many unusable responses in a row, which cost as much as usable ones; null: no limit. */
  readonly maxUnusable: number | null;
  /** How often, and for how long, to retry a run that failed because of settings, which may have been corrected. */
  readonly afterSettingsFailure: { readonly everyMs: number; readonly forMs: number } | null;
}

/** A day: a model server that is down overnight, or an account without credit, is usually back by then. */
export const defaultRetryPolicy: RetryPolicy = {
  firstDelayMs: 2_000,
  maxDelayMs: 600_000,
  maxRetryAfterMs: 3_600_000,
  maxWaitInJobMs: 20_000,
  failAfterMs: 86_400_000,
  maxUnusable: null,
  afterSettingsFailure: null,
};

/** What to do after a failure. */
export type RetryDecision =
  | { readonly action: "retry"; readonly delayMs: number }
  /** `retryInMs` is null when only a user can start the run again. */
  | { readonly action: "fail"; readonly retryInMs: number | null };

/** @param failures how many in a row, including this one, and for how long. */
export function decideRetry(
  policy: RetryPolicy,
  error: Pick<ModelServerError, "failure" | "retryAfterMs">,
  failures: { readonly attempts: number; readonly failing_ms: number },
): RetryDecision {
  const { attempts, failing_ms: failingMs } = failures;
  if (error.failure === "permanent") return { action: "fail", retryInMs: null };
  if (error.failure === "settings") {
    const { everyMs, forMs } = policy.afterSettingsFailure ?? { everyMs: 0, forMs: -1 };
    return { action: "fail", retryInMs: failingMs + everyMs > forMs ? null : everyMs };
  }
  const delayMs = backoffMs(policy, attempts, error.retryAfterMs);
  const isOver =
    error.failure === "unusable" && policy.maxUnusable !== null
      ? attempts >= policy.maxUnusable
      : failingMs + delayMs > policy.failAfterMs;
  return isOver ? { action: "fail", retryInMs: null } : { action: "retry", delayMs };
}

function backoffMs(policy: RetryPolicy, attempts: number, retryAfterMs: number | null): number {
  const doubled = Math.min(policy.maxDelayMs, policy.firstDelayMs * 2 ** Math.min(attempts - 1, 30));
  return Math.max(doubled, Math.min(retryAfterMs ?? 0, policy.maxRetryAfterMs));
}
