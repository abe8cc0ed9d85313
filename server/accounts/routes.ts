import { tokenInfo } from "../../contract/token-info.ts";
import { ProblemError } from "../http/problem.ts";
import { type Api, route } from "../http/route.ts";

/** What the token in use is. */
export function accountRoutes(api: Api): void {
  route(api, tokenInfo, async ({ principal }) => {
    const { tokenType } = principal;
    if (tokenType === "session")
      throw new ProblemError("forbidden", "this request was made by a signed-in person and carries no token");
    return {
      type: tokenType,
      scope: principal.scope,
      ...(principal.scope === "personal"
        ? { user_id: principal.userId }
        : { workspace_id: principal.workspaceId }),
      name: principal.name,
      expires_at: principal.expiresAt?.toISOString() ?? null,
    };
  });
}
