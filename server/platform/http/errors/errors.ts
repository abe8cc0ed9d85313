import type { IncomingMessage } from "node:http";
import type { FastifyBaseLogger, FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { because } from "../../../../contract/causes/causes.ts";
import { isConnectionError } from "../../db/connection-errors.ts";
import { StoreError } from "../../storage/store.ts";
import { ProblemError, sendProblem } from "./problem.ts";

/** The framework's client errors and the problem each becomes. */
const frameworkProblems: Readonly<Record<string, () => ProblemError>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: () =>
    new ProblemError("body_too_large", "the body is larger than this operation accepts"),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    new ProblemError("bad_request", "the length of the body differs from the Content-Length header"),
  FST_ERR_BAD_URL: () => new ProblemError("bad_request", "the URL has invalid percent-encoding"),
  FST_ERR_MAX_PARAM_LENGTH: () => new ProblemError("uri_too_long", "part of the URL is too long"),
};

/** Converts any error into the problem the client sees. */
export function toProblem(error: unknown): ProblemError {
  if (error instanceof ProblemError) return error;
  const code = (error as Partial<FastifyError>)?.code;
  const known = code === undefined ? undefined : frameworkProblems[code];
  if (known) return known();
  const status = (error as Partial<FastifyError>)?.statusCode;
  if (status === 413)
    return new ProblemError("body_too_large", "the body is larger than this operation accepts");
  if (status !== undefined && status >= 400 && status < 500)
    return new ProblemError("bad_request", "the request could not be read");
  if (isOutOfRoom(error)) {
    return new ProblemError("unavailable", because("server_full"), {
      headers: { "retry-after": "30" },
    });
  }
  if (isBusy(error)) {
    return new ProblemError("unavailable", because("server_busy"), {
      headers: { "retry-after": "2" },
    });
  }
  if (error instanceof StoreError && error.isPassing) {
    return new ProblemError("unavailable", because("store_unreachable"), {
      headers: { "retry-after": "5" },
    });
  }
  if (isConnectionError(error)) {
    return new ProblemError("unavailable", because("database_unreachable"), {
      headers: { "retry-after": "2" },
    });
  }
  return new ProblemError(
    "internal",
    "the request failed; the server's log has the details under this request_id",
  );
}

/** The server's or PostgreSQL's disk or memory is full; an operator must free space. */
function isOutOfRoom(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return code === "53100" || code === "53200" || code === "ENOSPC" || code === "EDQUOT";
}

/** Deadlocks, cancelled statements and an exhausted connection pool: retrying helps. */
function isBusy(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown };
  return (
    code === "40P01" || code === "57014" || /timeout exceeded when trying to connect/.test(String(message))
  );
}

/** How often an outage is logged, however many requests fail. */
const outageLogMs = 60_000;

/**
 * Logs failures that many requests have in common, such as a database that can't be reached: the first with its stack, and
 * how many followed when the interval ends.
 */
export function createOutageLog(
  intervalMs = outageLogMs,
): (log: Pick<FastifyBaseLogger, "error">, outage: string, error: unknown) => void {
  const followers = new Map<string, number>();
  return (log, outage, error) => {
    const count = followers.get(outage);
    if (count !== undefined) {
      followers.set(outage, count + 1);
      return;
    }
    log.error({ err: error }, `unavailable: ${outage}`);
    followers.set(outage, 0);
    setTimeout(() => {
      const requests = followers.get(outage) ?? 0;
      followers.delete(outage);
      if (requests > 0)
        log.error({ requests, seconds: intervalMs / 1000 }, `unavailable: ${outage}; more requests failed`);
    }, intervalMs).unref();
  };
}

/** Sends every error as a problem document, and logs unexpected ones in full. */
export function handleErrors(app: FastifyInstance): void {
  const logOutage = createOutageLog();
  app.setErrorHandler(async (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
    const problem = toProblem(error);
    if (problem.code === "body_too_large") await discardBody(request.raw);
    if (problem.code === "internal") request.log.error({ err: error }, problem.code);
    if (problem.code === "unavailable") logOutage(request.log, problem.message, error);
    return sendProblem(request, reply, problem);
  });
}

/** How long the rest of a refused body is read, so that the client gets the response. */
const discardMs = 5000;

/**
 * Reads and discards the rest of a body. Closing the connection while the client still sends would reset it, and the
 * response would be lost.
 */
export async function discardBody(request: IncomingMessage): Promise<void> {
  if (request.complete || request.destroyed) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, discardMs);
  request.once("end", resolve).once("close", resolve).resume();
  await promise;
  clearTimeout(timer);
}
