export interface RetryOptions {
  /** How often a request is sent again. Default: 4. */
  readonly maxRetries?: number;
  /** The longest wait before a retry, in milliseconds; a response that asks for more is returned. Default: 60,000. */
  readonly maxWaitMs?: number;
}

export const defaultMaxWaitMs = 60_000;
/** The server refused the request before it did anything. */
const tooManyRequests = 429;
/** Statuses that don't say whether the request was processed, as a lost connection doesn't. */
const unclear = new Set([502, 503, 504]);
/** POST operations that create something or start work: sent twice, they would do it twice. */
const writes = /\/(create|promote|upload|token)$/;

/**
 * A `fetch` that sends requests again: after 429, which the server returns before it does anything, and after lost
 * connections, 502, 503 and 504 where the operation has the same result when sent twice. `Retry-After` sets the wait;
 * without it, the wait doubles from half a second. A repeated DELETE that finds nothing succeeded the first time.
 */
export function retryingFetch(
  fetch: typeof globalThis.fetch,
  options: RetryOptions = {},
): typeof globalThis.fetch {
  const { maxRetries = 4, maxWaitMs = defaultMaxWaitMs } = options;
  return async (input, init) => {
    const request = new Request(input, init);
    const isRepeatable = request.method !== "POST" || !writes.test(new URL(request.url).pathname);
    let mayBeDone = false;
    for (let retry = 0; ; retry++) {
      const isLast = retry >= maxRetries;
      let response: Response;
      try {
        response = await fetch(isLast ? request : request.clone());
      } catch (error) {
        if (isLast || !isRepeatable || request.signal.aborted) throw error;
        mayBeDone = true;
        await wait(backoffMs(retry), request.signal);
        continue;
      }
      if (mayBeDone && request.method === "DELETE" && (await isNotFound(response)))
        return Response.json({ success: true });
      const isUnclear = unclear.has(response.status);
      const isRetried = response.status === tooManyRequests || (isRepeatable && isUnclear);
      const waitMs = retryAfterMs(response) ?? backoffMs(retry);
      if (!isRetried || isLast || waitMs > maxWaitMs) return response;
      mayBeDone ||= isUnclear;
      await response.body?.cancel();
      await wait(waitMs, request.signal);
    }
  };
}

/** Whether Parley found nothing to delete; a proxy's 404 says nothing about it. */
async function isNotFound(response: Response): Promise<boolean> {
  if (response.status !== 404) return false;
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => null);
  return typeof body === "object" && body !== null && "error" in body && body.error === "not_found";
}

function backoffMs(retry: number): number {
  return 500 * 2 ** retry;
}

/** The wait that a response asks for: seconds, or an HTTP date. */
export function retryAfterMs({ headers }: Response): number | null {
  const header = headers.get("retry-after");
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
