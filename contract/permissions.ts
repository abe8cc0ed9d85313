/**
 * Which callers may call an operation at all. Access to single recordings, uploads and hooks is checked by the operation.
 *
 * - `anyone`: no authentication, such as to sign in.
 * - `read`: every active token or session.
 * - `write`: everyone but viewers, who are read-only.
 * - `manage`: workspace settings about recordings: admins and workspace tokens.
 * - `account`: the caller's own account: a session or a personal access token. An OAuth app acts for a user but can't
 *   manage their account, and a workspace token has no account.
 * - `admin`: the workspace's users, tokens, apps and audit log: admins with a session or a personal access token.
 */
const permissions = ["anyone", "read", "write", "manage", "account", "admin"] as const;

export type Permission = (typeof permissions)[number];
