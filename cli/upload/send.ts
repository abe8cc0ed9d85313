import { createReadStream } from "node:fs";
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { Readable } from "node:stream";
import { DefaultHttpStack, DetailedError, Upload, type UploadOptions } from "tus-js-client";
import { agentOptionsFor } from "../../server/platform/outbound/proxy.ts";
import { type ChunkSize, isRefusedByProxy } from "../../shared/files/chunk-size.ts";
import { reasonOf, retryDelaysMs, toUploadError, UploadError } from "./api.ts";

/** Reconnect and resume if no bytes were sent for this long. */
const stallMs = 5 * 60_000;

/** One or more files that are sent one behind the other. */
export interface LocalFile {
  /** Absolute paths. */
  readonly parts: readonly { readonly path: string; readonly size: number }[];
  readonly size: number;
}

/** The bytes of a range, read when they are sent. */
function readRange({ parts }: LocalFile, start: number, end: number): Readable & { size?: number } {
  return Readable.from(
    (async function* () {
      let offset = 0;
      for (const { path, size } of parts) {
        const [from, to] = [Math.max(start - offset, 0), Math.min(end - offset, size)];
        if (from < to) yield* createReadStream(path, { start: from, end: to - 1 });
        offset += size;
      }
    })(),
    { objectMode: false },
  );
}

/** How the tus client reads the files. */
function readerOf(file: LocalFile): NonNullable<UploadOptions["fileReader"]> {
  return {
    openFile: async () => ({
      size: file.size,
      async slice(start, end) {
        const last = Math.min(end, file.size);
        return {
          value: Object.assign(readRange(file, start, last), { size: last - start }),
          done: last >= file.size,
        };
      },
      close() {},
    }),
  };
}

/** The agent that reaches the server by a proxy; null: without one. */
function agentFor(url: string): HttpAgent | null {
  const options = agentOptionsFor(url);
  if (options.proxyEnv === undefined) return null;
  return url.startsWith("https:") ? new HttpsAgent(options) : new HttpAgent(options);
}

/**
 * Sends a file in chunks with tus, and resumes after connection errors. Chunks get smaller where a proxy refuses them.
 * @param options.isBegun ask the server first how much of the file it has.
 * @throws UploadError with the server's code if it refuses the file, or if it can't be reached for five minutes.
 */
export function sendInChunks(
  file: LocalFile,
  tusUrl: string,
  options: {
    readonly isBegun: boolean;
    readonly chunkBytes: number;
    readonly chunkSize: ChunkSize;
    readonly onProgress: (bytes: number) => void;
  },
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const { chunkSize } = options;
  let progressAt = Date.now();
  const nextSize = (): number => chunkSize.next(options.chunkBytes);
  const sentSize = (): number => Math.min(upload.options.chunkSize ?? options.chunkBytes, file.size);
  const agent = agentFor(tusUrl);
  const upload = new Upload(Buffer.alloc(0), {
    fileReader: readerOf(file),
    // With an endpoint, the library begins the upload again after any failed request for the offset, such as a proxy's
    // 502, and the server would drop what it has.
    endpoint: options.isBegun ? null : tusUrl,
    ...(options.isBegun ? { uploadUrl: tusUrl } : {}),
    chunkSize: nextSize(),
    ...(agent === null ? {} : { httpStack: new DefaultHttpStack({ agent }) }),
    retryDelays: retryDelaysMs,
    storeFingerprintForResuming: false,
    onUploadUrlAvailable: () => {
      upload.options.endpoint = null;
    },
    onProgress: (bytes) => {
      progressAt = Date.now();
      options.onProgress(bytes);
    },
    onChunkComplete: (bytes) => {
      chunkSize.arrived(bytes);
      upload.options.chunkSize = nextSize();
    },
    onAfterResponse: async (request, response) => {
      // The rest of the chunk would still be sent.
      if (response.getStatus() === 413) await request.abort();
    },
    onShouldRetry: (error) => {
      const status = error.originalResponse?.getStatus() ?? 0;
      if (isReset(error)) chunkSize.failed(sentSize(), "reset");
      upload.options.chunkSize = nextSize();
      // A 4xx is final, except where two requests collided.
      const isRefused = status >= 400 && status < 500 && ![408, 409, 423, 429].includes(status);
      return !isRefused && !hasNoOffset(error) && toError(error).code !== "wrong_state";
    },
    onSuccess: () => resolve(),
    onError: (error) => {
      if (hasNoOffset(error)) {
        upload.options.endpoint = tusUrl;
        upload.options.uploadUrl = null;
        upload.url = null;
        upload.start();
        return;
      }
      if (!isTooLarge(error) || !chunkSize.failed(sentSize(), "refused")) {
        reject(toError(error));
        return;
      }
      upload.options.chunkSize = nextSize();
      upload.start();
    },
  });
  upload.start();
  const watch = setInterval(async () => {
    if (Date.now() - progressAt < stallMs) return;
    progressAt = Date.now();
    await upload.abort();
    upload.start();
  }, 10_000);
  return promise.finally(() => clearInterval(watch));
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
    ![408, 423, 429].includes(status) &&
    (error.originalResponse.getHeader("Tus-Resumable") ?? null) !== null
  );
}

function isTooLarge(error: Error): boolean {
  const response = error instanceof DetailedError ? error.originalResponse : null;
  return response !== null && isRefusedByProxy(response.getStatus(), response.getBody());
}

/** Whether the connection ended while a chunk was sent, as some proxies end it that refuse one. */
function isReset({ originalResponse, causingError }: DetailedError): boolean {
  const { code } = (causingError ?? {}) as NodeJS.ErrnoException;
  return originalResponse === null && (code === "ECONNRESET" || code === "EPIPE");
}

function toError(error: Error): UploadError {
  const response = error instanceof DetailedError ? error.originalResponse : null;
  if (response !== null) return toUploadError(response.getStatus(), response.getBody());
  const cause = error instanceof DetailedError ? error.causingError : null;
  return new UploadError(`the file could not be sent: ${reasonOf(cause ?? error)}`);
}
