import { t } from "@lingui/core/macro";
import type { z } from "zod";
import type { Problem } from "../../../contract/errors.ts";
import { type ChunkSize, isRefusedByProxy } from "../../../shared/files/chunk-size.ts";
import { SendError, sendInChunks, type UploadSource } from "../../../shared/files/send-in-chunks.ts";
import { ApiError, refusedByProxy } from "../../api/client/api-error.ts";
import { loadCauseTexts } from "../../api/client/cause-texts.ts";

const mebibyte = 1024 * 1024;

/** Then the sender waits for the network. */
const retryDelaysMs = [0, 1000, 3000];

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
 * Uploads a file in chunks, and resumes after lost connections.
 * @param options.isStarted whether chunks may already exist: the server is asked for the offset.
 * @param options.signal stops the upload; uploaded chunks stay on the server.
 * @throws ApiError with a message for the user; `unreachable` when the connection is lost.
 */
export async function sendFile(
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
  const chunkBytes =
    source.size === null
      ? growingChunkBytes
      : Math.min(32 * mebibyte, Math.max(mebibyte, Math.ceil(source.size / 40)));
  try {
    await sendInChunks(source, tusUrl, { ...options, chunkBytes, retryDelaysMs });
  } catch (error) {
    throw error instanceof SendError ? await explain(error) : error;
  }
}

async function explain({ status, body }: SendError): Promise<ApiError> {
  // A proxy responds with these while the server restarts.
  if ([0, 502, 503, 504].includes(status))
    return new ApiError(0, "unreachable", () => t`The connection was lost. Uploaded data is kept.`);
  if (isRefusedByProxy(status, body)) return refusedByProxy();
  const problem = readBody(body);
  const causes = problem === null ? null : await loadCauseTexts();
  return new ApiError(
    status,
    "internal",
    () =>
      (problem === null ? undefined : (causes?.problemTexts(problem).text ?? problem.detail)) ??
      t`The server rejected the file (status ${status}).`,
  );
}

/** The server's error; null for another one, such as a proxy's page. */
function readBody(body: string): z.output<typeof Problem> | null {
  try {
    const problem = JSON.parse(body) as z.output<typeof Problem>;
    return typeof problem.detail === "string" ? problem : null;
  } catch {
    return null;
  }
}
