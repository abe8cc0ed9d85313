import { DetailedError, Upload, type UploadOptions } from "tus-js-client";
import { type ChunkSize, isRefusedByProxy } from "./chunk-size.ts";

/** Bytes of a chunk: a Blob in browsers, a stream in Node. */
export interface Chunk {
  readonly size: number;
}

/** The bytes to upload: a file, several behind one another, or a recording that is still growing. */
export interface UploadSource {
  /** Bytes; null while unknown. */
  readonly size: number | null;
  /** Resolves once bytes are available from `start` on. `done`: they are the last. */
  slice(start: number, end: number): Promise<{ readonly value: Chunk | null; readonly done: boolean }>;
  /** Whether the first byte is still available: without it the upload can't begin again. */
  hasBeginning(): boolean;
}

/** Why a file could not be sent. */
export class SendError extends Error {
  override readonly name = "SendError";
  /** Status of the response; 0: there was none. */
  readonly status: number;
  /** Text of the response. */
  readonly body: string;

  constructor(status: number, body: string, cause: unknown) {
    super(status === 0 ? "The connection was lost." : `The server returned status ${status}.`, { cause });
    this.status = status;
    this.body = body;
  }
}

export interface SendOptions {
  /** Whether the server may have a part already: it is asked how much. */
  readonly isStarted: boolean;
  readonly chunkSize: ChunkSize;
  /** Bytes of a chunk, where nothing makes it smaller. */
  readonly chunkBytes: number;
  /** Delays before retries after a lost connection. */
  readonly retryDelaysMs: readonly number[];
  /** Connects again if no bytes were sent for this long; without it, never. */
  readonly stallMs?: number;
  /** Ends a request whose chunk a proxy refuses before all of it is sent, as browsers do themselves. */
  readonly endsRefused?: boolean;
  /** In place of the usual one. */
  readonly httpStack?: UploadOptions["httpStack"];
  /** Stops the upload; what has arrived stays on the server. */
  readonly signal?: AbortSignal;
  /** Bytes stored on the server. */
  readonly onArrived?: (bytes: number) => void;
  /** Bytes sent, stored or not. */
  readonly onProgress: (bytes: number) => void;
}

const stallCheckMs = 10_000;

/**
 * Uploads in chunks with tus, and resumes after lost connections. Chunks get smaller where a proxy refuses them.
 * @throws SendError when the server refuses it, or can't be reached after all retries; the signal's reason.
 */
export function sendInChunks(source: UploadSource, tusUrl: string, options: SendOptions): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const { signal, chunkSize, stallMs } = options;
  const nextSize = (): number => chunkSize.next(options.chunkBytes);
  let triedBytes = 0;
  let arrivedBytes: number | null = null;
  let sentBytes = 0;
  let progressAt = Date.now();
  const slice = async (start: number, end: number) => {
    const part = await source.slice(start, end);
    triedBytes = part.value?.size ?? 0;
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
    ...(options.httpStack === undefined ? {} : { httpStack: options.httpStack }),
    chunkSize: nextSize(),
    retryDelays: [...options.retryDelaysMs],
    storeFingerprintForResuming: false,
    onUploadUrlAvailable: () => {
      upload.options.endpoint = null;
      if (!options.isStarted) options.onArrived?.(0);
    },
    onProgress: (sent) => {
      progressAt = Date.now();
      // The first call is about what arrived before.
      arrivedBytes ??= sent;
      sentBytes = sent;
      options.onProgress(sent);
    },
    onChunkComplete: (size, arrived) => {
      arrivedBytes = arrived;
      chunkSize.arrived(size);
      upload.options.chunkSize = nextSize();
      options.onArrived?.(arrived);
    },
    onAfterResponse: async (request, response) => {
      // A browser's request would lose its status.
      if (options.endsRefused && response.getStatus() === 413) await request.abort();
    },
    onShouldRetry: (error) => {
      if (sentBytes > (arrivedBytes ?? 0) && isReset(error)) chunkSize.failed(triedBytes, "reset");
      upload.options.chunkSize = nextSize();
      return isPassing(error);
    },
    onSuccess: () => resolve(),
    onError: (error) => {
      if (hasNoOffset(error) && source.hasBeginning()) {
        upload.options.endpoint = tusUrl;
        upload.options.uploadUrl = null;
        upload.url = null;
        upload.start();
        return;
      }
      const failure = toSendError(error);
      if (!isRefusedByProxy(failure.status, failure.body) || !chunkSize.failed(triedBytes, "refused")) {
        reject(failure);
        return;
      }
      upload.options.chunkSize = nextSize();
      upload.start();
    },
  });
  const stop = (): void => {
    void upload.abort();
    reject(signal?.reason);
  };
  const watch =
    stallMs === undefined
      ? undefined
      : setInterval(async () => {
          if (Date.now() - progressAt < stallMs) return;
          progressAt = Date.now();
          await upload.abort();
          upload.start();
        }, stallCheckMs);
  if (signal?.aborted) stop();
  else {
    signal?.addEventListener("abort", stop, { once: true });
    upload.start();
  }
  return promise.finally(() => {
    clearInterval(watch);
    signal?.removeEventListener("abort", stop);
  });
}

/** Statuses below 500 of a busy server, and of two requests that met. */
const passing = [408, 409, 423, 429];

/** Whether the same request may succeed later. */
function isPassing(error: Error): boolean {
  const { status, body } = toSendError(error);
  if (status >= 400 && status < 500 && !passing.includes(status)) return false;
  // The upload takes no more bytes.
  return !hasNoOffset(error) && codeIn(body) !== "wrong_state";
}

/**
 * Whether Parley itself, rather than a proxy, has no offset to continue from: no bytes were sent yet, or the upload accepts
 * none. Beginning it succeeds, or says why not.
 */
function hasNoOffset(error: Error): boolean {
  if (!(error instanceof DetailedError) || error.originalResponse === null) return false;
  const status = error.originalResponse.getStatus();
  return (
    error.originalRequest.getMethod() === "HEAD" &&
    status >= 400 &&
    status < 500 &&
    !passing.includes(status) &&
    (error.originalResponse.getHeader("Tus-Resumable") ?? null) !== null
  );
}

/** Whether the connection ended while a chunk was sent, as some proxies end it that refuse one. Browsers give no reason. */
function isReset({ originalResponse, causingError }: DetailedError): boolean {
  const { code } = (causingError ?? {}) as { code?: unknown };
  return originalResponse === null && (code === undefined || code === "ECONNRESET" || code === "EPIPE");
}

function toSendError(error: Error): SendError {
  if (!(error instanceof DetailedError)) return new SendError(0, "", error);
  const { originalResponse: response, causingError } = error;
  return new SendError(response?.getStatus() ?? 0, response?.getBody() ?? "", causingError ?? error);
}

function codeIn(body: string): unknown {
  try {
    return (JSON.parse(body) as { error?: unknown } | null)?.error;
  } catch {
    // A proxy's page.
    return undefined;
  }
}
