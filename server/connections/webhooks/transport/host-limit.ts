import type { RateLimiter } from "../../../platform/http/limits/rate-limit.ts";

/** Limits the requests that hooks send to one host, over all hooks and processes. */
export interface HostLimit {
  /**
   * Counts one request to the URL's host.
   * @returns 0 if it may be sent, or else after how many milliseconds to try again.
   */
  take(url: string): Promise<number>;
}

/**
 * Creates a limit for each host name, shared by all processes. Without it, many hooks with the same host would turn each
 * change of a recording into as many requests to a host that never agreed to more than a test request.
 * @param requestsPerMinute 0: no limit.
 */
export function createHostLimit(limiter: RateLimiter, requestsPerMinute: number): HostLimit {
  return {
    async take(url) {
      if (requestsPerMinute === 0) return 0;
      // The name without the port: several ports of a host are still one host.
      const host = new URL(url).hostname.replace(/\.$/, "");
      const { exceeded, resetMs } = await limiter.take(`hook-host:${host}`, requestsPerMinute);
      return exceeded ? Math.max(1, resetMs) : 0;
    },
  };
}
