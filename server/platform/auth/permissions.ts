import type { Operation } from "../../../contract/operation.ts";
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

/** For how long a session counts as proof of who its user is, for operations that ask for one. */
const proofMs = 15 * 60_000;

/** Why the caller has not proven who they are as an operation asks, as error code and text; null when they have. */
export function proofRefusal(
  { proof }: Pick<Operation, "proof">,
  { tokenType, provenAt }: Pick<Principal, "tokenType" | "provenAt">,
): { readonly code: "forbidden" | "proof_required"; readonly detail: string } | null {
  if (proof === undefined || (proof === "if_session" && tokenType !== "session")) return null;
  if (tokenType !== "session")
    return { code: "forbidden", detail: "a token can't do this; sign in with a browser" };
  if (provenAt !== undefined && Date.now() - provenAt.getTime() <= proofMs) return null;
  return {
    code: "proof_required",
    detail: "you signed in more than 15 minutes ago; sign in again to do this",
  };
}

/** OAuth apps and workspace tokens act on recordings, never on accounts. */
function mayUseAccount(caller: Caller): boolean {
  return caller.tokenType === "session" || caller.tokenType === "personal_access_token";
}
