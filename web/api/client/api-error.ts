import { t } from "@lingui/core/macro";
import type { z } from "zod";
import type { Problem } from "../../../contract/errors.ts";
import { isRefusedByProxy } from "../../../shared/files/chunk-size.ts";
import { loadCauseTexts } from "./cause-texts.ts";

type ProblemBody = z.output<typeof Problem>;

/** An error whose message is in the language that the reader has when it is shown. */
export class ShownError extends Error {
  constructor(text: () => string) {
    super();
    Object.defineProperty(this, "message", { get: text });
  }
}

/** An unsuccessful response; the message is the app's own text for its cause. */
export class ApiError extends ShownError {
  readonly status: number;
  readonly code: ProblemBody["error"] | "unreachable";
  readonly violations: NonNullable<ProblemBody["violations"]>;
  /** The current version of a transcript, when an edit was refused because it named an older one. */
  readonly transcriptVersion: number | null;
  constructor(
    status: number,
    code: ApiError["code"],
    text: () => string,
    violations: ApiError["violations"] = [],
    transcriptVersion: number | null = null,
  ) {
    super(text);
    this.status = status;
    this.code = code;
    this.violations = violations;
    this.transcriptVersion = transcriptVersion;
  }
}

/** Whether the server could not be reached or failed: the same request may succeed later. */
export function isOutage(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status >= 500);
}

/** Whether the server did not accept the session. */
export function isSignedOut({ code }: ApiError): boolean {
  return code === "token_missing" || code === "token_invalid";
}

export const unreachable = (): ApiError =>
  new ApiError(0, "unreachable", () => t`The server can't be reached. Check your connection and try again.`);

/** A request that is larger than a proxy in front of the server accepts. */
export const refusedByProxy = (): ApiError =>
  new ApiError(
    413,
    "body_too_large",
    () =>
      t`A proxy in front of the server refuses requests of this size (status 413). The server's administrator can raise its limit, with client_max_body_size in nginx.`,
  );

/** The error of an unsuccessful response with this body. */
export async function readProblem(response: Response, text: string): Promise<ApiError> {
  const { status } = response;
  if (isRefusedByProxy(status, text)) return refusedByProxy();
  try {
    const problem = JSON.parse(text) as ProblemBody;
    const causes = await loadCauseTexts();
    return new ApiError(
      response.status,
      problem.error,
      () => causes?.problemTexts(problem).text ?? problem.detail,
      causes?.problemTexts(problem).violations ?? problem.violations ?? [],
      problem.transcript_version ?? null,
    );
  } catch {
    return new ApiError(response.status, "internal", () => t`Unexpected error (${status}).`);
  }
}
