import type { Compatibility, DatetimeFilters } from "../../../contract/common.ts";
/** How a caller authenticated. `session` is a signed-in browser. */
export type Credential = "oauth" | "personal_access_token" | "workspace_access_token" | "session";

/** From the highest to the lowest. Viewers only read; admins also manage users, tokens and apps. */
export const roles = ["admin", "member", "viewer"] as const;
export type Role = (typeof roles)[number];

/** The authenticated caller. */
export interface Principal {
  /** Id of the token, or of the session. */
  readonly tokenId: string;
  /** What the rate limit counts by: all OAuth tokens of one code together. Left out: the token. */
  readonly countedAs?: string;
  readonly tokenType: Credential;
  readonly scope: "personal" | "workspace";
  readonly workspaceId: string;
  /** The token's user; for a workspace token the user who issued it. */
  readonly userId: string;
  readonly role: Role;
  /** The language that the user has chosen; null or left out: the browser's. */
  readonly language?: string | null;
  /** Lower-case email of the user. */
  readonly emailKey: string;
  /** Name of the user, or of the workspace for a workspace token. */
  readonly name: string;
  readonly expiresAt: Date | null;
  /** When a session proved who its user is; left out for tokens, which prove it with each request. */
  readonly provenAt?: Date;
  /** Whether a session may do nothing else until its user has set up a second factor. */
  readonly mustSetUpSecondFactor?: boolean;
  /** How date filters are read. Left out: as the setting PARLEY_DATETIME_FILTERS says. */
  readonly datetimeFilters?: DatetimeFilters;
  /** Names of the original service that are also used. Left out: as the setting PARLEY_COMPAT says. */
  readonly compatibility?: Compatibility;
  /** Ids under which recording_grants lists what this token may see. */
  readonly sees: readonly string[];
}
