import type { z } from "zod";
import type { Problem } from "../../contract/errors.ts";
import type { Operation } from "../../contract/operation.ts";
import { versionNames } from "../../contract/versions.ts";

type ProblemBody = z.output<typeof Problem>;

/** An answer that is not a success, in the server's own words. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: ProblemBody["error"] | "unreachable";
  readonly violations: NonNullable<ProblemBody["violations"]>;
  /** The version a transcript has now; given when an edit went by another one. */
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

/** What an operation answers, from its own schema. */
export type Output<O extends Operation> = O["response"] extends z.ZodType ? z.output<O["response"]> : string;

type Body<O extends Operation> = O["body"] extends z.ZodObject ? z.input<O["body"]> : Record<string, never>;

export interface CallInput<O extends Operation> {
  readonly body?: Body<O>;
  readonly query?: Readonly<Record<string, string | number | null | undefined>>;
  readonly signal?: AbortSignal;
}

/** The newest version is the one this app is written for. */
const version = versionNames[versionNames.length - 1] ?? "";

/**
 * Calls an operation of the API in the name of the signed-in person. Types come from the operation; its schema stays
 * out of the page.
 * @param path with its parameters filled in, by `path`.
 * @throws ApiError for every answer that is no success, and when there is none.
 */
export async function call<O extends Operation>(
  method: O["method"],
  path: string,
  { body, query, signal }: CallInput<O> = {},
): Promise<Output<O>> {
  const headers: Record<string, string> = { accept: "application/json" };
  if (path.startsWith("/_/public-api/")) headers["public-api-version"] = version;
  if (body !== undefined) headers["content-type"] = "application/json";
  let response: Response;
  try {
    response = await fetch(path + searchOf(query), {
      method,
      headers,
      credentials: "same-origin",
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, "unreachable", "The server can't be reached. Check the connection and try again.");
  }
  const text = await response.text();
  if (!response.ok) throw readProblem(response, text);
  const isJson = (response.headers.get("content-type") ?? "").includes("json");
  return (isJson ? JSON.parse(text) : text) as Output<O>;
}

/** A path with its parameters filled in, each escaped. */
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
  try {
    const problem = JSON.parse(text) as ProblemBody;
    const { error, detail, violations = [], transcript_version = null } = problem;
    return new ApiError(response.status, error, detail, violations, transcript_version);
  } catch {
    return new ApiError(
      response.status,
      "internal",
      `The server answered ${response.status} without saying why.`,
    );
  }
}
