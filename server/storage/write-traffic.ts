import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** What all writers of one store share, so that many at once take no more memory and threads than few. */
export interface WriteTraffic {
  /** How many bytes a writer gathers before it writes them. */
  batchBytes(): number;
  /** Counts a writer in; the function counts it out. */
  enter(): () => void;
  /** Told of every chunk that came. */
  received(bytes: number): void;
  /** Takes one of the places for an early sync, or says that none is free. */
  beginSync(): boolean;
  endSync(): void;
}

/**
 * What is gathered by all writers together. A socket gives 64 KiB at a time, and a call of the thread pool for each of
 * them costs more than the writing. Measured with eight files of 256 MiB at once: 2 MiB take 1.17 of the throughput of
 * 1 MiB at 5 MB more memory, 4 MiB half of it.
 */
const gatheredBytes = 2 * 1024 * 1024;
/** A file by itself: 2 MiB take 0.62 of the throughput of 1 MiB, and 512 KiB 0.65. */
const largestBatch = 1024 * 1024;
const smallestBatch = 128 * 1024;

/** Each early sync holds one of Node's four threads for files. */
const defaultSyncs = 2;

/**
 * Bytes after which dead chunks are collected. Node copies every piece of a body into a buffer of its own, and V8
 * lets these pile up to 64 MiB and more before it looks. Measured with eight files at once: without this the
 * process grows by 115 MB, with it by 30, and the sum of the short collections does not show in the throughput.
 */
const collectEveryBytes = 8 * 1024 * 1024;

/**
 * Makes the traffic of one store.
 * @param mostSyncs how many early syncs run at a time; none for what need not outlive the process.
 */
export function createWriteTraffic(mostSyncs = defaultSyncs): WriteTraffic {
  let writers = 0;
  let syncs = 0;
  let sinceCollected = 0;
  let collect: (() => void) | null = null;
  return {
    batchBytes() {
      const share = Math.floor(gatheredBytes / Math.max(1, writers));
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
    beginSync() {
      if (syncs >= mostSyncs) return false;
      syncs += 1;
      return true;
    },
    endSync() {
      syncs -= 1;
    },
  };
}

/** Gives the collection of young garbage, which takes less than a millisecond. */
function createCollector(): () => void {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as (options: { type: "minor" }) => void;
  return () => gc({ type: "minor" });
}
