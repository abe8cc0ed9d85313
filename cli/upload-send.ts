import { createReadStream } from "node:fs";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { pipeline } from "node:stream/promises";
import { setTimeout as delay } from "node:timers/promises";
import { DetailedError, Upload } from "tus-js-client";
import { reasonOf, refusal, retryDelaysMs, UploadError } from "./upload-api.ts";

/** When nothing has moved for this long, the connection is given up and the file goes on over a new one. */
const stallMs = 5 * 60_000;

/** A local file to send. */
export interface LocalFile {
  /** Absolute. */
  readonly path: string;
  readonly size: number;
}

/**
 * Sends a file in pieces, going on after cuts.
 * @param options.isBegun pieces may be there already: the server is asked how far it came.
 * @throws UploadError whose code is the server's, when the server refuses or can't be reached for minutes.
 */
export function sendInPieces(
  file: LocalFile,
  tusUrl: string,
  options: {
    readonly isBegun: boolean;
    readonly chunkBytes: number;
    readonly onProgress: (bytes: number) => void;
  },
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let movedAt = Date.now();
  // The library takes such a stream for its path alone, and reads each piece anew; its types do not say so.
  const source = createReadStream(file.path) as unknown as Buffer;
  const upload = new Upload(source, {
    endpoint: tusUrl,
    ...(options.isBegun ? { uploadUrl: tusUrl } : {}),
    chunkSize: options.chunkBytes,
    retryDelays: retryDelaysMs,
    storeFingerprintForResuming: false,
    onProgress: (bytes) => {
      movedAt = Date.now();
      options.onProgress(bytes);
    },
    onShouldRetry: (error) => {
      const status = error.originalResponse?.getStatus() ?? 0;
      // Refused for good, unless two requests got in each other's way.
      const isRefused = status >= 400 && status < 500 && ![408, 409, 423, 429].includes(status);
      return !isRefused && explain(error).code !== "wrong_state";
    },
    onSuccess: () => resolve(),
    onError: (error) => reject(explain(error)),
  });
  upload.start();
  const watch = setInterval(async () => {
    if (Date.now() - movedAt < stallMs) return;
    movedAt = Date.now();
    await upload.abort();
    upload.start();
  }, 10_000);
  return promise.finally(() => clearInterval(watch));
}

function explain(error: Error): UploadError {
  const response = error instanceof DetailedError ? error.originalResponse : null;
  if (response !== null) return refusal(response.getStatus(), response.getBody());
  const cause = error instanceof DetailedError ? error.causingError : null;
  return new UploadError(`the file could not be sent: ${reasonOf(cause ?? error)}`);
}

/** Sends a file as a whole; after a cut from the beginning. @throws UploadError as above. */
export async function sendWhole(
  file: LocalFile,
  url: string,
  onProgress: (bytes: number) => void,
): Promise<void> {
  for (const waitMs of [...retryDelaysMs, null]) {
    try {
      return await putOnce(file, url, onProgress);
    } catch (error) {
      // The answer to an earlier attempt was lost: the file is there.
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
  request.on("timeout", () => request.destroy(new Error("nothing moved for minutes")));
  const answer = new Promise<{ status: number; body: string }>((resolve, reject) => {
    request.on("error", reject);
    request.on("response", (response) => {
      response
        .toArray()
        .then(
          (parts) =>
            resolve({ status: response.statusCode ?? 0, body: Buffer.concat(parts).toString("utf8") }),
          reject,
        );
    });
  });
  let sent = 0;
  const sending = pipeline(
    createReadStream(file.path, { highWaterMark: 512 * 1024 }),
    async function* (pieces: AsyncIterable<Buffer>) {
      for await (const piece of pieces) {
        yield piece;
        sent += piece.length;
        onProgress(sent);
      }
    },
    request,
  );
  // A server that refuses answers before all is sent; its word says more than the broken pipe.
  const [answered, piped] = await Promise.allSettled([answer, sending]);
  if (answered.status === "rejected") throw answered.reason;
  const { status, body } = answered.value;
  if (status < 200 || status > 299) throw refusal(status, body);
  if (piped.status === "rejected") throw piped.reason;
}
