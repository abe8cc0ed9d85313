import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createSemaphore, type Release } from "../concurrency.ts";

/** Shared by all writers of one store, so that many concurrent writers take no more memory and threads than few. */
export interface WriteTraffic {
  /** How many bytes a writer buffers before it writes them. */
  batchBytes(): number;
  /** Registers a writer; the returned function unregisters it. */
  enter(): () => void;
  /** Called for every received chunk. */
  received(bytes: number): void;
  /** Takes a slot for an early sync; null when none is free. */
  tryBeginSync(): Release | null;
}

/**
 * The total buffer of all writers. A socket delivers 64 KiB at a time, and a thread pool call for each of them costs
 * more than the write. Measured with eight concurrent files of 256 MiB: 2 MiB have 1.17 of the throughput of 1 MiB at 5
 * MB more memory, 4 MiB half of it.
 */
const maxBufferedBytes = 2 * 1024 * 1024;
/** A single file: 2 MiB have 0.62 of the throughput of 1 MiB, and 512 KiB 0.65. */
const largestBatch = 1024 * 1024;
const smallestBatch = 128 * 1024;

/** Each early sync occupies one of Node's four threads for files. */
const defaultSyncs = 2;

/**
 * Bytes after which dead chunks are garbage-collected. Node copies every piece of a body into its own buffer, and V8
 * lets these pile up to 64 MiB and more before it collects them. Measured with eight concurrent files: without this the
 * process grows by 115 MB, with it by 30, and the short collections do not reduce the throughput measurably.
 */
const collectEveryBytes = 8 * 1024 * 1024;

/** @param maxSyncs how many early syncs run at a time; 0 for files that need not outlive the process. */
export function createWriteTraffic(maxSyncs = defaultSyncs): WriteTraffic {
  let writers = 0;
  const syncs = createSemaphore(maxSyncs);
  let sinceCollected = 0;
  let collect: (() => void) | null = null;
  return {
    batchBytes() {
      const share = Math.floor(maxBufferedBytes / Math.max(1, writers));
      return Math.min(largestBatch, Math.max(smallestBatch, share));
    },
    enter() {
      writers += 1;
      return () => {
        writers -= 1;
      };
    },
    received(bytes) {
      sinceCollected += bytes;
      if (sinceCollected < collectEveryBytes) return;
      sinceCollected = 0;
      collect ??= createCollector();
      collect();
    },
    tryBeginSync: () => syncs.tryAcquire(),
  };
}

/** Returns a function that collects young garbage, in less than a millisecond. */
function createCollector(): () => void {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as (options: { type: "minor" }) => void;
  return () => gc({ type: "minor" });
}
