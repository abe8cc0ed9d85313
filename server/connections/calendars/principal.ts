import type { Principal } from "../../platform/auth/principal.ts";
import { ProblemError } from "../../platform/http/errors/problem.ts";

/** @throws ProblemError `forbidden` for workspace tokens, which have no meetings. */
export function requireUser(principal: Principal): void {
  if (principal.scope === "workspace")
    throw new ProblemError(
      "forbidden",
      "meetings belong to a user and this is a workspace token; use a personal token",
    );
}
