import { DetailedError, Upload } from "tus-js-client";
import { ApiError } from "../../api/client.ts";

const mebibyte = 1024 * 1024;

/** Delays before retries after a lost connection; then the sender waits for the network. */
const retryDelaysMs = [0, 1000, 3000];

/**
 * Uploads a file in chunks with tus, resuming after lost connections.
 * @param options.isStarted whether chunks may already exist: the server is asked for the offset.
 * @param options.signal stops the upload; uploaded chunks stay on the server.
 * @throws ApiError with a message for the user; `unreachable` when the connection is lost.
 */
export function sendFile(
  file: File,
  tusUrl: string,
  options: {
    readonly isStarted: boolean;
    readonly signal: AbortSignal;
    /** Bytes stored on the server. */
    readonly onArrived: (bytes: number) => void;
    /** Bytes sent, stored or not. */
    readonly onProgress: (bytes: number) => void;
  },
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const { signal } = options;
  const upload = new Upload(file, {
    endpoint: tusUrl,
    ...(options.isStarted ? { uploadUrl: tusUrl } : {}),
    chunkSize: Math.min(32 * mebibyte, Math.max(mebibyte, Math.ceil(file.size / 40))),
    retryDelays: retryDelaysMs,
    storeFingerprintForResuming: false,
    onUploadUrlAvailable: () => {
      if (!options.isStarted) options.onArrived(0);
    },
    onProgress: (sent) => options.onProgress(sent),
    onChunkComplete: (_size, arrived) => options.onArrived(arrived),
    onShouldRetry: (error) => {
      const status = error.originalResponse?.getStatus() ?? 0;
      // Other 4xx responses are permanent; these can be caused by concurrent requests.
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
  // A proxy responds with these while the server restarts.
  if (response === null || [502, 503, 504].includes(status))
    return new ApiError(0, "unreachable", "The connection was lost. Uploaded data is kept.");
  try {
    const { detail } = JSON.parse(response.getBody()) as { detail?: unknown };
    if (typeof detail === "string")
      return new ApiError(status, "internal", `The server rejected the file: ${detail}`);
  } catch {
    // Not JSON: a proxy's error page.
  }
  return new ApiError(status, "internal", `The server rejected the file (status ${status}).`);
}
