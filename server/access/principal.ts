/** Who is calling, as the token says. */
export interface Principal {
  readonly tokenId: string;
  readonly tokenType: "personal_access_token" | "workspace_access_token";
  readonly scope: "personal" | "workspace";
  readonly workspaceId: string;
  /** Whose token it is; for a workspace token the user who issued it. */
  readonly userId: string;
  readonly role: "admin" | "member";
  /** Lower-case email of the user. */
  readonly emailKey: string;
  /** Name of the user, or of the workspace for a workspace token. */
  readonly name: string;
  readonly expiresAt: Date | null;
  /** Ids under which recording_grants lists what this token may see. */
  readonly sees: readonly string[];
}
