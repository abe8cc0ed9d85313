import type { FastifyReply, FastifyRequest } from "fastify";
import { errorCatalogue } from "../../../contract/errors.ts";
import { discardBody, toProblem } from "../../platform/http/errors/errors.ts";
import type { ProblemError } from "../../platform/http/errors/problem.ts";
import { AccountError, EmailUnavailableError } from "../accounts/service.ts";

/** What was wrong with a request. Source: RFC 7644, section 3.12. */
type ScimType =
  | "invalidFilter"
  | "uniqueness"
  | "mutability"
  | "invalidSyntax"
  | "invalidPath"
  | "noTarget"
  | "invalidValue";

/** An error in the format of RFC 7644 instead of the API's problem format. */
export class ScimError extends Error {
  readonly status: number;
  readonly scimType: ScimType | undefined;

  /** @param detail public; must not hold secrets. */
  constructor(status: number, detail: string, scimType?: ScimType) {
    super(detail);
    this.status = status;
    this.scimType = scimType;
  }
}

export function invalidValue(detail: string): ScimError {
  return new ScimError(400, detail, "invalidValue");
}

/** Sends a resource, list or error. Source: RFC 7644, section 8.1. */
export function sendScim(reply: FastifyReply, status: number, body: object): FastifyReply {
  return reply.code(status).type("application/scim+json; charset=utf-8").send(JSON.stringify(body));
}

/** Sends errors in the format of RFC 7644, section 3.12. */
export async function handleScimError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  if (error instanceof ScimError) return sendError(reply, error.status, error.message, error.scimType);
  if (error instanceof EmailUnavailableError) return sendError(reply, 409, error.publicMessage, "uniqueness");
  if (error instanceof AccountError) return sendError(reply, 400, error.message, "invalidValue");
  // A concurrent request took the email or name.
  if ((error as { code?: unknown }).code === "23505")
    return sendError(reply, 409, "the name was just taken; read the list again", "uniqueness");
  const problem = toProblem(error);
  if (problem.code === "body_too_large") await discardBody(request.raw);
  if (problem.code === "internal" || problem.code === "unavailable")
    request.log.error({ err: error }, problem.code);
  const { status } = errorCatalogue[problem.code];
  return sendError(reply.headers(problem.headers), status, problem.message, typeOf(problem));
}

function typeOf({ code }: ProblemError): ScimType | undefined {
  if (code === "invalid_input") return "invalidValue";
  return code === "invalid_json" || code === "bad_request" ? "invalidSyntax" : undefined;
}

function sendError(reply: FastifyReply, status: number, detail: string, scimType?: ScimType): FastifyReply {
  return sendScim(reply, status, {
    schemas: ["urn:ietf:params:scim:api:messages:2.0:Error"],
    status: String(status),
    ...(scimType === undefined ? {} : { scimType }),
    detail,
  });
}
