import { z } from "zod";
import { Cause } from "./causes/causes.ts";

/**
 * Every error the API can return: code, HTTP status and public title. Codes are never reused. A test keeps
 * `docs/errors.md` equal to this table.
 */
export const errorCatalogue = {
  version_missing: { status: 400, title: "The Public-Api-Version header is missing" },
  version_unknown: { status: 400, title: "The Public-Api-Version header is not a known version" },
  version_retired: { status: 410, title: "This API version is retired" },
  token_missing: { status: 401, title: "An access token is required" },
  token_invalid: { status: 401, title: "The access token is not valid" },
  sign_in_refused: { status: 401, title: "Incorrect email or password" },
  second_factor_required: { status: 401, title: "A second factor is required" },
  second_factor_setup_required: { status: 403, title: "Set up a second factor first" },
  refused_by_rule: { status: 403, title: "A security rule of the workspace refuses this" },
  proof_required: { status: 403, title: "Sign in again to do this" },
  password_required: { status: 401, title: "The link requires a password" },
  password_wrong: { status: 401, title: "Incorrect password" },
  rate_limited: { status: 429, title: "Too many requests" },
  bad_request: { status: 400, title: "The request is malformed" },
  invalid_json: { status: 400, title: "The body is not valid JSON" },
  invalid_input: { status: 400, title: "The input is not valid" },
  invalid_cursor: { status: 400, title: "The cursor is not valid" },
  cursor_expired: { status: 410, title: "The cursor has expired" },
  hook_unreachable: { status: 400, title: "The hook URL did not accept the test request" },
  forbidden: { status: 403, title: "Not allowed" },
  quota_exceeded: { status: 403, title: "Quota exceeded" },
  not_found: { status: 404, title: "Not found" },
  not_in_version: { status: 404, title: "Not found in this API version" },
  method_not_allowed: { status: 405, title: "Method not allowed" },
  link_invalid: { status: 403, title: "The link is not valid" },
  link_expired: { status: 403, title: "The link has expired" },
  wrong_state: { status: 409, title: "Not possible in the current state" },
  already_uploaded: { status: 412, title: "The file was already uploaded" },
  precondition_failed: { status: 412, title: "The file does not match the request's precondition" },
  precondition_required: { status: 428, title: "A required header is missing" },
  range_not_satisfiable: { status: 416, title: "The range is outside the file" },
  body_too_large: { status: 413, title: "The body is too large" },
  unsupported_encoding: { status: 415, title: "The body's Content-Encoding is not supported" },
  misdirected_request: { status: 421, title: "The server is not set up for this host" },
  uri_too_long: { status: 414, title: "The URL is too long" },
  headers_too_large: { status: 431, title: "The request headers are too large" },
  request_timeout: { status: 408, title: "The request did not arrive in time" },
  internal: { status: 500, title: "Something went wrong on the server" },
  unavailable: { status: 503, title: "Temporarily unavailable" },
} as const satisfies Record<string, { status: number; title: string }>;

export type ErrorCode = keyof typeof errorCatalogue;

/** One invalid value in the request body: its RFC 6901 JSON pointer and the rule it breaks. */
export interface Violation {
  readonly pointer: string;
  readonly detail: string;
  readonly cause?: Cause | undefined;
}

/** What a user can prove themselves with beside the password. */
export const secondFactorMethods = ["totp", "recovery_code"] as const;
export type SecondFactorMethod = (typeof secondFactorMethods)[number];

/** The body of every error response. Source: RFC 9457 (Problem Details for HTTP APIs). */
export const Problem = z
  .strictObject({
    type: z.string().meta({ description: "Link to the description of this kind of error." }),
    title: z.string().meta({ description: "What kind of error this is; the same for every occurrence." }),
    status: z.int().meta({ description: "The HTTP status of the response." }),
    detail: z.string().meta({ description: "What went wrong this time and what to do about it." }),
    message: z
      .string()
      .meta({ description: "The same as `detail`, for clients that show this field of an error." }),
    error: z
      .enum(Object.keys(errorCatalogue) as [ErrorCode, ...ErrorCode[]])
      .meta({ description: "Machine-readable code; never changes its meaning." }),
    request_id: z.string().meta({ description: "Identifies this request in the server's log." }),
    cause: Cause.optional().meta({ description: "Why exactly, where `error` says too little." }),
    violations: z
      .array(
        z.strictObject({
          pointer: z
            .string()
            .meta({ description: "JSON pointer (RFC 6901) to the invalid value in the body." }),
          detail: z.string().meta({ description: "The rule that the value breaks." }),
          cause: Cause.optional().meta({ description: "The same for clients with texts of their own." }),
        }),
      )
      .optional()
      .meta({ description: "Every invalid value in the input." }),
    methods: z
      .array(z.enum(secondFactorMethods))
      .optional()
      .meta({ description: "For `second_factor_required`: what the account accepts as `code`." }),
    transcript_version: z.int().optional().meta({
      description: "For `wrong_state` of a transcript edit: the transcript's current version.",
    }),
  })
  .meta({ id: "Problem", description: "An error, as RFC 9457 defines it." });
