import { DetailedError, Upload } from "tus-js-client";

const mebibyte = 1024 * 1024;

/** Waits before each new attempt after a cut. */
const retryDelaysMs = [0, 1000, 3000, 8000, 20_000, 60_000];

/**
 * Sends a file in pieces by tus, going on after cuts.
 * @param options.isBegun pieces may be there already: the server is asked how far it came.
 * @param options.signal ends it; what has arrived stays.
 * @throws Error in words for the person.
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
    onError: (error) => reject(new Error(explain(error))),
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

function explain(error: Error): string {
  const response = error instanceof DetailedError ? error.originalResponse : null;
  if (response === null) return "The connection was lost. Go on when it is back; what has arrived is kept.";
  try {
    const { detail } = JSON.parse(response.getBody()) as { detail?: unknown };
    if (typeof detail === "string") return `The server refused the file: ${detail}`;
  } catch {
    // Some proxy's page.
  }
  return `The server refused the file with status ${response.getStatus()}.`;
}
