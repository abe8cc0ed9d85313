import { tokenInfo } from "../../contract/token-info.ts";
import { type Api, route } from "../http/route.ts";

/** What the token in use is. */
export function accountRoutes(api: Api): void {
  route(api, tokenInfo, async ({ principal }) => ({
    type: principal.tokenType,
    scope: principal.scope,
    ...(principal.scope === "personal"
      ? { user_id: principal.userId }
      : { workspace_id: principal.workspaceId }),
    name: principal.name,
    expires_at: principal.expiresAt?.toISOString() ?? null,
  }));
}
