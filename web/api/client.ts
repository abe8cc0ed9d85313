import type { z } from "zod";
import type { Problem } from "../../contract/errors.ts";
import type { Operation } from "../../contract/operation.ts";
import { versionNames } from "../../contract/versions.ts";
import { isRefusedByProxy, proxyLimitText } from "../../shared/files/chunk-size.ts";
import { pause } from "./pause.ts";
import { noteAllowance, pauseBulk, waitMsOf } from "./rate-limit.ts";
import { reportSignedOut, untilSignedIn } from "./signed-out.ts";

type ProblemBody = z.output<typeof Problem>;

/** An unsuccessful response; the message is the server's `detail`. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: ProblemBody["error"] | "unreachable";
  readonly violations: NonNullable<ProblemBody["violations"]>;
  /** The current version of a transcript, when an edit was refused because it named an older one. */
  readonly transcriptVersion: number | null;
  constructor(
    status: number,
    code: ApiError["code"],
    detail: string,
    violations: ApiError["violations"] = [],
    transcriptVersion: number | null = null,
  ) {
    super(detail);
    this.status = status;
    this.code = code;
    this.violations = violations;
    this.transcriptVersion = transcriptVersion;
  }
}

/** Whether the server could not be reached or failed: the same request may succeed later. */
export function isOutage(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status >= 500);
}

/** The response body of an operation, typed by its schema. */
export type Output<O extends Operation> = O["response"] extends z.ZodType ? z.output<O["response"]> : string;

type Body<O extends Operation> = O["body"] extends z.ZodObject ? z.input<O["body"]> : Record<string, never>;

export interface CallInput<O extends Operation> {
  readonly body?: Body<O>;
  readonly query?: Readonly<Record<string, string | number | null | undefined>>;
  readonly signal?: AbortSignal;
  /** True for requests that read or start the session: a 401 is thrown at once instead of waiting for the next sign-in. */
  readonly isAboutSession?: boolean;
  /** True for one of many requests: it leaves some of the rate limit to the user's other pages. */
  readonly isBulk?: boolean;
}

/** Replaces the detail of a 401, which speaks of tokens. */
const signedOutText = "You've been signed out. Sign in again.";

/** Attempts of one request, each after another sign-in. */
const maxAttempts = 3;

/** How often one request waits for the rate limit, each time until the next minute. */
const maxWaits = 5;

/** This app uses the newest API version. */
const version = versionNames[versionNames.length - 1] ?? "";

/**
 * Calls an API operation as the signed-in user. Only the operation's types are used, so its schema is not bundled. When the
 * session has ended, the request waits and is sent again after the next sign-in; that is safe because a 401 changes nothing.
 * @param path with its parameters filled in, by `path`.
 * @throws ApiError for every unsuccessful response, and when the server can't be reached.
 */
export async function call<O extends Operation>(
  method: O["method"],
  path: string,
  input: CallInput<O> = {},
): Promise<Output<O>> {
  const { signal, isAboutSession = false } = input;
  for (let attempt = 1; ; attempt++) {
    if (!isAboutSession) await untilSignedIn(signal);
    const { response, text } = await sendWithinLimit(method, path, input);
    if (response.ok) {
      const isJson = (response.headers.get("content-type") ?? "").includes("json");
      return (isJson ? JSON.parse(text) : text) as Output<O>;
    }
    const problem = readProblem(response, text);
    if (isAboutSession || !isSignedOut(problem) || attempt === maxAttempts) throw problem;
    reportSignedOut();
  }
}

async function sendWithinLimit<O extends Operation>(
  method: O["method"],
  path: string,
  input: CallInput<O>,
): Promise<{ response: Response; text: string }> {
  const { signal, isAboutSession = false, isBulk = false } = input;
  for (let waits = 0; ; waits++) {
    if (isBulk) await pauseBulk(signal);
    const response = await send(method, path, input);
    const text = await readText(response, signal);
    noteAllowance(response);
    const waitMs = isAboutSession || waits === maxWaits ? null : waitMsOf(response);
    if (waitMs === null) return { response, text };
    await pause(waitMs, signal);
  }
}

const unreachable = (): ApiError =>
  new ApiError(0, "unreachable", "The server can't be reached. Check your connection and try again.");

async function send<O extends Operation>(
  method: O["method"],
  path: string,
  { body, query, signal }: CallInput<O>,
): Promise<Response> {
  const headers: Record<string, string> = { accept: "application/json" };
  if (path.startsWith("/_/public-api/")) headers["public-api-version"] = version;
  if (body !== undefined) headers["content-type"] = "application/json";
  try {
    return await fetch(path + searchOf(query), {
      method,
      headers,
      credentials: "same-origin",
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw unreachable();
  }
}

/** The connection may also break while the body arrives. */
async function readText(response: Response, signal: AbortSignal | undefined): Promise<string> {
  try {
    return await response.text();
  } catch (error) {
    if (signal?.aborted) throw error;
    throw unreachable();
  }
}

function isSignedOut({ code }: ApiError): boolean {
  return code === "token_missing" || code === "token_invalid";
}

/** Builds a path and escapes its parameters. */
export function path(strings: TemplateStringsArray, ...values: readonly string[]): string {
  return strings.map((text, index) => text + encodeURIComponent(values[index] ?? "")).join("");
}

function searchOf(query: CallInput<Operation>["query"]): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {}))
    if (value !== null && value !== undefined && value !== "") parameters.set(name, String(value));
  return parameters.size === 0 ? "" : `?${parameters}`;
}

function readProblem(response: Response, text: string): ApiError {
  if (isRefusedByProxy(response.status, text)) return new ApiError(413, "body_too_large", proxyLimitText);
  try {
    const problem = JSON.parse(text) as ProblemBody;
    const { error, detail, violations = [], transcript_version = null } = problem;
    const isAboutToken = error === "token_missing" || error === "token_invalid";
    return new ApiError(
      response.status,
      error,
      isAboutToken ? signedOutText : detail,
      violations,
      transcript_version,
    );
  } catch {
    return new ApiError(response.status, "internal", `Unexpected error (${response.status}).`);
  }
}
