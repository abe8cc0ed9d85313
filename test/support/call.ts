import assert from "node:assert/strict";
import { Problem } from "../../contract/errors.ts";
import { assertCompact } from "./compact.ts";

/** A response. */
export interface Answer<T = Record<string, unknown>> {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; undefined if it is not JSON. */
  readonly body: T;
}

export interface CallOptions {
  readonly token?: string | null;
  readonly version?: string | null;
  readonly headers?: Record<string, string>;
  /** A raw body instead of JSON. */
  readonly raw?: string | Buffer;
}

export const currentVersion = "2026-10-01";
export const olderVersion = "2025-10-31";
export const everyVersion = [olderVersion, currentVersion] as const;

/** Calls an API operation and checks that the OpenAPI document of the version describes the response. */
// biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response and assert on it.
export async function call<T = any>(
  app: { readonly url: string },
  method: string,
  path: string,
  body: unknown,
  options: CallOptions,
): Promise<Answer<T>> {
  const headers: Record<string, string> = { ...options.headers };
  if (options.token) headers.authorization = `Bearer ${options.token}`;
  if (options.version !== null) headers["public-api-version"] = options.version ?? currentVersion;
  const payload = options.raw ?? (body === undefined ? undefined : JSON.stringify(body));
  if (body !== undefined) headers["content-type"] ??= "application/json";
  const url = path.startsWith("/_/") ? path : `/_/public-api/v2${path}`;
  const response = await fetch(app.url + url, {
    method,
    headers,
    redirect: "manual",
    ...(payload === undefined ? {} : { body: payload }),
  });
  const text = isEndless(method, response) ? await readStart(response) : await response.text();
  // A response to HEAD has no body.
  const hasBody = method !== "HEAD";
  const isJson = hasBody && /[/+]json\b/.test(response.headers.get("content-type") ?? "");
  const answer = {
    status: response.status,
    headers: response.headers,
    text,
    body: (isJson ? JSON.parse(text) : undefined) as T,
  };
  if (isJson) assertCompact(text);
  if (hasBody && url.startsWith("/_/public-api")) {
    if (response.status >= 400) assertProblem(answer);
    const { assertDescribed } = await import("./openapi.ts");
    assertDescribed(headers["public-api-version"], method, url, answer);
  }
  return answer;
}

/** Whether a response is a stream of events that lasts as long as the client listens. */
function isEndless(method: string, { headers }: Response): boolean {
  return method === "GET" && (headers.get("content-type") ?? "").startsWith("text/event-stream");
}

/** What a stream begins with; closes it. */
async function readStart({ body }: Response): Promise<string> {
  for await (const chunk of body ?? []) return Buffer.from(chunk).toString();
  return "";
}

function assertProblem(answer: Answer<unknown>): void {
  assert.match(answer.headers.get("content-type") ?? "", /^application\/problem\+json/);
  const problem = Problem.parse(answer.body);
  assert.equal(problem.status, answer.status);
}
