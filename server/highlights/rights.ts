import { ProblemError } from "../http/problem.ts";

/** What a caller reads who may not know whether the highlight exists. */
export function highlightNotFound(highlightId: string): ProblemError {
  return new ProblemError("not_found", `there is no highlight ${highlightId} that this token can see`);
}
