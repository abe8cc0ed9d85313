import { createChunkSize } from "../../../shared/files/chunk-size.ts";
import type { UploadSource } from "../../../shared/files/send-in-chunks.ts";
import { ApiError, isOutage } from "../../api/client/api-error.ts";
import { findImport, type ImportBody } from "../../api/uploads.ts";
import { sendFile } from "../../uploads/sending/send-file.ts";
import type { Outbox } from "./outbox.ts";

/** Delay before reconnecting, unless the browser comes online earlier. */
const reconnectMs = 5000;

export interface Progress {
  /** Bytes that the server has stored. */
  readonly sent: number;
  readonly isOffline: boolean;
}

/** The server has closed the upload with less than this browser has. */
export class UploadEndedError extends Error {
  override readonly name = "UploadEndedError";
}

/** Whether the server has all bytes of a recording, of which this browser has recorded `total` and no more follow. */
export function isConfirmed({ file_bytes }: Pick<ImportBody, "file_bytes">, total: number): boolean {
  return file_bytes !== null && file_bytes >= total;
}

/**
 * Sends a recording until the server confirms that it has all of it, through lost connections and server restarts.
 * @param options.isStarted whether the server may have a part already.
 * @throws ApiError when the server refuses it, UploadEndedError when it has closed the upload with less, an error of the outbox, the signal's reason.
 */
export async function transfer(
  uploadId: string,
  outbox: Outbox,
  options: {
    readonly isStarted: boolean;
    readonly signal: AbortSignal;
    readonly onProgress: (progress: Progress) => void;
  },
): Promise<void> {
  const { signal } = options;
  const chunkSize = createChunkSize();
  let { isStarted } = options;
  let sent = 0;
  let isSent = false;
  let unreadable: unknown = null;
  const source: UploadSource = {
    size: null,
    hasBeginning: outbox.hasBeginning,
    async slice(start, end) {
      try {
        const part = await outbox.slice(start, end);
        unreadable = null;
        return part;
      } catch (error) {
        // The tus client would take it for a lost connection.
        unreadable = error;
        throw error;
      }
    },
  };
  const report = (isOffline: boolean): void => options.onProgress({ sent, isOffline });
  for (;;) {
    try {
      const found = await findImport(uploadId, signal);
      if (outbox.isComplete() && isConfirmed(found, outbox.total())) return;
      const { upload, failure } = found;
      if (failure !== null) throw new Error(failure.reason);
      // More may follow, or the highlighted moments are still being saved.
      if (upload === null && !outbox.isComplete()) {
        await reconnected(signal);
        continue;
      }
      if (upload === null)
        throw new UploadEndedError("The server has closed this upload and no longer takes the rest.");
      // It has yet to notice that the file is whole.
      if (isSent) await reconnected(signal);
      await sendFile(source, upload.tus_url, {
        isStarted,
        chunkSize,
        signal,
        onArrived: (arrived) => {
          isStarted = true;
          sent = arrived;
          report(false);
          void outbox.acknowledge(arrived);
        },
        onProgress: () => undefined,
      });
      isSent = true;
    } catch (error) {
      if (unreadable !== null) throw unreadable;
      if (signal.aborted || !isPassing(error)) throw error;
      // From now on the server is asked for the offset.
      isStarted = true;
      report(true);
      await reconnected(signal);
    }
  }
}

/** Whether the same request may succeed later. */
function isPassing(error: unknown): boolean {
  return isOutage(error) || (error instanceof ApiError && [408, 409, 423, 429].includes(error.status));
}

function reconnected(signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, reconnectMs);
  const stop = (): void => reject(signal.reason);
  const proceed = (): void => resolve();
  window.addEventListener("online", proceed);
  signal.addEventListener("abort", stop, { once: true });
  return promise.finally(() => {
    clearTimeout(timer);
    window.removeEventListener("online", proceed);
    signal.removeEventListener("abort", stop);
  });
}
