import { z } from "zod";
import { Problem } from "../../../contract/errors.ts";
import { isRedirectResponse, isTextResponse } from "../../../contract/operation.ts";
import type { RawResponse } from "./connection.ts";
import type { FuzzRequest } from "./request.ts";

/** Strings that reveal internals: stack traces, SQL, paths of the file system. */
const internalStrings = [
  "at file:",
  "node:internal",
  "syntax error",
  "relation",
  "select ",
  "node_modules",
  "violates ",
];

/** What the API says itself of a body that is not JSON. */
const ownSyntaxError = "the body is not valid JSON: syntax error";

/** An error response must not grow with the request. */
const maxProblemBytes = 256 * 1024;

/** RFC 6749, section 5.2: the errors of the token endpoint. */
const OAuthError = z.strictObject({
  error: z.string().regex(/^[a-z_]+$/),
  error_description: z.string().optional(),
  error_uri: z.string().optional(),
});

/** Checks a response against the API. @returns null if it is right, else the problem. */
export function findProblem(request: FuzzRequest, response: RawResponse | null): string | null {
  if (response === null) return request.mayGetNoResponse ? null : "the connection ended without a response";
  const { status } = response;
  if (status >= 500) return `status ${status}`;
  const text = response.body.toString();
  const type = response.headers.get("content-type") ?? "";
  if (!type.startsWith("text/javascript")) {
    // A response may repeat parts of the request.
    const foreign = text.replaceAll(ownSyntaxError, "");
    const leak = internalStrings.find((word) => foreign.includes(word) && !request.bytes.includes(word));
    if (leak !== undefined) return `the response contains "${leak}"`;
  }
  if (status >= 400 && !request.isHead) {
    const problem = findErrorProblem(response, text, type);
    if (problem !== null) return problem;
  }
  const { expects } = request;
  const isExpected =
    expects === "any" || new RegExp(`^${expects.replaceAll("x", "\\d")}$`).test(String(status));
  if (!isExpected) return `status ${status} instead of ${expects}`;
  return status === 200 ? findSchemaProblem(request, text, type) : null;
}

function findErrorProblem({ status, body }: RawResponse, text: string, type: string): string | null {
  if (body.length > maxProblemBytes) return `status ${status} with a body of ${body.length} bytes`;
  const json = parse(text);
  if (type.startsWith("application/json") && OAuthError.safeParse(json).success) return null;
  // The authorization page returns errors as HTML for people.
  if (type.startsWith("text/html") && text.startsWith("<!doctype html>")) return null;
  if (!type.startsWith("application/problem+json")) return `status ${status} with content type "${type}"`;
  const problem = Problem.safeParse(json);
  if (!problem.success) return `status ${status} without a valid problem document`;
  return problem.data.status === status
    ? null
    : `status ${status}, but the document says ${problem.data.status}`;
}

/** Checks a 200 response against the operation's schema. */
function findSchemaProblem({ target }: FuzzRequest, text: string, type: string): string | null {
  const response = target?.response;
  if (!response || isRedirectResponse(response)) return null;
  if (isTextResponse(response))
    return type.startsWith(response.contentType) ? null : `content type "${type}"`;
  const result = response.safeParse(parse(text));
  return result.success
    ? null
    : `the response does not match the schema: ${JSON.stringify(result.error.issues[0]).slice(0, 300)}`;
}

/** The JSON of a text, or undefined. */
export function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
