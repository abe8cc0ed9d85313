import type { RecordingDocument } from "../../../contract/documents/document.ts";
import { createSemaphore } from "../../platform/concurrency.ts";
import { ProblemError } from "../../platform/http/errors/problem.ts";
import { runThread, ThreadLimitError } from "../../platform/run-thread.ts";

/** What the thread gets. */
export interface WordTask {
  readonly document: RecordingDocument;
  readonly timeZone: string;
}

export interface WordWriter {
  /** @throws ProblemError `unavailable` while too many documents wait, or for one that takes too long or too much memory. */
  write(document: RecordingDocument, timeZone: string): Promise<Buffer>;
}

const maxWaiting = 20;
const limits = { timeoutMs: 50_000, maxHeapMb: 1024, maxYoungMb: 64 };

/** Writes Word documents, one at a time and in a thread of its own: a long transcript takes seconds. */
export function createWordWriter(): WordWriter {
  const semaphore = createSemaphore(1);
  return {
    async write(document, timeZone) {
      if (semaphore.waiting >= maxWaiting)
        throw unavailable("too many documents are being written; try again shortly");
      return semaphore.run(() => runTask({ document, timeZone }));
    },
  };
}

function unavailable(detail: string): ProblemError {
  return new ProblemError("unavailable", detail, { headers: { "retry-after": "10" } });
}

async function runTask(task: WordTask): Promise<Buffer> {
  try {
    const bytes = await runThread<Uint8Array>(new URL("./word-thread.ts", import.meta.url), task, limits);
    return Buffer.from(bytes.buffer);
  } catch (error) {
    if (!(error instanceof ThreadLimitError)) throw error;
    throw unavailable(
      error.limit === "time"
        ? "writing the document took too long; try again shortly"
        : "writing the document takes too much memory; leave out the transcript, or try again later",
    );
  }
}
