import { ParleyError, UploadFailedError } from "./errors.ts";
import { createClient, createConfig } from "./generated/client/index.ts";
import { ParleyApi } from "./generated/sdk.gen.ts";
import type {
  Recording,
  RecordingFilter,
  RecordingInclude,
  Upload,
  UploadFilter,
  UploadInclude,
} from "./generated/types.gen.ts";
import { defaultMaxWaitMs, type RetryOptions, retryAfterMs, retryingFetch, wait } from "./retry.ts";
import { isAudio, sendFile, type UploadOptions } from "./upload.ts";

export { ParleyError, UploadFailedError } from "./errors.ts";
export type * from "./generated/types.gen.ts";
export type { RetryOptions } from "./retry.ts";
export type { UploadOptions } from "./upload.ts";
export {
  type SignedRequest,
  verifyWebhook,
  type WebhookEvent,
  WebhookVerificationError,
} from "./webhooks.ts";

export interface ParleyOptions extends RetryOptions {
  /** Address of the server, such as `https://parley.example.com`. */
  readonly baseUrl: string;
  /** An access token, or a function that returns one; it is called for each request. */
  readonly token: string | (() => string | Promise<string>);
  /** Default: the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
}

/** The version of the API that this client speaks. */
export const apiVersion = "2026-10-01";

/**
 * A client of one Parley server. Each operation of the API is a method; see its documentation at `/docs` of your server.
 * Methods throw ParleyError for error responses.
 */
export class Parley extends ParleyApi {
  readonly #fetch: typeof globalThis.fetch;
  readonly #maxWaitMs: number;

  constructor(options: ParleyOptions) {
    const { token, fetch = globalThis.fetch } = options;
    const client = createClient(
      createConfig({
        baseUrl: options.baseUrl.replace(/\/+$/, ""),
        throwOnError: true,
        auth: () => (typeof token === "function" ? token() : token),
        fetch: retryingFetch((input, init) => fetch(input, init), options),
        headers: { "Public-Api-Version": apiVersion },
      }),
    );
    client.interceptors.error.use((error, response) =>
      response === undefined || response.ok
        ? error
        : new ParleyError(response.status, error, retryAfterMs(response)),
    );
    client.interceptors.response.use(asText);
    super({ client });
    this.#maxWaitMs = options.maxWaitMs ?? defaultMaxWaitMs;
    this.#fetch = (input, init) => fetch(input, init);
  }

  /** Every recording that the token can see and the filter matches, newest first, page after page. */
  async *recordings(
    options: { filter?: RecordingFilter; include?: RecordingInclude } = {},
  ): AsyncGenerator<Recording, void, undefined> {
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await this.listRecordings({ ...options, ...(cursor === undefined ? {} : { cursor }) });
      yield* page.recordings;
      cursor = page.cursor;
    }
  }

  /** Every upload that the token can see and the filter matches, newest first, page after page. */
  async *uploads(
    options: { filter?: UploadFilter; include?: UploadInclude } = {},
  ): AsyncGenerator<Upload, void, undefined> {
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await this.listUploads({ ...options, ...(cursor === undefined ? {} : { cursor }) });
      yield* page.uploads;
      cursor = page.cursor;
    }
  }

  /**
   * Uploads a video or audio file. If it is interrupted, call it again with `resume`.
   * @param file in Node, `await openAsBlob("meeting.mp4")` from `node:fs` reads the file as it is sent.
   * @returns the upload once the file has arrived. `waitForRecording` waits for the recording.
   * @throws ParleyError if the server refuses the upload; UploadFailedError if the one to resume accepts no file any more.
   */
  async uploadFile(file: Blob, options: UploadOptions = {}): Promise<Upload> {
    const { auto_promote, attributes } = options;
    const upload =
      options.resume === undefined
        ? await this.createUpload({
            media_type: options.media_type ?? ((await isAudio(file)) ? "audio" : "video"),
            ...(auto_promote === undefined ? {} : { auto_promote }),
            ...(attributes === undefined ? {} : { attributes }),
          })
        : await this.getUpload({ upload_id: options.resume });
    if (options.resume === undefined) options.onCreate?.(upload);
    if (upload.status === "failure") throw failureOf(upload);
    // An upload that is resumed may have arrived already.
    if (upload.media !== undefined && "upload" in upload.media) {
      const { status } = upload.media;
      const { max_upload_bytes, tus_url } = upload.media.upload;
      if (file.size > max_upload_bytes)
        throw new RangeError(`the file has ${file.size} bytes; at most ${max_upload_bytes} are allowed`);
      await sendFile(this.#fetch, tus_url, file, this.#maxWaitMs, options).catch((error: unknown) => {
        // The rest of a file is accepted after the URL has expired, but not for long.
        if (status === "url_expired" && error instanceof ParleyError && error.status === 403)
          throw new UploadFailedError(upload.id, "the upload's URL has expired; upload the file again");
        throw error;
      });
    }
    return this.getUpload({ upload_id: upload.id });
  }

  /**
   * Waits until an upload has become a recording.
   * @returns the recording's id.
   * @throws UploadFailedError with the reason if the upload fails; the signal's reason if it is aborted.
   */
  async waitForRecording(
    uploadId: string,
    options: { readonly signal?: AbortSignal; readonly pollMs?: number } = {},
  ): Promise<string> {
    for (;;) {
      const upload = await this.getUpload({ upload_id: uploadId });
      if (upload.recording_id !== null) return upload.recording_id;
      if (upload.status === "failure") throw failureOf(upload);
      await wait(options.pollMs ?? 2000, options.signal);
    }
  }

  /**
   * Downloads a recording's media file.
   * @returns the response; its `body` is a stream.
   * @throws ParleyError, with code `not_found` for recordings that have only a transcript.
   */
  async download(recordingId: string, options: { readonly signal?: AbortSignal } = {}): Promise<Response> {
    const { data, response } = await this.client.get<ReadableStream<Uint8Array>, unknown, true>({
      ...options,
      url: "/_/public-api/v2/recordings/{recording_id}/download",
      path: { recording_id: recordingId },
      security: [{ key: "accessToken", scheme: "bearer", type: "http" }],
      parseAs: "stream",
    });
    return new Response(data, { status: response.status, headers: response.headers });
  }
}

function failureOf({ id, failure }: Upload): UploadFailedError {
  return new UploadFailedError(id, failure?.reason ?? "the upload failed");
}

/** The generated client reads types that it doesn't know, such as SubRip's, as a Blob. */
function asText(response: Response): Response {
  if (!response.headers.get("content-type")?.startsWith("application/x-subrip")) return response;
  return new Response(response.body, { status: response.status, headers: { "content-type": "text/plain" } });
}
