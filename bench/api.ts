import { createReadStream, statSync } from "node:fs";
import { request } from "node:http";
import { pipeline } from "node:stream/promises";
import { setTimeout as delay } from "node:timers/promises";

/** A user of a server under test. */
export interface Client {
  readonly server: { readonly url: string };
  readonly token: string;
}

/** One request, to be sent again and again. */
export interface Target {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Empty: none. */
  readonly body: string;
}

/** A request of the public API, as clients send it. */
export const publicRequest = (client: Client, method: string, path: string, body?: unknown): Target =>
  makeRequest(client, method, `/_/public-api/v2${path}`, body);

/** A request of the API that the web app uses. */
export const appRequest = (client: Client, method: string, path: string, body?: unknown): Target =>
  makeRequest(client, method, `/_/api/v1${path}`, body);

function makeRequest({ server, token }: Client, method: string, path: string, body: unknown): Target {
  return {
    url: `${server.url}${path}`,
    method,
    headers: {
      authorization: `Bearer ${token}`,
      "public-api-version": "2026-10-01",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    body: body === undefined ? "" : JSON.stringify(body),
  };
}

/** Sends a request once. @throws Error for any response but a 2xx. */
export async function send({ url, method, headers, body }: Target): Promise<Response> {
  const response = await fetch(url, { method, headers, ...(body === "" ? {} : { body }) });
  if (response.ok) return response;
  throw new Error(`${method} ${url} returned ${response.status}: ${await response.text()}`);
}

/** Sends a request and reads its JSON. */
export const ask = async <T>(target: Target): Promise<T> => (await send(target)).json() as Promise<T>;

/** An upload that waits for its file. */
export interface WaitingUpload {
  readonly id: string;
  readonly media: {
    readonly upload: { readonly url: string; readonly headers: Readonly<Record<string, string>> };
  };
}

/** Creates one, as a client does. @param attributes of the recording it becomes. */
export const createUpload = (
  client: Client,
  mediaType: "video" | "audio" | "transcript",
  attributes: object = {},
): Promise<WaitingUpload> =>
  ask(publicRequest(client, "POST", "/uploads/create", { media_type: mediaType, attributes }));

/** How often an upload is asked for; what is measured by it is no more exact than that. */
const askEveryMs = 25;

/** Waits until an upload has become a recording. @returns the recording's id. */
export async function untilRecording(client: Client, uploadId: string, timeoutMs = 300_000): Promise<string> {
  for (const end = performance.now() + timeoutMs; performance.now() < end; await delay(askEveryMs)) {
    const { status, recording_id, failure } = await ask<{
      status: string;
      recording_id: string | null;
      failure?: { reason: string };
    }>(publicRequest(client, "POST", `/uploads/${uploadId}`, {}));
    if (failure !== undefined) throw new Error(`the upload failed: ${failure.reason}`);
    if (status === "success" && recording_id !== null) return recording_id;
  }
  throw new Error(`the upload was no recording after ${timeoutMs / 1000} s`);
}

/** Sends a file by PUT. @returns seconds until the response ended. @throws Error for any response but a 2xx. */
export const putFile = (
  path: string,
  { url, headers }: { readonly url: string; readonly headers?: Readonly<Record<string, string>> },
): Promise<number> => transfer({ url, method: "PUT", headers: headers ?? {} }, path);

/** Fetches a file like `putFile` sends one, and discards its bytes. @returns seconds until the last byte. */
export const getFile = (url: string): Promise<number> => transfer({ url, method: "GET", headers: {} }, null);

async function transfer(target: Omit<Target, "body">, path: string | null): Promise<number> {
  const { url, method, headers } = target;
  const startedAt = performance.now();
  const length = path === null ? {} : { "content-length": statSync(path).size };
  const sent = request(url, { method, headers: { ...headers, ...length }, agent: false });
  const answered = new Promise<void>((resolve, reject) => {
    sent.on("error", reject);
    sent.on("response", (response) => {
      const status = response.statusCode ?? 0;
      if (status < 200 || status > 299) reject(new Error(`${url} returned ${status}`));
      response.resume().on("end", resolve).on("error", reject);
    });
  });
  if (path === null) sent.end();
  // A server that refuses the file closes the connection; its response says why.
  else await Promise.race([answered, pipeline(createReadStream(path, { highWaterMark: 2 ** 20 }), sent)]);
  await answered;
  return (performance.now() - startedAt) / 1000;
}
