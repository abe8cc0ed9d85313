const kibibyte = 1024;

/** Proxies that accept less than this are not adapted to. */
const minChunkBytes = 256 * kibibyte;

/** The size of an upload's chunks, shared by all uploads of one session. */
export interface ChunkSize {
  /** @returns the size of the next chunk of a file whose chunks would best have `preferredBytes`. */
  next(preferredBytes: number): number;
  /** A chunk has arrived: the next ones may be larger, up to the size that last failed. */
  arrived(chunkBytes: number): void;
  /**
   * A chunk failed because of its size, or perhaps because of it: the next ones are half as large. They grow again only up
   * to sizes that have arrived.
   * @param why `refused` by a proxy (status 413), or the connection was `reset` while it was sent.
   * @returns false if it can't be smaller.
   */
  failed(chunkBytes: number, why: "refused" | "reset"): boolean;
}

/** Proxies in front of a server limit request bodies, to 1 MiB by default in nginx; clients find the limit by trying. */
export function createChunkSize(): ChunkSize {
  let current = Number.POSITIVE_INFINITY;
  let limit = Number.POSITIVE_INFINITY;
  let largestArrived = 0;
  return {
    next: (preferredBytes) => Math.min(preferredBytes, current),
    arrived(chunkBytes) {
      largestArrived = Math.max(largestArrived, chunkBytes);
      if (chunkBytes >= current) current = Math.min(2 * current, limit);
    },
    failed(chunkBytes, why) {
      if (chunkBytes <= minChunkBytes) return false;
      current = Math.min(current, Math.max(minChunkBytes, Math.floor(chunkBytes / 2)));
      // A proxy's limit has changed if it refuses what arrived before.
      if (why === "refused") largestArrived = Math.min(largestArrived, current);
      limit = Math.max(largestArrived, current);
      return true;
    },
  };
}

/** Whether a response is a proxy's, which refuses the size of the body: the server's own 413 has a detail. */
export function isRefusedByProxy(status: number, body: string): boolean {
  if (status !== 413) return false;
  try {
    return typeof (JSON.parse(body) as { detail?: unknown } | null)?.detail !== "string";
  } catch {
    return true;
  }
}

/** What a user can do about a body that a proxy refuses and that can't be smaller. */
export const proxyLimitText =
  "A proxy in front of the server refuses requests of this size (status 413). The server's administrator can raise its limit, with client_max_body_size in nginx.";
