import { createReadStream } from "node:fs";
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { Readable } from "node:stream";
import { DefaultHttpStack } from "tus-js-client";
import { agentOptionsFor } from "../../server/platform/outbound/proxy.ts";
import type { ChunkSize } from "../../shared/files/chunk-size.ts";
import { type Chunk, SendError, sendInChunks, type UploadSource } from "../../shared/files/send-in-chunks.ts";
import { reasonOf, retryDelaysMs, toUploadError, UploadError } from "./api.ts";

/** Reconnect and resume if no bytes were sent for this long. */
const stallMs = 5 * 60_000;

/** One or more files that are sent one behind the other. */
export interface LocalFile {
  /** Absolute paths. */
  readonly parts: readonly { readonly path: string; readonly size: number }[];
  readonly size: number;
}

/** The files as one source, whose bytes are read when they are sent. */
function sourceOf(file: LocalFile): UploadSource {
  return {
    size: file.size,
    hasBeginning: () => true,
    async slice(start, end) {
      const last = Math.min(end, file.size);
      return { value: readRange(file, start, last), done: last >= file.size };
    },
  };
}

function readRange({ parts }: LocalFile, start: number, end: number): Chunk {
  const bytes = Readable.from(
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
  return Object.assign(bytes, { size: end - start });
}

/** The agent that reaches the server by a proxy; null: without one. */
function agentFor(url: string): HttpAgent | null {
  const options = agentOptionsFor(url);
  if (options.proxyEnv === undefined) return null;
  return url.startsWith("https:") ? new HttpsAgent(options) : new HttpAgent(options);
}

/**
 * Sends a file in chunks, and resumes after connection errors.
 * @param options.isBegun ask the server first how much of the file it has.
 * @throws UploadError with the server's code if it refuses the file, or if it can't be reached for five minutes.
 */
export async function sendFile(
  file: LocalFile,
  tusUrl: string,
  options: {
    readonly isBegun: boolean;
    readonly chunkBytes: number;
    readonly chunkSize: ChunkSize;
    readonly onProgress: (bytes: number) => void;
  },
): Promise<void> {
  const { isBegun, ...others } = options;
  const agent = agentFor(tusUrl);
  try {
    await sendInChunks(sourceOf(file), tusUrl, {
      ...others,
      isStarted: isBegun,
      retryDelaysMs,
      stallMs,
      endsRefused: true,
      ...(agent === null ? {} : { httpStack: new DefaultHttpStack({ agent }) }),
    });
  } catch (error) {
    if (!(error instanceof SendError)) throw error;
    if (error.status !== 0) throw toUploadError(error.status, error.body);
    throw new UploadError(`the file could not be sent: ${reasonOf(error.cause)}`);
  }
}
