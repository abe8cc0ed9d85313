import { ParleyError } from "./errors.ts";
import type { Upload, UploadAttributesInput } from "./generated/types.gen.ts";
import { retryAfterMs, wait } from "./retry.ts";

export interface UploadOptions {
  /** Default: `audio` for files of type audio/…, named .mp3 or that begin like an MP3, else `video`. */
  readonly media_type?: "video" | "audio";
  readonly attributes?: UploadAttributesInput;
  /** Default: true. With false the upload waits in `staged` for `promoteUpload`. */
  readonly auto_promote?: boolean;
  /** The id of an upload of the same file that was interrupted: only the rest is sent. */
  readonly resume?: string;
  /** Called with the new upload before anything is sent. Store its id to be able to resume. */
  readonly onCreate?: (upload: Upload) => void;
  readonly onProgress?: (progress: { readonly sentBytes: number; readonly totalBytes: number }) => void;
  readonly signal?: AbortSignal;
  /** Largest chunk. Default: 32 MiB. Chunks get smaller where a proxy refuses them. */
  readonly chunkBytes?: number;
}

/** Connections may fail this often in a row before sending ends with the error. */
const maxFailures = 8;
const minChunkBytes = 256 * 1024;

/** Whether a file is sent as audio. */
export async function isAudio(file: Blob): Promise<boolean> {
  if (file.type.startsWith("audio/") || (file instanceof File && /\.mp3$/i.test(file.name))) return true;
  // Node's `openAsBlob` gives neither type nor name. An MP3 begins with ID3 or with a frame of MPEG layer 3.
  const [first = 0, second = 0, third = 0] = new Uint8Array(await file.slice(0, 3).arrayBuffer());
  const isId3 = first === 0x49 && second === 0x44 && third === 0x33;
  return isId3 || (first === 0xff && (second & 0xe6) === 0xe2);
}

/**
 * Sends a file in chunks with tus 1.0. Starts with what the server does not have yet.
 * @throws ParleyError if the server refuses the file; RangeError if the upload was begun with a file of another size; the
 * last error after eight failures in a row, or if the server asks for a longer wait than `maxWaitMs`.
 */
export async function sendFile(
  fetch: typeof globalThis.fetch,
  url: string,
  file: Blob,
  maxWaitMs: number,
  options: Pick<UploadOptions, "onProgress" | "signal" | "chunkBytes">,
): Promise<void> {
  const { signal, onProgress } = options;
  let chunkBytes = options.chunkBytes ?? 32 * 1024 * 1024;
  let offset: number | null = null;
  for (let failures = 0; ; ) {
    try {
      offset ??= await findOffset(fetch, url, file.size, signal);
      onProgress?.({ sentBytes: offset, totalBytes: file.size });
      if (offset === file.size) return;
      const chunk = file.slice(offset, offset + chunkBytes);
      offset = await sendChunk(fetch, url, chunk, offset, signal);
      failures = 0;
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (error instanceof RangeError) throw error;
      if (error instanceof ParleyError) {
        // A proxy's 413 has no code.
        const isProxyLimit = error.status === 413 && error.code === null && chunkBytes > minChunkBytes;
        if (isProxyLimit) chunkBytes = Math.max(minChunkBytes, Math.floor(chunkBytes / 2));
        else if (!isTemporary(error.status)) throw error;
      }
      failures++;
      const askedMs = askedWaitMs(error);
      if (failures > maxFailures || askedMs > maxWaitMs) throw error;
      offset = null;
      await wait(Math.max(Math.min(250 * 2 ** failures, 15_000), askedMs), signal);
    }
  }
}

/** @returns the new offset. */
async function sendChunk(
  fetch: typeof globalThis.fetch,
  url: string,
  chunk: Blob,
  offset: number,
  signal: AbortSignal | undefined,
): Promise<number> {
  const response = await send(fetch, url, "PATCH", signal, chunk, {
    "content-type": "application/offset+octet-stream",
    "upload-offset": String(offset),
  });
  const newOffset = readOffset(response);
  if (newOffset <= offset) throw new Error("the server stored nothing of a chunk");
  return newOffset;
}

/**
 * Asks how much has arrived; announces the file if nothing has.
 * @throws RangeError if another size was announced.
 */
async function findOffset(
  fetch: typeof globalThis.fetch,
  url: string,
  size: number,
  signal: AbortSignal | undefined,
): Promise<number> {
  try {
    const response = await send(fetch, url, "HEAD", signal);
    const announced = response.headers.get("upload-length");
    if (announced !== String(size))
      throw new RangeError(
        `the file has ${size} bytes, but the upload was begun with ${announced ?? "an unknown number of"} bytes; resume it with the same file`,
      );
    return readOffset(response);
  } catch (error) {
    if (!(error instanceof ParleyError) || error.status !== 404) throw error;
  }
  await send(fetch, url, "POST", signal, null, { "upload-length": String(size) });
  return 0;
}

async function send(
  fetch: typeof globalThis.fetch,
  url: string,
  method: string,
  signal: AbortSignal | undefined,
  body: Blob | null = null,
  headers: Record<string, string> = {},
): Promise<Response> {
  const response = await fetch(url, {
    method,
    body,
    headers: { "tus-resumable": "1.0.0", ...headers },
    ...(signal === undefined ? {} : { signal }),
  });
  const text = await response.text();
  if (!response.ok) throw new ParleyError(response.status, parse(text), retryAfterMs(response));
  return response;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A proxy's page.
    return null;
  }
}

function readOffset(response: Response): number {
  const header = response.headers.get("upload-offset");
  const offset = Number(header);
  if (header === null || !Number.isSafeInteger(offset) || offset < 0)
    throw new Error("the response has no valid Upload-Offset header; is this a Parley server?");
  return offset;
}

function askedWaitMs(error: unknown): number {
  return error instanceof ParleyError ? (error.retryAfterMs ?? 0) : 0;
}

/** Statuses of a busy or restarting server, and of two requests that met. */
function isTemporary(status: number): boolean {
  return status >= 500 || [408, 409, 423, 429].includes(status);
}
