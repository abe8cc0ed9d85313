import { tokenInfo } from "../../../contract/accounts/token-info.ts";
import { ProblemError } from "../../platform/http/errors/problem.ts";
import { type Api, route } from "../../platform/http/routing/route.ts";

/** Token info: describes the token in use. */
export function accountRoutes(api: Api): void {
  route(api, tokenInfo, async ({ principal }) => {
    const { tokenType } = principal;
    if (tokenType === "session")
      throw new ProblemError(
        "forbidden",
        "this request was made with a signed-in session; send an access token",
      );
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
