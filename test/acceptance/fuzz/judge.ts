import { z } from "zod";
import { Problem } from "../../../contract/errors.ts";
import { isRedirectResponse, isTextResponse } from "../../../contract/operation.ts";
import type { Answer } from "./connection.ts";
import type { FuzzRequest } from "./request.ts";

/** What only a server's inside knows: stack traces, SQL, places in its file system. */
const innerWords = [
  "at file:",
  "node:internal",
  "syntax error",
  "relation",
  "select ",
  "node_modules",
  "violates ",
];

/** What is said about a fault must not grow with the fault. */
const largestProblem = 256 * 1024;

/** RFC 6749, section 5.2: the errors of the token endpoint. */
const OAuthError = z.strictObject({
  error: z.string().regex(/^[a-z_]+$/),
  error_description: z.string().optional(),
  error_uri: z.string().optional(),
});

/** Holds an answer against what the API promises; null when it is right, else what is wrong. */
export function faultOf(request: FuzzRequest, answer: Answer | null): string | null {
  if (answer === null) return request.mayStaySilent ? null : "the connection ended without an answer";
  const { status } = answer;
  if (status >= 500) return `status ${status}`;
  const text = answer.body.toString();
  const type = answer.headers.get("content-type") ?? "";
  if (!type.startsWith("text/javascript")) {
    // What the request says itself may be repeated.
    const leak = innerWords.find((word) => text.includes(word) && !request.bytes.includes(word));
    if (leak !== undefined) return `the answer says "${leak}"`;
  }
  if (status >= 400 && !request.isHead) {
    const fault = problemFault(answer, text, type);
    if (fault !== null) return fault;
  }
  const { expects } = request;
  const isExpected =
    expects === "any" || new RegExp(`^${expects.replaceAll("x", "\\d")}$`).test(String(status));
  if (!isExpected) return `status ${status} instead of ${expects}`;
  return status === 200 ? formFault(request, text, type) : null;
}

function problemFault({ status, body }: Answer, text: string, type: string): string | null {
  if (body.length > largestProblem) return `status ${status} with ${body.length} bytes of explanation`;
  const json = parse(text);
  if (type.startsWith("application/json") && OAuthError.safeParse(json).success) return null;
  // The page on which people let apps in tells people, not programs.
  if (type.startsWith("text/html") && text.startsWith("<!doctype html>")) return null;
  if (!type.startsWith("application/problem+json")) return `status ${status} with content type "${type}"`;
  const problem = Problem.safeParse(json);
  if (!problem.success) return `status ${status} without a valid problem document`;
  return problem.data.status === status
    ? null
    : `status ${status}, but the document says ${problem.data.status}`;
}

/** A good answer has the form the contract gives it. */
function formFault({ target }: FuzzRequest, text: string, type: string): string | null {
  const response = target?.response;
  if (!response || isRedirectResponse(response)) return null;
  if (isTextResponse(response))
    return type.startsWith(response.contentType) ? null : `content type "${type}"`;
  const result = response.safeParse(parse(text));
  return result.success
    ? null
    : `an answer that the contract does not allow: ${JSON.stringify(result.error.issues[0]).slice(0, 300)}`;
}

/** The JSON of a text, or undefined. */
export function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
