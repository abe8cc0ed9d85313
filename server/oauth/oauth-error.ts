import type { FastifyReply, FastifyRequest } from "fastify";
import { discardBody, toProblem } from "../http/errors.ts";
import { sendProblem } from "../http/problem.ts";

/** What the token and revocation endpoints can answer instead. Sources: RFC 6749, section 5.2; RFC 7009, section 2.2.1. */
export type OAuthErrorCode =
  | "invalid_request"
  | "invalid_client"
  | "invalid_grant"
  | "unauthorized_client"
  | "unsupported_grant_type"
  | "slow_down";

/** A refusal in the form of RFC 6749, not of the API's own errors. */
export class OAuthError extends Error {
  readonly code: OAuthErrorCode;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  /** @param description public; must not hold secrets. */
  constructor(
    code: OAuthErrorCode,
    description: string,
    extra: { status?: number; headers?: Record<string, string> } = {},
  ) {
    super(description);
    this.code = code;
    this.status = extra.status ?? 400;
    this.headers = extra.headers ?? {};
  }
}

/** Every answer of these endpoints, of errors too: never kept by a cache (RFC 6749, section 5.1). */
export function sendJson(reply: FastifyReply, status: number, body: object): FastifyReply {
  return reply
    .code(status)
    .headers({ "cache-control": "no-store", pragma: "no-cache" })
    .type("application/json; charset=utf-8")
    .send(JSON.stringify(body));
}

/** Answers errors of the endpoints as RFC 6749 says; what is our own fault keeps its status. */
export async function handleOAuthError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  if (error instanceof OAuthError)
    return sendJson(reply.headers(error.headers), error.status, {
      error: error.code,
      error_description: error.message,
    });
  const problem = toProblem(error);
  if (problem.code === "body_too_large") await discardBody(request.raw);
  if (problem.code === "method_not_allowed") return sendProblem(request, reply, problem);
  if (problem.code === "internal" || problem.code === "unavailable") {
    request.log.error({ err: error }, problem.code);
    return sendProblem(request, reply, problem);
  }
  return sendJson(reply, 400, { error: "invalid_request", error_description: problem.message });
}
