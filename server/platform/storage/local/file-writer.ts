import type { FileHandle } from "node:fs/promises";
import type { WriteTraffic } from "../write-traffic.ts";

/** Bytes after which a sync is started early, so that the fsync at the end has little left to do. */
const earlySyncBytes = 64 * 1024 * 1024;

/**
 * Writes chunks to a file one batch behind the reader: while one batch is written to the disk the next is buffered,
 * never more than two. If `chunks` fails, everything before is written all the same. Does not sync the end.
 * @param position of the first byte.
 * @returns the position of the next byte.
 */
export async function writeChunks(
  file: FileHandle,
  position: number,
  chunks: AsyncIterable<Buffer>,
  traffic: WriteTraffic,
): Promise<number> {
  let batch: Buffer[] = [];
  let buffered = 0;
  let next = position;
  let writing: Promise<void> = Promise.resolve();
  const sync = earlySync(file, position, traffic);

  const startWriting = async (): Promise<void> => {
    await writing;
    const [buffers, at] = [batch, next];
    next += buffered;
    batch = [];
    buffered = 0;
    writing = writeAll(file, buffers, at);
    // It is awaited before the next batch or at the end; until then its rejection must not count as unhandled.
    writing.catch(() => {});
    sync.reached(at);
  };

  const leave = traffic.enter();
  try {
    for await (const chunk of chunks) {
      batch.push(chunk);
      buffered += chunk.length;
      traffic.received(chunk.length);
      if (buffered >= traffic.batchBytes()) await startWriting();
    }
  } finally {
    // No write may be in flight when the caller closes the file.
    try {
      if (buffered > 0) await startWriting();
      await writing;
    } finally {
      leave();
      await sync.done();
    }
  }
  return next;
}

/** Writes all of the buffers; the system may accept fewer bytes than it was given. */
async function writeAll(file: FileHandle, buffers: Buffer[], position: number): Promise<void> {
  let rest = buffers;
  let at = position;
  while (rest.length > 0) {
    const { bytesWritten } = await file.writev(rest, at);
    at += bytesWritten;
    rest = after(rest, bytesWritten);
  }
}

function after(buffers: Buffer[], bytes: number): Buffer[] {
  let left = bytes;
  let index = 0;
  for (; index < buffers.length; index++) {
    const length = (buffers[index] as Buffer).length;
    if (left < length) break;
    left -= length;
  }
  const [first, ...others] = buffers.slice(index);
  return first === undefined ? [] : [first.subarray(left), ...others];
}

/** Starts a sync whenever enough was written, one at a time, without waiting for it. */
function earlySync(
  file: FileHandle,
  start: number,
  traffic: WriteTraffic,
): { reached(position: number): void; done(): Promise<void> } {
  let synced = start;
  let isRunning = false;
  let running: Promise<void> = Promise.resolve();
  let failure: unknown;
  return {
    reached(position) {
      if (isRunning || position - synced < earlySyncBytes) return;
      const endSync = traffic.tryBeginSync();
      if (endSync === null) return;
      synced = position;
      isRunning = true;
      running = file
        .datasync()
        // The system reports a failed write only once, so the error must not be lost: done() throws it.
        .catch((error: unknown) => {
          failure = error;
        })
        .finally(() => {
          isRunning = false;
          endSync();
        });
    },
    async done() {
      await running;
      if (failure !== undefined) throw failure;
    },
  };
}
