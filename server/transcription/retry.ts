/** How long and how often a speech server that fails is asked again. Times in milliseconds. */
export interface RetryPolicy {
  /** After the first failure; doubles with each further one. */
  readonly firstDelayMs: number;
  readonly longestDelayMs: number;
  /** A server may ask for a longer wait; up to this. */
  readonly longestRetryAfterMs: number;
  /** Up to here the job waits; for longer it ends, and a sweep starts it again. */
  readonly longestWaitInJobMs: number;
  /** When nothing has succeeded for so long, the transcription fails. */
  readonly giveUpAfterMs: number;
}

/** A day: a model's machine that is down over night, or an account without credit, is put right by then. */
export const defaultRetryPolicy: RetryPolicy = {
  firstDelayMs: 2_000,
  longestDelayMs: 600_000,
  longestRetryAfterMs: 3_600_000,
  longestWaitInJobMs: 20_000,
  giveUpAfterMs: 86_400_000,
};

/**
 * How long to wait before the next attempt.
 * @param attempts failures so far, 1 at least.
 * @param retryAfterMs what the server asked for.
 */
export function backoffMs(policy: RetryPolicy, attempts: number, retryAfterMs: number | null): number {
  const doubled = Math.min(policy.longestDelayMs, policy.firstDelayMs * 2 ** Math.min(attempts - 1, 30));
  return Math.max(doubled, Math.min(retryAfterMs ?? 0, policy.longestRetryAfterMs));
}
