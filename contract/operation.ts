import type { z } from "zod";
import type { ErrorCode } from "./errors.ts";
import type { Permission } from "./permissions.ts";
import type { Gate } from "./versions.ts";

/** A response that is not JSON: its content type and what it holds. */
export interface TextResponse {
  readonly contentType: string;
  readonly description: string;
}

/** A response that sends the client elsewhere. */
export interface RedirectResponse {
  readonly redirect: string;
}

export type OperationResponse = z.ZodType | TextResponse | RedirectResponse;

/**
 * One operation of the API as data: routes, validation, the OpenAPI documents and the coverage list are
 * made from it. `errors` names what this operation can answer besides the errors every operation has
 * (see `commonErrors`).
 */
export interface Operation {
  readonly id: string;
  readonly tag: string;
  /** In which versions the operation exists. */
  readonly gate: Gate;
  /** Who may call it at all. */
  readonly permission: Permission;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path below the base address; `:name` marks a parameter. */
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly params?: z.ZodObject;
  readonly body?: z.ZodObject;
  /** What may stand in the address after the question mark; every value is a text. */
  readonly query?: z.ZodObject;
  readonly response: OperationResponse;
  readonly errors: readonly ErrorCode[];
}

/** Keeps the exact schema types of an operation while checking its shape. */
export function operation<const O extends Operation>(definition: O): O {
  return definition;
}

/** Whether an operation belongs to the management API: everything beyond the contract, without versions. */
export function isManagement(operation: Pick<Operation, "path">): boolean {
  return operation.path.startsWith("/_/api/");
}

/** Errors that every versioned operation can answer. */
export const commonErrors: readonly ErrorCode[] = [
  "version_missing",
  "version_unknown",
  "version_retired",
  "token_missing",
  "token_invalid",
  "rate_limited",
  "bad_request",
  "internal",
  "unavailable",
];

export function isTextResponse(response: OperationResponse): response is TextResponse {
  return "contentType" in response;
}

export function isRedirectResponse(response: OperationResponse): response is RedirectResponse {
  return "redirect" in response;
}
