/** A response that takes longer is slow. */
const slowMs = 1000;

/** How long a receiver takes to respond. */
export interface Latency {
  /** @returns what to give to `end`. */
  begin(): PendingRequest;
  end(request: PendingRequest): void;
  /** Whether the last response was slow, or one in flight already is. */
  isSlow(): boolean;
}

interface PendingRequest {
  readonly startedMs: number;
}

export function createLatency(): Latency {
  // In the order of their starts.
  const pending = new Set<PendingRequest>();
  let lastMs = 0;
  return {
    begin() {
      const request = { startedMs: performance.now() };
      pending.add(request);
      return request;
    },
    end(request) {
      pending.delete(request);
      lastMs = performance.now() - request.startedMs;
    },
    isSlow() {
      const [oldest] = pending;
      return lastMs >= slowMs || (oldest !== undefined && performance.now() - oldest.startedMs >= slowMs);
    },
  };
}
