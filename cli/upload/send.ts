import { createReadStream } from "node:fs";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { pipeline } from "node:stream/promises";
import { setTimeout as delay } from "node:timers/promises";
import { DetailedError, Upload } from "tus-js-client";
import { reasonOf, retryDelaysMs, toUploadError, UploadError } from "./api.ts";

/** Reconnect and resume if no bytes were sent for this long. */
const stallMs = 5 * 60_000;

export interface LocalFile {
  /** Absolute path. */
  readonly path: string;
  readonly size: number;
}

/**
 * Sends a file in chunks with tus, and resumes after connection errors.
 * @param options.isBegun ask the server first how much of the file it has.
 * @throws UploadError with the server's code if it refuses the file, or if it can't be reached for five minutes.
 */
export function sendInChunks(
  file: LocalFile,
  tusUrl: string,
  options: {
    readonly isBegun: boolean;
    readonly chunkBytes: number;
    readonly onProgress: (bytes: number) => void;
  },
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let progressAt = Date.now();
  // tus-js-client uses only the stream's path, and reopens the file for every chunk.
  const upload = new Upload(createReadStream(file.path), {
    endpoint: tusUrl,
    ...(options.isBegun ? { uploadUrl: tusUrl } : {}),
    chunkSize: options.chunkBytes,
    retryDelays: retryDelaysMs,
    storeFingerprintForResuming: false,
    onProgress: (bytes) => {
      progressAt = Date.now();
      options.onProgress(bytes);
    },
    onShouldRetry: (error) => {
      const status = error.originalResponse?.getStatus() ?? 0;
      // A 4xx is final, except where two requests collided.
      const isRefused = status >= 400 && status < 500 && ![408, 409, 423, 429].includes(status);
      return !isRefused && toError(error).code !== "wrong_state";
    },
    onSuccess: () => resolve(),
    onError: (error) => reject(toError(error)),
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

function toError(error: Error): UploadError {
  const response = error instanceof DetailedError ? error.originalResponse : null;
  if (response !== null) return toUploadError(response.getStatus(), response.getBody());
  const cause = error instanceof DetailedError ? error.causingError : null;
  return new UploadError(`the file could not be sent: ${reasonOf(cause ?? error)}`);
}

/** Sends a file in one PUT, and starts over after connection errors. @throws UploadError as above. */
export async function sendInOneRequest(
  file: LocalFile,
  url: string,
  onProgress: (bytes: number) => void,
): Promise<void> {
  for (const waitMs of [...retryDelaysMs, null]) {
    try {
      return await putOnce(file, url, onProgress);
    } catch (error) {
      // The response to an earlier attempt was lost; the file was stored.
      if (error instanceof UploadError && error.code === "already_uploaded") return;
      const isFinal = error instanceof UploadError && error.code !== null && error.code !== "unavailable";
      if (isFinal) throw error;
      if (waitMs === null) throw new UploadError(`the file could not be sent: ${reasonOf(error)}`);
      await delay(waitMs);
    }
  }
}

async function putOnce(file: LocalFile, url: string, onProgress: (bytes: number) => void): Promise<void> {
  const send = url.startsWith("https:") ? httpsRequest : httpRequest;
  const request = send(url, { method: "PUT", headers: { "content-length": file.size }, timeout: stallMs });
  request.on("timeout", () => request.destroy(new Error("no progress for five minutes")));
  const response = new Promise<{ status: number; body: string }>((resolve, reject) => {
    request.on("error", reject);
    request.on("response", (incoming) => {
      incoming
        .toArray()
        .then(
          (parts) =>
            resolve({ status: incoming.statusCode ?? 0, body: Buffer.concat(parts).toString("utf8") }),
          reject,
        );
    });
  });
  let sent = 0;
  const sending = pipeline(
    createReadStream(file.path, { highWaterMark: 512 * 1024 }),
    async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        yield chunk;
        sent += chunk.length;
        onProgress(sent);
      }
    },
    request,
  );
  // A server that refuses the file responds before the body is sent; its error is more useful than a broken pipe.
  const [received, piped] = await Promise.allSettled([response, sending]);
  if (received.status === "rejected") throw received.reason;
  const { status, body } = received.value;
  if (status < 200 || status > 299) throw toUploadError(status, body);
  if (piped.status === "rejected") throw piped.reason;
}
