import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import type { MultipartBody } from "./multipart.ts";
import { TranscriptionError } from "./transcriber.ts";

/** What a server answered, whatever the status. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface PostOptions {
  /** Sent as `Authorization: Bearer`; null: none. */
  readonly bearer: string | null;
  /** For everything together: connecting, sending, the work of the server, its answer. */
  readonly timeoutMs: number;
  /** A longer answer is refused while it comes. */
  readonly maxAnswerBytes: number;
  readonly signal: AbortSignal | undefined;
}

/** What goes wrong in reading the file rather than in talking to the server. */
class FileReadError extends Error {}

/**
 * Sends a form and reads the answer. It uses node:http, because fetch gives up on a server that says nothing for five
 * minutes, which is what a speech model at work does. Redirects are not followed: they would take the key elsewhere.
 * @throws TranscriptionError (retryable) when there is no whole answer; the signal's reason when aborted; the file
 * system's error when the file can't be read.
 */
export async function postForm(url: URL, form: MultipartBody, options: PostOptions): Promise<HttpAnswer> {
  options.signal?.throwIfAborted();
  try {
    return await exchange(url, form, options);
  } catch (error) {
    options.signal?.throwIfAborted();
    if (error instanceof FileReadError) throw error.cause;
    if (error instanceof TranscriptionError) throw error;
    throw unreachable(url, error as NodeJS.ErrnoException);
  }
}

async function exchange(url: URL, form: MultipartBody, options: PostOptions): Promise<HttpAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>();
  const request = (url.protocol === "https:" ? httpsRequest : httpRequest)(url, {
    method: "POST",
    // A connection of its own: one kept open from minutes ago may just be closing.
    agent: false,
    headers: {
      accept: "application/json",
      "accept-encoding": "identity",
      "content-type": form.contentType,
      "content-length": form.contentLength,
      "user-agent": "parley",
      ...(options.bearer === null ? {} : { authorization: `Bearer ${options.bearer}` }),
    },
  });
  const body = form.stream();
  const timer = setTimeout(() => reject(tooSlow(url, options.timeoutMs)), options.timeoutMs);
  const abort = (): void => reject(options.signal?.reason);
  options.signal?.addEventListener("abort", abort, { once: true });
  // Middleboxes forget connections on which nothing is said for minutes.
  request.setSocketKeepAlive(true, 30_000);
  request.on("error", reject);
  request.on("response", (response) => {
    readBody(url, response, options.maxAnswerBytes).then(resolve, reject);
  });
  body.on("error", (error) => reject(new FileReadError("the file can't be read", { cause: error })));
  body.pipe(request);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener("abort", abort);
    body.destroy();
    // What breaks from here on concerns nobody any more.
    request.on("error", () => {});
    request.destroy();
  }
}

async function readBody(url: URL, response: IncomingMessage, maxBytes: number): Promise<HttpAnswer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > maxBytes)
      throw new TranscriptionError(
        `The speech server at ${url.host} sent an answer of more than ${Math.floor(maxBytes / 1024)} KiB, which is no transcript.`,
        { isRetryable: true },
      );
    parts.push(part);
  }
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    body: Buffer.concat(parts).toString("utf8"),
  };
}

function tooSlow(url: URL, timeoutMs: number): TranscriptionError {
  const sec = Math.max(1, Math.round(timeoutMs / 1000));
  return new TranscriptionError(`The speech server at ${url.host} did not answer within ${sec} s.`, {
    isRetryable: true,
  });
}

function unreachable(url: URL, error: NodeJS.ErrnoException): TranscriptionError {
  return new TranscriptionError(
    `The connection to the speech server at ${url.host} failed (${error.code ?? error.name}).`,
    { isRetryable: true, cause: error },
  );
}
