import type { Problem } from "./generated/types.gen.ts";

/** An error response of the server. */
export class ParleyError extends Error {
  override readonly name: string = "ParleyError";
  /** HTTP status. */
  readonly status: number;
  /** Machine-readable code, such as `not_found`; null if the response was not Parley's, but for example a proxy's. */
  readonly code: Problem["error"] | null;
  /** Every invalid value of the request. */
  readonly violations: NonNullable<Problem["violations"]>;
  /** Identifies the request in the server's log. */
  readonly requestId: string | null;
  /** Milliseconds after which the server asks for the next try; null if it didn't say. */
  readonly retryAfterMs: number | null;

  constructor(status: number, body: unknown, retryAfterMs: number | null = null) {
    const problem = isProblem(body) ? body : null;
    const violations = problem?.violations ?? [];
    super(
      problem === null
        ? `the server returned ${status}`
        : [problem.detail, ...violations.map(({ pointer, detail }) => `${pointer} ${detail}`.trim())].join(
            "\n",
          ),
    );
    this.status = status;
    this.code = problem?.error ?? null;
    this.violations = violations;
    this.requestId = problem?.request_id ?? null;
    this.retryAfterMs = retryAfterMs;
  }
}

/** An upload whose status became `failure`, or whose URL has expired. The message is the reason. */
export class UploadFailedError extends Error {
  override readonly name = "UploadFailedError";
  readonly uploadId: string;

  constructor(uploadId: string, reason: string) {
    super(reason);
    this.uploadId = uploadId;
  }
}

function isProblem(body: unknown): body is Problem {
  return typeof body === "object" && body !== null && "error" in body && "detail" in body;
}
