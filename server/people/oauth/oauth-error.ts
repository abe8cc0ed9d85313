import type { FastifyReply, FastifyRequest } from "fastify";
import { discardBody, toProblem } from "../../platform/http/errors/errors.ts";
import { sendProblem } from "../../platform/http/errors/problem.ts";

/**
 * Error codes of the token, revocation and registration endpoints. Sources: RFC 6749, section 5.2; RFC 7009, section 2.2.1;
 * RFC 7591, section 3.2.2; RFC 8707, section 2.
 */
export type OAuthErrorCode =
  | "invalid_request"
  | "invalid_client"
  | "invalid_grant"
  | "unauthorized_client"
  | "unsupported_grant_type"
  | "slow_down"
  | "invalid_target"
  | "invalid_redirect_uri"
  | "invalid_client_metadata";

/** An error in the format of RFC 6749 instead of the API's problem format. */
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

/** Sends a response or error of these endpoints, never cached (RFC 6749, section 5.1). */
export function sendJson(reply: FastifyReply, status: number, body: object): FastifyReply {
  return reply
    .code(status)
    .headers({ "cache-control": "no-store", pragma: "no-cache" })
    .type("application/json; charset=utf-8")
    .send(JSON.stringify(body));
}

/** Sends errors in the format of RFC 6749; server errors keep their status. */
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
  if (problem.code === "rate_limited")
    return sendJson(reply.headers(problem.headers), 429, {
      error: "slow_down",
      error_description: problem.message,
    });
  if (problem.code === "method_not_allowed") return sendProblem(request, reply, problem);
  if (problem.code === "internal" || problem.code === "unavailable") {
    request.log.error({ err: error }, problem.code);
    return sendProblem(request, reply, problem);
  }
  const status = problem.code === "unsupported_encoding" ? 415 : 400;
  return sendJson(reply, status, { error: "invalid_request", error_description: problem.message });
}
