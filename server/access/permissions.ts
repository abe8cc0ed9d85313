import type { Permission } from "../../contract/permissions.ts";
import type { Principal } from "./principal.ts";

type Caller = Pick<Principal, "role" | "scope" | "tokenType">;

/** Why this caller may not use an operation with this permission, in words; null when they may. */
export function refusal(permission: Permission, caller: Caller): string | null {
  // There may be no caller at all.
  if (permission === "anyone") return null;
  const isWorkspaceToken = caller.scope === "workspace";
  switch (permission) {
    case "read":
      return null;
    case "write":
      return isWorkspaceToken || caller.role !== "viewer"
        ? null
        : "viewers see recordings and change nothing; an admin can give you another role";
    case "manage":
      return isWorkspaceToken || caller.role === "admin"
        ? null
        : "only admins and workspace tokens may do this";
    case "account":
      return mayUseAccount(caller)
        ? null
        : "this is about a person's own account: sign in, or use a personal access token";
    case "admin":
      return mayUseAccount(caller) && caller.role === "admin"
        ? null
        : "only admins may do this, signed in or with a personal access token";
  }
}

/** Apps let in by OAuth and workspace tokens act on recordings, never on accounts. */
function mayUseAccount(caller: Caller): boolean {
  return caller.tokenType === "session" || caller.tokenType === "personal_access_token";
}
