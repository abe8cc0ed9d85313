import type { FastifyReply, FastifyRequest } from "fastify";
import { type Cause, causeOf, type Explanation } from "../../../../contract/causes/causes.ts";
import {
  type ErrorCode,
  errorCatalogue,
  type SecondFactorMethod,
  type Violation,
} from "../../../../contract/errors.ts";

/** An error for the client: a code of the catalog and the details of this case. */
export class ProblemError extends Error {
  readonly code: ErrorCode;
  override readonly cause: Cause | undefined;
  readonly violations: readonly Violation[] | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly transcriptVersion: number | undefined;
  readonly methods: readonly SecondFactorMethod[] | undefined;

  /** @param detail public; must not hold secrets or internals. With its cause where users of the web app see it. */
  constructor(
    code: ErrorCode,
    detail: string | Explanation,
    extra: {
      violations?: readonly Violation[];
      headers?: Record<string, string>;
      /** The version that an edit would have had to name. */
      transcriptVersion?: number;
      /** What the account accepts as a second factor. */
      methods?: readonly SecondFactorMethod[];
    } = {},
  ) {
    super(typeof detail === "string" ? detail : detail.detail);
    this.code = code;
    this.cause = typeof detail === "string" ? undefined : detail.cause;
    this.violations = extra.violations;
    this.headers = extra.headers ?? {};
    this.transcriptVersion = extra.transcriptVersion;
    this.methods = extra.methods;
  }
}

/** Invalid input: lists all violations and summarizes them in `detail`. */
export function invalidInput(violations: readonly Violation[]): ProblemError {
  const first = violations[0];
  const rest = violations.length - 1;
  const detail = first
    ? `${first.pointer === "" ? "the body" : first.pointer} ${first.detail}${rest > 0 ? ` (and ${rest} more)` : ""}`
    : "the input is not valid";
  return new ProblemError("invalid_input", detail, { violations: violations.map(withCause) });
}

/** Names the cause of a rule whose text is always the same. */
function withCause(violation: Violation): Violation {
  const cause = violation.cause ?? causeOf(violation.detail);
  return cause === undefined ? violation : { ...violation, cause };
}

/** The path exists, but not for this method. Source: RFC 9110, section 15.5.6. */
export function methodNotAllowed(request: FastifyRequest, allowed: readonly string[]): ProblemError {
  const allow = allowed.join(", ");
  return new ProblemError("method_not_allowed", `${request.method} is not supported here; use ${allow}`, {
    headers: { allow },
  });
}

/** A problem document. Source: RFC 9457. `message` is for existing clients, most of which show that field or nothing. */
export function problemDocument(code: ErrorCode, detail: string, requestId: string) {
  const { status, title } = errorCatalogue[code];
  return {
    type: `/docs/errors#${code}`,
    title,
    status,
    detail,
    message: detail,
    error: code,
    request_id: requestId,
  };
}

/** Sends a problem document as `application/problem+json`. */
export function sendProblem(
  request: FastifyRequest,
  reply: FastifyReply,
  problem: ProblemError,
): FastifyReply {
  const body = {
    ...problemDocument(problem.code, problem.message, request.id),
    ...(problem.cause === undefined ? {} : { cause: problem.cause }),
    ...(problem.violations === undefined ? {} : { violations: problem.violations }),
    ...(problem.methods === undefined ? {} : { methods: problem.methods }),
    ...(problem.transcriptVersion === undefined ? {} : { transcript_version: problem.transcriptVersion }),
  };
  return reply
    .code(body.status)
    .headers(problem.headers)
    .type("application/problem+json")
    .send(JSON.stringify(body));
}
