import { DetailedError, Upload } from "tus-js-client";
import { type ChunkSize, isRefusedByProxy, proxyLimitText } from "../../../shared/files/chunk-size.ts";
import { ApiError } from "../../api/client/api-error.ts";

const mebibyte = 1024 * 1024;

/** Delays before retries after a lost connection; then the sender waits for the network. */
const retryDelaysMs = [0, 1000, 3000];

/** The bytes to upload: a file, or a recording that is still growing. */
export interface UploadSource {
  /** Bytes; null while unknown. */
  readonly size: number | null;
  /** Resolves once bytes are available from `start` on. `done`: they are the last. */
  slice(start: number, end: number): Promise<{ readonly value: Blob | null; readonly done: boolean }>;
  /** Whether the first byte is still available: without it the upload can't begin again. */
  hasBeginning(): boolean;
}

/** A chosen file as a source. */
export function sourceOf(file: File): UploadSource {
  return {
    size: file.size,
    slice: async (start, end) => ({ value: file.slice(start, end), done: end >= file.size }),
    hasBeginning: () => true,
  };
}

/** Chunks of a source of unknown size have at most this many bytes. */
const growingChunkBytes = 4 * mebibyte;

/**
 * Uploads a file in chunks with tus, resuming after lost connections. Chunks get smaller where a proxy refuses them.
 * @param options.isStarted whether chunks may already exist: the server is asked for the offset.
 * @param options.signal stops the upload; uploaded chunks stay on the server.
 * @throws ApiError with a message for the user; `unreachable` when the connection is lost.
 */
export function sendFile(
  source: UploadSource,
  tusUrl: string,
  options: {
    readonly isStarted: boolean;
    readonly chunkSize: ChunkSize;
    readonly signal: AbortSignal;
    /** Bytes stored on the server. */
    readonly onArrived: (bytes: number) => void;
    /** Bytes sent, stored or not. */
    readonly onProgress: (bytes: number) => void;
  },
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const { signal, chunkSize } = options;
  const preferredBytes =
    source.size === null
      ? growingChunkBytes
      : Math.min(32 * mebibyte, Math.max(mebibyte, Math.ceil(source.size / 40)));
  const nextSize = (): number => chunkSize.next(preferredBytes);
  let sentSize = 0;
  let arrivedBytes: number | null = null;
  let sentBytes = 0;
  const slice = async (start: number, end: number) => {
    const part = await source.slice(start, end);
    sentSize = part.value?.size ?? 0;
    return part;
  };
  // The source is read by `fileReader`; the library asks for a file besides.
  const upload = new Upload(new Blob(), {
    // With an endpoint, the library begins the upload again after any failed request for the offset, such as a proxy's
    // 502, and the server would drop what it has.
    endpoint: options.isStarted ? null : tusUrl,
    fileReader: { openFile: async () => ({ size: source.size as number, slice, close: () => undefined }) },
    uploadLengthDeferred: source.size === null,
    ...(options.isStarted ? { uploadUrl: tusUrl } : {}),
    chunkSize: nextSize(),
    retryDelays: retryDelaysMs,
    storeFingerprintForResuming: false,
    onUploadUrlAvailable: () => {
      upload.options.endpoint = null;
      if (!options.isStarted) options.onArrived(0);
    },
    onProgress: (sent) => {
      // The first call is about what arrived before.
      arrivedBytes ??= sent;
      sentBytes = sent;
      options.onProgress(sent);
    },
    onChunkComplete: (size, arrived) => {
      arrivedBytes = arrived;
      chunkSize.arrived(size);
      upload.options.chunkSize = nextSize();
      options.onArrived(arrived);
    },
    onShouldRetry: (error) => {
      const status = error.originalResponse?.getStatus() ?? 0;
      // The connection ended while a chunk was sent, as some proxies end it that refuse one.
      if (error.originalResponse === null && sentBytes > (arrivedBytes ?? 0))
        chunkSize.failed(sentSize, "reset");
      upload.options.chunkSize = nextSize();
      // Other 4xx responses are permanent; these can be caused by concurrent requests.
      return status < 400 || status >= 500 || [408, 409, 423, 429].includes(status);
    },
    onSuccess: () => resolve(),
    onError: (error) => {
      if (isUnknownUpload(error) && source.hasBeginning()) {
        upload.options.endpoint = tusUrl;
        upload.options.uploadUrl = null;
        upload.url = null;
        upload.start();
        return;
      }
      if (!isTooLarge(error) || !chunkSize.failed(sentSize, "refused")) {
        reject(explain(error));
        return;
      }
      upload.options.chunkSize = nextSize();
      upload.start();
    },
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

/** Whether Parley itself, rather than a proxy, says that no bytes were sent yet. */
function isUnknownUpload(error: Error): boolean {
  if (!(error instanceof DetailedError) || error.originalResponse === null) return false;
  return (
    error.originalRequest.getMethod() === "HEAD" &&
    error.originalResponse.getStatus() === 404 &&
    (error.originalResponse.getHeader("Tus-Resumable") ?? null) !== null
  );
}

function isTooLarge(error: Error): boolean {
  const response = error instanceof DetailedError ? error.originalResponse : null;
  return response !== null && isRefusedByProxy(response.getStatus(), response.getBody());
}

function explain(error: Error): ApiError {
  const response = error instanceof DetailedError ? error.originalResponse : null;
  const status = response?.getStatus() ?? 0;
  // A proxy responds with these while the server restarts.
  if (response === null || [502, 503, 504].includes(status))
    return new ApiError(0, "unreachable", "The connection was lost. Uploaded data is kept.");
  if (isTooLarge(error)) return new ApiError(status, "internal", proxyLimitText);
  try {
    const { detail } = JSON.parse(response.getBody()) as { detail?: unknown };
    if (typeof detail === "string")
      return new ApiError(status, "internal", `The server rejected the file: ${detail}`);
  } catch {
    // Not JSON: a proxy's error page.
  }
  return new ApiError(status, "internal", `The server rejected the file (status ${status}).`);
}
