import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Locker, RequestRelease } from "@tus/server";
import type { Database } from "../../../platform/db/database.ts";
import type { SweepLog } from "../../../platform/jobs/for-each-isolated.ts";
import { releaseLease, renewLease, takeLease } from "./resumable-queries.ts";

/** How long a lease outlives its holder's last renewal: the longest wait for a sender after a server was killed. */
const leaseMs = 10_000;
/** How often a holder renews, and so how soon it notices that another request waits. */
const renewMs = 1000;
/** How often a waiting request asks again. */
const askMs = 200;
/** How long a request waits for the lease: longer than the lease of a dead holder lasts. */
const waitMs = 12_000;

/** Locked by another server that does not release it. tus returns 423 so that clients retry. */
export const stillLocked = {
  status_code: 423,
  body: "Another request is still sending to this upload; try again shortly\n",
};

/** Allows one request at a time to write to an upload, across all processes that share the database. */
export interface LeaseLocker extends Locker {
  /** Whether this process is still allowed to write. It loses the lease by not renewing it for ten seconds. */
  isHeld(uploadId: string): Promise<boolean>;
  /** Asks every writing request to finish. */
  releaseAll(): void;
}

interface Holding {
  readonly holder: string;
  readonly requestRelease: RequestRelease;
  readonly released: Promise<void>;
}

/**
 * The newest request wins, as tus advises: a sender that lost its connection returns while the server may still
 * consider the old one alive. So a new request asks the holder to stop and waits for it. Within the process that is
 * immediate; a holder in another process notices when it renews its lease, and a dead holder does not renew. A lease is
 * a row with a time, and no database connection is held meanwhile: a file may take hours.
 */
export function createLeaseLocker(deps: {
  readonly db: Database;
  readonly log: Pick<SweepLog, "warn">;
}): LeaseLocker {
  const { log } = deps;
  const db = deps.db.kysely;
  const holdings = new Map<string, Holding>();

  /**
   * Waits until no request of this process holds the upload, and becomes its holder. @returns the function that ends
   * the holding.
   */
  async function enter(
    uploadId: string,
    holder: string,
    requestRelease: RequestRelease,
    signal: AbortSignal,
  ): Promise<() => void> {
    for (;;) {
      const current = holdings.get(uploadId);
      if (current === undefined) break;
      await current.requestRelease();
      await Promise.race([current.released, aborted(signal)]);
      if (signal.aborted) throw stillLocked;
    }
    const { promise: released, resolve } = Promise.withResolvers<void>();
    holdings.set(uploadId, { holder, requestRelease, released });
    return () => {
      holdings.delete(uploadId);
      resolve();
    };
  }

  async function take(uploadId: string, holder: string, signal: AbortSignal): Promise<void> {
    try {
      while (!(await takeLease(db, uploadId, holder, leaseMs))) {
        if (signal.aborted) throw stillLocked;
        await delay(askMs);
      }
    } catch (error) {
      // The lease belongs to an upload that a sweep has removed in the meantime.
      if ((error as { code?: unknown }).code === "23503")
        throw (await import("@tus/server")).ERRORS.FILE_NOT_FOUND;
      throw error;
    }
  }

  /** Renews until it is stopped. A failed renewal ends the request, which costs one chunk. */
  function keep(uploadId: string, holder: string, requestRelease: RequestRelease): () => Promise<void> {
    const stop = new AbortController();
    const running = (async () => {
      while (!stop.signal.aborted) {
        const isOver = await delay(renewMs, false, { signal: stop.signal }).catch(() => true);
        if (isOver) return;
        const renewal = await renewLease(db, uploadId, holder, leaseMs).catch((error: unknown) => {
          log.warn(
            { err: error, uploadId },
            "could not renew the lease of a resumable upload; ending its request",
          );
          return "lost" as const;
        });
        if (renewal !== "held") await requestRelease();
      }
    })();
    return () => {
      stop.abort();
      return running;
    };
  }

  return {
    newLock(uploadId) {
      const holder = randomUUID();
      let unlock = async (): Promise<void> => {};
      return {
        async lock(signal, requestRelease) {
          const timeout = AbortSignal.any([signal, AbortSignal.timeout(waitMs)]);
          const leave = await enter(uploadId, holder, requestRelease, timeout);
          try {
            await take(uploadId, holder, timeout);
          } catch (error) {
            leave();
            throw error;
          }
          const stopKeeping = keep(uploadId, holder, requestRelease);
          unlock = async () => {
            await stopKeeping();
            await releaseLease(db, uploadId, holder).catch((error: unknown) => {
              // The received bytes are kept all the same, and the lease expires.
              log.warn({ err: error, uploadId }, "could not release the lease of a resumable upload");
            });
            leave();
          };
        },
        unlock: () => unlock(),
      };
    },
    async isHeld(uploadId) {
      const holding = holdings.get(uploadId);
      if (holding === undefined) return false;
      return (await renewLease(db, uploadId, holding.holder, leaseMs)) !== "lost";
    },
    releaseAll() {
      for (const { requestRelease } of holdings.values()) void requestRelease();
    },
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
