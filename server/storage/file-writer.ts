import type { FileHandle } from "node:fs/promises";
import type { WriteTraffic } from "./write-traffic.ts";

/** Bytes after which the disk is set to work, so that the fsync at the end has little left to do. */
const earlySyncBytes = 64 * 1024 * 1024;

/**
 * Writes chunks to a file one batch behind the reader: while one batch is on its way to the disk the next is gathered,
 * never more than two. What came before `chunks` failed is written all the same. Does not sync the end.
 * @param position where the first byte goes.
 * @returns where the next byte would go.
 */
export async function writeChunks(
  file: FileHandle,
  position: number,
  chunks: AsyncIterable<Buffer>,
  traffic: WriteTraffic,
): Promise<number> {
  let batch: Buffer[] = [];
  let gathered = 0;
  let next = position;
  let writing: Promise<void> = Promise.resolve();
  const sync = earlySync(file, position, traffic);

  const startWriting = async (): Promise<void> => {
    await writing;
    const [buffers, at] = [batch, next];
    next += gathered;
    batch = [];
    gathered = 0;
    writing = writeAll(file, buffers, at);
    // It is awaited before the next batch or at the end; until then its failure must not count as unhandled.
    writing.catch(() => {});
    sync.reached(at);
  };

  const leave = traffic.enter();
  try {
    for await (const chunk of chunks) {
      batch.push(chunk);
      gathered += chunk.length;
      traffic.received(chunk.length);
      if (gathered >= traffic.batchBytes()) await startWriting();
    }
  } finally {
    // Nothing may still be writing when the caller closes the file.
    try {
      if (gathered > 0) await startWriting();
      await writing;
    } finally {
      leave();
      await sync.done();
    }
  }
  return next;
}

/** Writes all of the buffers; the system may take fewer bytes than it was given. */
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

/** Starts a sync each time enough was written, one at a time, without anybody waiting for it. */
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
      if (isRunning || position - synced < earlySyncBytes || !traffic.beginSync()) return;
      synced = position;
      isRunning = true;
      running = file
        .datasync()
        // The system reports a failed write only once, so it must not be lost here: done() throws it.
        .catch((error: unknown) => {
          failure = error;
        })
        .finally(() => {
          isRunning = false;
          traffic.endSync();
        });
    },
    async done() {
      await running;
      if (failure !== undefined) throw failure;
    },
  };
}
