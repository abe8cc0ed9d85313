import { setTimeout as delay } from "node:timers/promises";
import { type VersionName, versions } from "../../contract/versions.ts";
import { outboundFetch } from "../../server/platform/outbound/dispatcher.ts";
import { isRefusedByProxy, proxyLimitText } from "../../shared/files/chunk-size.ts";
import type { Segment } from "../../shared/transcripts/subtitles.ts";

/** Why a file could not be uploaded, as a message for the terminal. */
export class UploadError extends Error {
  /** The server's error code; null if there was no response. */
  readonly code: string | null;

  constructor(message: string, code: string | null = null) {
    super(message);
    this.code = code;
  }
}

/** A Parley server and the access token to call it with. */
export interface Target {
  /** Base URL without a trailing slash. */
  readonly url: string;
  readonly token: string;
}

/** The fields of an upload that the command needs. */
export interface RemoteUpload {
  readonly id: string;
  readonly status: "initial" | "awaiting" | "processing" | "staged" | "promoting" | "success" | "failure";
  readonly recording_id: string | null;
  readonly auto_promote: boolean;
  readonly media?: { readonly upload?: { readonly tus_url: string; readonly max_upload_bytes: number } };
  readonly failure?: { readonly reason: string };
}

/** What the command says about an import. */
export interface ImportRequest {
  readonly media: {
    readonly name: string;
    readonly modified_datetime: string;
    readonly time_zone: string;
    readonly audio_tracks?: "mix" | "speakers" | "ask";
    readonly parts?: readonly { readonly bytes: number }[];
  };
  readonly source: "upload";
  readonly auto_promote: boolean;
  readonly title?: string;
  readonly start_datetime?: string;
  readonly team_ids?: readonly string[];
  readonly recorder_ids?: readonly string[];
  readonly spoken_language?: string;
  readonly transcript?: { readonly language: string; readonly segments: readonly Segment[] };
  readonly participants?: readonly { readonly name: string; readonly speaker_key: string }[];
  readonly notes?: string;
}

/** An import that waits for its file. */
export interface RemoteImport {
  readonly id: string;
  readonly upload: { readonly tus_url: string; readonly max_upload_bytes: number } | null;
}

/** Delays before retries after network errors; about five minutes in total. */
export const retryDelaysMs = [500, 1000, 2000, 4000, 8000, 15_000, 30_000, 60_000, 90_000, 90_000];

const responseTimeoutMs = 60_000;

/** Creates an upload of a file that the server converts if needed. */
export async function createImport(target: Target, input: ImportRequest): Promise<RemoteImport> {
  return (await send(target, "POST", "/_/api/v1/recordings", input)) as RemoteImport;
}

/** What the server says about the file of an import; null: nothing. */
export async function getImport(target: Target, id: string): Promise<{ readonly notice: string | null }> {
  return (await withRetries(() => send(target, "GET", `/_/api/v1/imports/${id}`))) as {
    notice: string | null;
  };
}

/** @returns null if the upload does not exist or the token can't see it. */
export async function getUpload(target: Target, uploadId: string): Promise<RemoteUpload | null> {
  try {
    return (await withRetries(() =>
      post(target, currentVersion(), `/uploads/${uploadId}`, {}),
    )) as RemoteUpload;
  } catch (error) {
    if (error instanceof UploadError && error.code === "not_found") return null;
    throw error;
  }
}

/** Whether the server was not reached, or is restarting: a proxy then responds instead of it. */
function isTransient({ code }: UploadError): boolean {
  return code === null || ["unavailable", "502", "503", "504"].includes(code);
}

/** Retries after network errors and while the server restarts; only for idempotent requests. */
async function withRetries<T>(request: () => Promise<T>): Promise<T> {
  for (const waitMs of retryDelaysMs) {
    try {
      return await request();
    } catch (error) {
      if (!(error instanceof UploadError) || !isTransient(error)) throw error;
      await delay(waitMs);
    }
  }
  return request();
}

function post(target: Target, version: VersionName, path: string, body: object): Promise<unknown> {
  return send(target, "POST", `/_/public-api/v2${path}`, body, { "public-api-version": version });
}

async function send(
  target: Target,
  method: "GET" | "POST",
  path: string,
  body: object | null = null,
  headers: Record<string, string> = {},
): Promise<unknown> {
  let response: Response;
  let text: string;
  try {
    response = await outboundFetch(`${target.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${target.token}`,
        "content-type": "application/json",
        ...headers,
      },
      body: body === null ? null : JSON.stringify(body),
      signal: AbortSignal.timeout(responseTimeoutMs),
    });
    text = await response.text();
  } catch (error) {
    throw new UploadError(`the server at ${target.url} can't be reached: ${reasonOf(error)}`);
  }
  if (response.ok) return JSON.parse(text);
  throw toUploadError(response.status, text);
}

/** An error response as an UploadError: its violations, else its detail, else its status. */
export function toUploadError(status: number, body: string): UploadError {
  if (isRefusedByProxy(status, body)) return new UploadError(proxyLimitText, String(status));
  const problem = readProblem(body);
  if (problem === null)
    return new UploadError(`the server returned ${status} ${body.trim()}`.trim(), String(status));
  const violations = (problem.violations ?? []).map(({ pointer, detail }) => `${pointer} ${detail}`.trim());
  return new UploadError(violations.length > 0 ? violations.join("; ") : problem.detail, problem.error);
}

interface Problem {
  readonly error: string;
  readonly detail: string;
  readonly violations?: readonly { readonly pointer: string; readonly detail: string }[];
}

function readProblem(body: string): Problem | null {
  try {
    const problem = JSON.parse(body) as Problem;
    return typeof problem.error === "string" && typeof problem.detail === "string" ? problem : null;
  } catch {
    // A proxy's page, not a response of Parley.
    return null;
  }
}

/** The system's error instead of undici's "fetch failed". */
export function reasonOf(error: unknown): string {
  const { cause, message } = error as Error & { cause?: unknown };
  if (cause instanceof AggregateError) return reasonOf(cause.errors[0]);
  return cause instanceof Error ? reasonOf(cause) : message;
}

function currentVersion(): VersionName {
  const current = versions.find(({ status }) => status === "current");
  if (current === undefined) throw new Error("no API version is current");
  return current.name;
}
