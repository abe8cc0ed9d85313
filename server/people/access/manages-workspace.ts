import type { Principal } from "../../platform/auth/principal.ts";

/**
 * Whether the principal manages webhooks, deliveries and calendars that belong to the workspace and not to a user: an admin
 * does, but not an app the admin authorized.
 */
export function managesWorkspace({ scope, role, tokenType }: Principal): boolean {
  return scope === "workspace" || (role === "admin" && tokenType !== "oauth");
}
