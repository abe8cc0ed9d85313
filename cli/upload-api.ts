import { setTimeout as delay } from "node:timers/promises";
import { isOpen, type VersionName, versionNames, versions } from "../contract/versions.ts";

/** Why a file did not become an upload or a recording, in words for the person at the terminal. */
export class UploadError extends Error {
  /** The server's error code; null when the server did not answer. */
  readonly code: string | null;

  constructor(message: string, code: string | null = null) {
    super(message);
    this.code = code;
  }
}

/** A Parley server and who is calling. */
export interface Target {
  /** Address without a trailing slash. */
  readonly url: string;
  readonly token: string;
}

/** What the command reads of an upload. */
export interface RemoteUpload {
  readonly id: string;
  readonly status: "initial" | "awaiting" | "processing" | "staged" | "promoting" | "success" | "failure";
  readonly recording_id: string | null;
  readonly media?: { readonly upload?: { readonly tus_url: string; readonly max_upload_bytes: number } };
  readonly failure?: { readonly reason: string };
}

/** What an upload is created with. */
export interface UploadAttributes {
  readonly title?: string;
  readonly start_datetime?: string;
  readonly team_id?: string;
  readonly recorder_ids?: readonly string[];
}

/** Milliseconds before each new attempt after a network error: some five minutes in all. */
export const retryDelaysMs = [500, 1000, 2000, 4000, 8000, 15_000, 30_000, 60_000, 90_000, 90_000];

const answerTimeoutMs = 60_000;

export async function createUpload(
  target: Target,
  input: { media_type: "video" | "audio"; auto_promote: boolean; attributes: UploadAttributes },
): Promise<RemoteUpload> {
  return (await post(target, currentVersion(), "/uploads/create", input)) as RemoteUpload;
}

/** @returns null when the token sees no such upload. */
export async function getUpload(target: Target, uploadId: string): Promise<RemoteUpload | null> {
  try {
    return (await patiently(() =>
      post(target, currentVersion(), `/uploads/${uploadId}`, {}),
    )) as RemoteUpload;
  } catch (error) {
    if (error instanceof UploadError && error.code === "not_found") return null;
    throw error;
  }
}

/** Begins an upload by the older operation, which takes more formats and has the file in one piece. */
export async function createOneStepUpload(
  target: Target,
  input: { filename: string; user_id?: string },
): Promise<{ uuid: string; url: string; max_upload_bytes: number }> {
  return (await post(target, oneStepVersion(), "/recordings/upload", input)) as Awaited<
    ReturnType<typeof createOneStepUpload>
  >;
}

/** Asks again after network errors; only for what may be asked twice. */
async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  for (const waitMs of retryDelaysMs) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof UploadError) || (error.code !== null && error.code !== "unavailable"))
        throw error;
      await delay(waitMs);
    }
  }
  return ask();
}

async function post(target: Target, version: VersionName, path: string, body: object): Promise<unknown> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(`${target.url}/_/public-api/v2${path}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${target.token}`,
        "public-api-version": version,
        "content-type": "application/json",
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(answerTimeoutMs),
    });
    text = await response.text();
  } catch (error) {
    throw new UploadError(`the server at ${target.url} can't be reached: ${reasonOf(error)}`);
  }
  if (response.ok) return JSON.parse(text);
  throw refusal(response.status, text);
}

/** What a server says of a request it refuses: the faults it names, or else its status. */
export function refusal(status: number, body: string): UploadError {
  const problem = readProblem(body);
  if (problem === null)
    return new UploadError(`the server answered ${status} ${body.trim()}`.trim(), String(status));
  const faults = (problem.violations ?? []).map(({ pointer, detail }) => `${pointer} ${detail}`.trim());
  return new UploadError(faults.length > 0 ? faults.join("; ") : problem.detail, problem.error);
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
    // Some proxy's page, not an answer of Parley.
    return null;
  }
}

/** The word of the system rather than the library's "fetch failed". */
export function reasonOf(error: unknown): string {
  const { cause, message } = error as Error & { cause?: unknown };
  if (cause instanceof AggregateError) return reasonOf(cause.errors[0]);
  return cause instanceof Error ? reasonOf(cause) : message;
}

function currentVersion(): VersionName {
  const current = versions.find(({ status }) => status === "current");
  if (current === undefined) throw new Error("one version is current");
  return current.name;
}

function oneStepVersion(): VersionName {
  const open = versionNames.findLast((name) => isOpen("one_step_upload", name));
  if (open === undefined) throw new Error("some version has the older upload operation");
  return open;
}
