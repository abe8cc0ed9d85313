import type { z } from "zod";
import { backgroundHeader } from "../../../contract/accounts/background.ts";
import type { Operation } from "../../../contract/operation.ts";
import { versionNames } from "../../../contract/versions.ts";
import { isSignedOut, readProblem, unreachable } from "./api-error.ts";
import { isIdle } from "./idle.ts";
import { pause } from "./pause.ts";
import { noteAllowance, pauseBulk, waitMsOf } from "./rate-limit.ts";
import { reportSignedOut, untilProven, untilSignedIn } from "./signed-out.ts";

/** The response body of an operation, typed by its schema. */
export type Output<O extends Operation> = O["response"] extends z.ZodType ? z.output<O["response"]> : string;

/** The request body of an operation. */
export type Body<O extends Operation> = O["body"] extends z.ZodObject ? z.input<O["body"]> : never;

/** The parts of a request's URL, with the names that the operation declares. */
export type Url<O extends Operation> = Part<"params", InputOf<O["params"]>> &
  Part<"query", Nullable<InputOf<O["query"]>>>;

type InputOf<Schema> = Schema extends z.ZodObject ? z.input<Schema> : never;

/** null leaves a parameter out. */
type Nullable<Query> = { readonly [Name in keyof Query]: Query[Name] | null };

/** A part of a request; required if any value in it is. An operation without this part takes none. */
type Part<Name extends string, Value> = [Value] extends [never]
  ? { readonly [N in Name]?: never }
  : Record<never, never> extends Value
    ? { readonly [N in Name]?: Value | undefined }
    : { readonly [N in Name]: Value };

export type CallInput<O extends Operation> = Url<O> & Part<"body", InputOf<O["body"]>> & Options;

interface Options {
  readonly signal?: AbortSignal | undefined;
  /** True for requests that read or start the session: a 401 is thrown at once instead of waiting for the next sign-in. */
  readonly isAboutSession?: boolean;
  /** True for one of many requests: it leaves some of the rate limit to the user's other pages. */
  readonly isBulk?: boolean;
}

/** Left out if nothing in it is required. */
type Rest<T> = Record<never, never> extends T ? [T?] : [T];

/** What is sent, whatever the operation. */
interface Request extends Options {
  readonly method: string;
  readonly url: string;
  readonly body?: object | undefined;
}

/** Attempts of one request, each after another sign-in. */
const maxAttempts = 3;

/** How often one request waits for the rate limit, each time until the next minute. */
const maxWaits = 5;

/** This app uses the newest API version. */
const version = versionNames[versionNames.length - 1] ?? "";

/**
 * Calls an API operation as the signed-in user. In the browser an operation has only its method and path; see
 * `operationsOnly` in vite.config.ts. When the session has ended, the request waits and is sent again after the next sign-in;
 * that is safe because a 401 changes nothing. So it is when the session is too old for the operation.
 * @throws ApiError for every unsuccessful response, and when the server can't be reached.
 */
export async function call<O extends Operation>(
  operation: O,
  ...[input]: Rest<CallInput<O>>
): Promise<Output<O>> {
  const { params, query, ...rest }: AnyInput = input ?? {};
  const request = { ...rest, method: operation.method, url: fill(operation.path, params) + searchOf(query) };
  const response = await exchange(request);
  // Not by way of a Blob, whose contents Chromium sends to another process and back.
  const text = await arrived(response.text(), request.signal);
  const isJson = (response.headers.get("content-type") ?? "").includes("json");
  return (isJson ? JSON.parse(text) : text) as Output<O>;
}

/** Calls an operation that returns a file. @throws ApiError as `call` does. */
export async function callForFile<O extends Operation>(operation: O, input: CallInput<O>): Promise<Blob> {
  const { params, query, ...rest }: AnyInput = input;
  const url = fill(operation.path, params) + searchOf(query);
  const response = await exchange({ ...rest, method: operation.method, url });
  return arrived(response.blob(), rest.signal);
}

/**
 * Sends a request until it succeeds, or fails with an error that a sign-in doesn't solve.
 * @returns the response, whose body the caller reads.
 */
async function exchange(request: Request): Promise<Response> {
  const { signal, isAboutSession = false } = request;
  for (let attempt = 1; ; attempt++) {
    if (!isAboutSession) await untilSignedIn(signal);
    const response = await sendWithinLimit(request);
    if (response.ok) return response;
    const problem = await readProblem(response, await arrived(response.text(), signal));
    if (problem.code === "proof_required" && attempt < maxAttempts && (await untilProven(signal))) continue;
    if (isAboutSession || !isSignedOut(problem) || attempt === maxAttempts) throw problem;
    reportSignedOut();
  }
}

type Values = Readonly<Record<string, unknown>>;

interface AnyInput extends Options {
  readonly params?: Values | undefined;
  readonly query?: Values | undefined;
  readonly body?: object | undefined;
}

/** The URL of an operation, for links and media elements. */
export function urlOf<O extends Operation>(operation: O, ...[input]: Rest<Url<O>>): string {
  const { params, query }: AnyInput = input ?? {};
  return fill(operation.path, params) + searchOf(query);
}

async function sendWithinLimit(request: Request): Promise<Response> {
  const { signal, isAboutSession = false, isBulk = false } = request;
  for (let waits = 0; ; waits++) {
    if (isBulk) await pauseBulk(signal);
    const response = await send(request);
    noteAllowance(response);
    const waitMs = isAboutSession || waits === maxWaits ? null : waitMsOf(response);
    if (waitMs === null) return response;
    // Leaves the connection to others.
    await arrived(response.text(), signal);
    await pause(waitMs, signal);
  }
}

async function send({ method, url, body, signal }: Request): Promise<Response> {
  const headers: Record<string, string> = { accept: "application/json" };
  if (url.startsWith("/_/public-api/")) headers["public-api-version"] = version;
  if (body !== undefined) headers["content-type"] = "application/json";
  if (isIdle()) headers[backgroundHeader] = "1";
  try {
    return await fetch(url, {
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

/** A body that is being read: the connection may also break while it arrives. */
async function arrived<T>(body: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  try {
    return await body;
  } catch (error) {
    if (signal?.aborted) throw error;
    throw unreachable();
  }
}

function fill(path: string, params: Values = {}): string {
  return path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(params[name])));
}

function searchOf(query: Values = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== null && value !== undefined && value !== "") parameters.set(name, String(value));
  return parameters.size === 0 ? "" : `?${parameters}`;
}
