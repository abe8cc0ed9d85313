import { getCompileCacheDir } from "node:module";
import { Worker } from "node:worker_threads";
import type { RecordingDocument } from "../../../contract/documents/document.ts";
import { createSemaphore } from "../../platform/concurrency.ts";
import { ProblemError } from "../../platform/http/errors/problem.ts";

/** What the thread gets. */
export interface WordTask {
  readonly document: RecordingDocument;
  readonly timeZone: string;
}

export interface WordWriter {
  /** @throws ProblemError `unavailable` while too many documents wait. */
  write(document: RecordingDocument, timeZone: string): Promise<Buffer>;
}

const maxWaiting = 20;
const timeoutMs = 50_000;
const maxHeapMb = 1024;

/** Writes Word documents, one at a time and in a thread of its own: a long transcript takes seconds. */
export function createWordWriter(): WordWriter {
  const semaphore = createSemaphore(1);
  return {
    async write(document, timeZone) {
      if (semaphore.waiting >= maxWaiting) throw unavailable("too many documents are being written");
      return semaphore.run(() => runThread({ document, timeZone }));
    },
  };
}

function unavailable(reason: string): ProblemError {
  return new ProblemError("unavailable", `${reason}; try again shortly`, {
    headers: { "retry-after": "10" },
  });
}

async function runThread(task: WordTask): Promise<Buffer> {
  const folder = getCompileCacheDir();
  const worker = new Worker(new URL("./word-thread.ts", import.meta.url), {
    workerData: task,
    env: folder === undefined ? {} : { NODE_COMPILE_CACHE: folder },
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMb, maxYoungGenerationSizeMb: 64 },
  });
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  worker.on("message", (bytes: Uint8Array) => resolve(Buffer.from(bytes.buffer)));
  worker.on("error", reject);
  worker.on("exit", () => setImmediate(() => reject(new Error("the thread ended without a document"))));
  const timer = setTimeout(() => reject(unavailable("writing the document took too long")), timeoutMs);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}
