/** How a caller showed who they are. `session` is a person signed in with a browser. */
export type Credential = "oauth" | "personal_access_token" | "workspace_access_token" | "session";

/** Viewers see and change nothing; admins also decide about people, tokens and apps. */
export const roles = ["admin", "member", "viewer"] as const;
export type Role = (typeof roles)[number];

/** Who is calling, as the token or the session says. */
export interface Principal {
  /** Id of the token, or of the session. */
  readonly tokenId: string;
  /** What the rate limit counts instead of the token: all OAuth tokens of one code are one. Left out: the token. */
  readonly countedAs?: string;
  readonly tokenType: Credential;
  readonly scope: "personal" | "workspace";
  readonly workspaceId: string;
  /** Whose token it is; for a workspace token the user who issued it. */
  readonly userId: string;
  readonly role: Role;
  /** Lower-case email of the user. */
  readonly emailKey: string;
  /** Name of the user, or of the workspace for a workspace token. */
  readonly name: string;
  readonly expiresAt: Date | null;
  /** Ids under which recording_grants lists what this token may see. */
  readonly sees: readonly string[];
}
