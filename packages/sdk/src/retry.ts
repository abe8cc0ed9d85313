export interface RetryOptions {
  /** How often a request is sent again. Default: 4. */
  readonly maxRetries?: number;
  /** The longest wait before a retry, in milliseconds; a response that asks for more is returned. Default: 60,000. */
  readonly maxWaitMs?: number;
}

/** Statuses that say the request was not processed. */
const notProcessed = new Set([429, 503]);
/** POST operations that create something or start work: sent twice, they would do it twice. */
const writes = /\/(create|promote|upload|token)$/;

/**
 * A `fetch` that sends requests again: after 429 and 503, which the server returns before it does anything, and after
 * lost connections, 502 and 504 where the operation has the same result when sent twice. `Retry-After` sets the wait;
 * without it, the wait doubles from half a second.
 */
export function retryingFetch(
  fetch: typeof globalThis.fetch,
  options: RetryOptions = {},
): typeof globalThis.fetch {
  const { maxRetries = 4, maxWaitMs = 60_000 } = options;
  return async (input, init) => {
    const request = new Request(input, init);
    const isRepeatable = request.method !== "POST" || !writes.test(new URL(request.url).pathname);
    for (let retry = 0; ; retry++) {
      const isLast = retry >= maxRetries;
      let response: Response;
      try {
        response = await fetch(isLast ? request : request.clone());
      } catch (error) {
        if (isLast || !isRepeatable || request.signal.aborted) throw error;
        await wait(backoffMs(retry), request.signal);
        continue;
      }
      const isRetried =
        notProcessed.has(response.status) ||
        (isRepeatable && (response.status === 502 || response.status === 504));
      const waitMs = retryAfterMs(response.headers.get("retry-after")) ?? backoffMs(retry);
      if (!isRetried || isLast || waitMs > maxWaitMs) return response;
      await response.body?.cancel();
      await wait(waitMs, request.signal);
    }
  };
}

function backoffMs(retry: number): number {
  return 500 * 2 ** retry;
}

/** @param header seconds, or an HTTP date. */
function retryAfterMs(header: string | null): number | null {
  if (header === null) return null;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? null : Math.max(0, ms);
}

/** @throws the signal's reason if it is aborted. */
export function wait(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
