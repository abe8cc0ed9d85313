import { open, stat, truncate } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { sentenceOf } from "../../../contract/sentences.ts";
import { isDiskFull, ModelError } from "./store.ts";

export interface DownloadOptions {
  /** Called with the bytes of the file that are in place. */
  readonly onProgress: (bytes: number) => void;
  readonly signal?: AbortSignal;
}

/** Attempts in a row without a single new byte. */
const maxAttempts = 5;
const firstDelayMs = 500;
const reportEveryMs = 250;

/** A response that repeating the request does not change. */
class RefusedError extends ModelError {}

/**
 * Downloads a file of known size, resuming what is in place. A connection that breaks is tried again.
 * @param bytes from the catalogue: servers compress small files and then send no length.
 * @throws ModelError when the server can't be reached or sends something else.
 */
export async function downloadFile(
  url: string,
  path: string,
  bytes: number,
  options: DownloadOptions,
): Promise<void> {
  for (let attempt = 1, had = await sizeOfFile(path); had < bytes || attempt === 1; ) {
    if (had === bytes) return;
    try {
      await receive(url, path, bytes, options);
      return;
    } catch (error) {
      options.signal?.throwIfAborted();
      if (error instanceof RefusedError || isDiskFull(error)) throw error;
      const has = await sizeOfFile(path);
      attempt = has > had ? 1 : attempt + 1;
      had = has;
      if (attempt > maxAttempts)
        throw new ModelError(
          sentenceOf("model_unreachable", { host: locate(url).host, reason: reasonOf(error) }),
          {
            cause: error,
          },
        );
      await delay(
        firstDelayMs * 2 ** (attempt - 1),
        undefined,
        options.signal === undefined ? {} : { signal: options.signal },
      );
    }
  }
}

/** A URL without its user and password, which are sent as a header and never shown. */
function locate(text: string) {
  const url = new URL(text);
  const { username, password, host, pathname } = url;
  url.username = "";
  url.password = "";
  const secret = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
  return {
    href: url.href,
    host,
    /** For messages. */
    place: `${host}${pathname}`,
    authorization: username === "" ? {} : { authorization: `Basic ${secret.toString("base64")}` },
  };
}

async function receive(url: string, path: string, bytes: number, options: DownloadOptions): Promise<void> {
  let at = await sizeOfFile(path);
  if (at > bytes) {
    await truncate(path, 0);
    at = 0;
  }
  const { href, host, place, authorization } = locate(url);
  const { outboundFetch } = await import("../../platform/outbound/dispatcher.ts");
  const response = await outboundFetch(href, {
    headers: {
      "accept-encoding": "identity",
      ...authorization,
      ...(at > 0 ? { range: `bytes=${at}-` } : {}),
    },
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
  if (response.status >= 500 || response.status === 429)
    throw new Error(`it responded with status ${response.status}`);
  const isPart =
    response.status === 206 && response.headers.get("content-range")?.startsWith(`bytes ${at}-`) === true;
  if (response.status !== 200 && !isPart) {
    // 416: what is in place is not what the server has.
    if (response.status === 416 || response.status === 206) await truncate(path, 0);
    const error = `${host} responded with status ${response.status} to ${place}`;
    if (response.status === 416 || response.status === 206) throw new Error(error);
    throw new RefusedError(error);
  }
  if (response.body === null) throw new Error("it sent no file");
  await writeBody(response.body, path, isPart ? at : 0, bytes, options.onProgress);
}

async function writeBody(
  body: AsyncIterable<Uint8Array>,
  path: string,
  from: number,
  bytes: number,
  onProgress: (bytes: number) => void,
): Promise<void> {
  const file = await open(path, from === 0 ? "w" : "r+", 0o600);
  let at = from;
  const report = setInterval(() => onProgress(at), reportEveryMs);
  try {
    for await (const piece of body) {
      if (at + piece.byteLength > bytes) throw new RefusedError(sentenceOf("model_too_long", { bytes }));
      for (let done = 0; done < piece.byteLength; )
        done += (await file.write(piece, done, piece.byteLength - done, at + done)).bytesWritten;
      at += piece.byteLength;
    }
  } finally {
    clearInterval(report);
    await file.close();
  }
  if (at < bytes) throw new Error("the connection ended early");
}

function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error && cause.message !== "" ? cause.message : message;
}

async function sizeOfFile(path: string): Promise<number> {
  return (await stat(path).catch(() => null))?.size ?? 0;
}
