import { DetailedError, Upload } from "tus-js-client";
import { ApiError } from "../api/client.ts";

const mebibyte = 1024 * 1024;

/** Waits before each new attempt after a cut; then whoever sends waits for the line. */
const retryDelaysMs = [0, 1000, 3000];

/**
 * Sends a file in pieces by tus, going on after cuts.
 * @param options.isBegun pieces may be there already: the server is asked how far it came.
 * @param options.signal ends it; what has arrived stays.
 * @throws ApiError in words for the person; `unreachable` when the line is cut.
 */
export function sendFile(
  file: File,
  tusUrl: string,
  options: {
    readonly isBegun: boolean;
    readonly signal: AbortSignal;
    /** Bytes that are safe with the server. */
    readonly onArrived: (bytes: number) => void;
    /** Bytes on their way or there. */
    readonly onProgress: (bytes: number) => void;
  },
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const { signal } = options;
  const upload = new Upload(file, {
    endpoint: tusUrl,
    ...(options.isBegun ? { uploadUrl: tusUrl } : {}),
    chunkSize: Math.min(32 * mebibyte, Math.max(mebibyte, Math.ceil(file.size / 40))),
    retryDelays: retryDelaysMs,
    storeFingerprintForResuming: false,
    onUploadUrlAvailable: () => {
      if (!options.isBegun) options.onArrived(0);
    },
    onProgress: (sent) => options.onProgress(sent),
    onChunkComplete: (_size, arrived) => options.onArrived(arrived),
    onShouldRetry: (error) => {
      const status = error.originalResponse?.getStatus() ?? 0;
      // Refused for good, unless two requests got in each other's way.
      return status < 400 || status >= 500 || [408, 409, 423, 429].includes(status);
    },
    onSuccess: () => resolve(),
    onError: (error) => reject(explain(error)),
  });
  const stop = () => {
    void upload.abort();
    reject(signal.reason);
  };
  if (signal.aborted) stop();
  else {
    signal.addEventListener("abort", stop, { once: true });
    upload.start();
  }
  return promise.finally(() => signal.removeEventListener("abort", stop));
}

function explain(error: Error): ApiError {
  const response = error instanceof DetailedError ? error.originalResponse : null;
  const status = response?.getStatus() ?? 0;
  // What stands before a server that restarts answers in its place.
  if (response === null || [502, 503, 504].includes(status))
    return new ApiError(0, "unreachable", "The connection was lost; what has arrived is kept.");
  try {
    const { detail } = JSON.parse(response.getBody()) as { detail?: unknown };
    if (typeof detail === "string")
      return new ApiError(status, "internal", `The server refused the file: ${detail}`);
  } catch {
    // Some proxy's page.
  }
  return new ApiError(status, "internal", `The server refused the file with status ${status}.`);
}
