import type { z } from "zod";
import type { ErrorCode } from "./errors.ts";
import type { Permission } from "./permissions.ts";
import type { Gate } from "./versions.ts";

/** A response that is not JSON. */
export interface TextResponse {
  readonly contentType: string;
  readonly description: string;
}

/** A redirect. */
export interface RedirectResponse {
  readonly redirect: string;
}

export type OperationResponse = z.ZodType | TextResponse | RedirectResponse;

/**
 * One operation of the API as data. Routes, validation, the OpenAPI documents and the coverage list are generated from
 * it. `errors` lists the errors it can return besides `commonErrors`.
 */
export interface Operation {
  readonly id: string;
  readonly tag: string;
  /** The versions that have this operation. */
  readonly gate: Gate;
  /** Who may call it; see `permissions`. */
  readonly permission: Permission;
  /**
   * Whether the caller must have proven who they are in the last 15 minutes. `if_session`: a session must be that young;
   * tokens prove themselves with each request. `required`: only such a session may call it.
   */
  readonly proof?: "if_session" | "required";
  /**
   * Whether a session may call it whose user has yet to set up the second factor that the workspace requires. All other
   * operations are refused to it.
   */
  readonly setsUpAccount?: true;
  /** Streams without an end of their own. They are no use of the session, and end with it. */
  readonly isOpenEnded?: true;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path below the base URL; `:name` marks a parameter. */
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly params?: z.ZodObject;
  readonly body?: z.ZodObject;
  /** Query string parameters; every value is a string. */
  readonly query?: z.ZodObject;
  readonly response: OperationResponse;
  /** Headers that only this operation's successful response can have, by name. */
  readonly responseHeaders?: Readonly<
    Record<string, { readonly description: string; readonly example: string }>
  >;
  readonly errors: readonly ErrorCode[];
}

/** Checks an operation's shape and keeps its exact schema types. */
export function operation<const O extends Operation>(definition: O): O {
  return definition;
}

/** Whether an operation belongs to the unversioned management API, which is everything beyond the contract. */
export function isManagement(operation: Pick<Operation, "path">): boolean {
  return operation.path.startsWith("/_/api/");
}

/** Errors that every versioned operation can return. */
export const commonErrors: readonly ErrorCode[] = [
  "version_missing",
  "version_unknown",
  "version_retired",
  "token_missing",
  "token_invalid",
  "second_factor_setup_required",
  "refused_by_rule",
  "rate_limited",
  "bad_request",
  "misdirected_request",
  "internal",
  "unavailable",
];

export function isTextResponse(response: OperationResponse): response is TextResponse {
  return "contentType" in response;
}

export function isRedirectResponse(response: OperationResponse): response is RedirectResponse {
  return "redirect" in response;
}
