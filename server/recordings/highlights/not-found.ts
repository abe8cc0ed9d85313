import { ProblemError } from "../../platform/http/errors/problem.ts";

/** The error for a caller who must not learn whether the highlight exists. */
export function highlightNotFound(highlightId: string): ProblemError {
  return new ProblemError("not_found", `there is no highlight ${highlightId} that this token can see`);
}
