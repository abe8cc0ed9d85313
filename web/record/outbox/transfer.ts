import { createChunkSize } from "../../../contract/chunk-size.ts";
import { ApiError, isOutage } from "../../api/client.ts";
import { findImport } from "../../api/uploads.ts";
import { sendFile, type UploadSource } from "../../uploads/sending/send-file.ts";
import type { Outbox } from "./outbox.ts";

/** Delay before reconnecting, unless the browser comes online earlier. */
const reconnectMs = 5000;

export interface Progress {
  /** Bytes that the server has stored. */
  readonly sent: number;
  readonly isOffline: boolean;
}

/**
 * Sends a recording until all of it has arrived, through lost connections and server restarts.
 * @param options.isStarted whether the server may have a part already.
 * @throws ApiError when the server refuses it, an error of the outbox, the signal's reason.
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
      const { upload, failure } = await findImport(uploadId, signal);
      if (failure !== null) throw new Error(failure.reason);
      // All of it has arrived, and only the response was lost.
      if (upload === null) return;
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
      return;
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
