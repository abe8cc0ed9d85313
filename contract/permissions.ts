/**
 * Who may call an operation at all, before the question which recordings, uploads or hooks it may touch; that one is
 * answered by the operation itself.
 *
 * - `anyone`: also who is not signed in, such as to sign in.
 * - `read`: everybody with a good token or session.
 * - `write`: everybody but viewers, who see and change nothing.
 * - `manage`: settings of the workspace that concern recordings: admins and workspace tokens.
 * - `account`: one's own account: a signed-in person or a personal access token. An app that was let in by OAuth acts
 *   for a person, but never on the person's account, and a workspace token has no account.
 * - `admin`: people, tokens, apps and the audit log of the workspace: admins, with a session or a personal access
 *   token.
 */
export const permissions = ["anyone", "read", "write", "manage", "account", "admin"] as const;

export type Permission = (typeof permissions)[number];
