import { ProblemError } from "../../platform/http/errors/problem.ts";

/** The same response whether the upload does not exist or the caller may not see it. */
export function uploadNotFound(uploadId: string): ProblemError {
  return new ProblemError("not_found", `there is no upload ${uploadId} that this token can see`);
}
