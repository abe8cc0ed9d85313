import type { Permission } from "../../../contract/permissions.ts";
import type { Principal } from "./principal.ts";

type Caller = Pick<Principal, "role" | "scope" | "tokenType">;

/** Why the caller lacks a permission, in words; null when they have it. */
export function refusal(permission: Permission, caller: Caller): string | null {
  // Public operations have no caller.
  if (permission === "anyone") return null;
  const isWorkspaceToken = caller.scope === "workspace";
  switch (permission) {
    case "read":
      return null;
    case "write":
      return isWorkspaceToken || caller.role !== "viewer"
        ? null
        : "viewers can't change anything; ask an admin for another role";
    case "manage":
      return isWorkspaceToken || caller.role === "admin"
        ? null
        : "only admins and workspace tokens can do this";
    case "account":
      return mayUseAccount(caller)
        ? null
        : "this concerns your own account; sign in or use a personal access token";
    case "admin":
      return mayUseAccount(caller) && caller.role === "admin"
        ? null
        : "only admins can do this, signed in or with a personal access token";
  }
}

/** OAuth apps and workspace tokens act on recordings, never on accounts. */
function mayUseAccount(caller: Caller): boolean {
  return caller.tokenType === "session" || caller.tokenType === "personal_access_token";
}
