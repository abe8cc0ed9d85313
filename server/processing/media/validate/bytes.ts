import { readSync } from "node:fs";
import { ReadFailedError } from "./errors.ts";

/** Bytes of a file, read synchronously: validation runs in a thread of its own. */
export interface Bytes {
  readonly size: number;
  /** How many bytes to request at a time when reading on. */
  readonly blockBytes: number;
  /** How many bytes to request for a single position. */
  readonly probeBytes: number;
  /**
   * Fills `target` with the bytes that begin at `start`; all of them are within the file.
   * @throws ReadFailedError
   */
  readInto(target: Uint8Array, start: number): void;
}

/** Returns `length` bytes from `start`; fewer at the end of the file. Valid until the next call. */
export type Probe = (start: number, length: number) => Uint8Array;

/**
 * Bytes of an open file.
 * @param onRead called after each read: a slow disk is not an endless loop.
 */
export function fileBytes(descriptor: number, size: number, onRead: () => void): Bytes {
  return {
    size,
    // Measured on a warm four-hour mp3: 256 KiB to 4 MiB are equal, smaller is slower.
    blockBytes: 1 << 20,
    probeBytes: 1 << 12,
    readInto(target, start) {
      let done = 0;
      while (done < target.length) {
        const count = readSync(descriptor, target, done, target.length - done, start + done);
        if (count === 0) throw new ReadFailedError("the file is shorter than it was said to be");
        done += count;
        onRead();
      }
    },
  };
}

/** Bytes in memory. */
export function memoryBytes(content: Uint8Array, blockBytes = 1 << 16, probeBytes = 1 << 12): Bytes {
  return {
    size: content.length,
    blockBytes,
    probeBytes,
    readInto(target, start) {
      if (start < 0 || start + target.length > content.length)
        throw new ReadFailedError("a read past the end of the file");
      target.set(content.subarray(start, start + target.length));
    },
  };
}

/**
 * Reads single positions through the last two blocks read. Positions that advance in small steps make the next block
 * larger, up to `blockBytes`: on object storage each block is a request.
 */
export function createProbe(bytes: Bytes): Probe {
  interface Block {
    readonly start: number;
    readonly content: Uint8Array;
  }
  let blocks: readonly Block[] = [];
  let ahead = bytes.probeBytes;
  let lastEnd = 0;
  return (start, length) => {
    const wanted = Math.max(0, Math.min(length, bytes.size - start));
    if (wanted === 0) return new Uint8Array(0);
    const known = blocks.find(
      (block) => start >= block.start && start + wanted <= block.start + block.content.length,
    );
    if (known !== undefined) return known.content.subarray(start - known.start, start - known.start + wanted);
    // A file of this machine needs no read-ahead: its probes cost no round trip.
    const isNext = start >= lastEnd && start - lastEnd < 2 * ahead;
    ahead = isNext && bytes.probeBytes >= 1 << 16 ? Math.min(2 * ahead, bytes.blockBytes) : bytes.probeBytes;
    const content = new Uint8Array(Math.min(Math.max(wanted, ahead), bytes.size - start));
    bytes.readInto(content, start);
    lastEnd = start + content.length;
    blocks = [{ start, content }, ...blocks.slice(0, 1)];
    return content.subarray(0, wanted);
  };
}
