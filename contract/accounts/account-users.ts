import { z } from "zod";
import { Success, Timestamp, Uuid } from "../common.ts";
import { operation } from "../operation.ts";
import { Role, UserName } from "./account-sessions.ts";

const UserParams = z.object({ user_id: Uuid });

export const UserAccount = z
  .strictObject({
    id: Uuid,
    name: z.string(),
    email: z.string(),
    role: Role,
    state: z.enum(["active", "invited", "deactivated"]),
    team_ids: z.array(Uuid),
    single_sign_on: z
      .boolean()
      .meta({ description: "Whether the account is linked to a single sign-on identity." }),
    has_password: z.boolean(),
    has_second_factor: z.boolean(),
    has_passkeys: z.boolean(),
    can_reset_second_factor: z.boolean().meta({
      description:
        "Whether there is something that Reset Second Factor removes: an authenticator app, a passkey, or single sign-on that counts as the second factor.",
    }),
    last_signed_in_datetime: Timestamp.nullable(),
    created_datetime: Timestamp,
  })
  .meta({ id: "UserAccount" });

const Link = {
  url: z.string().meta({ description: "The one-time link. It is not shown again." }),
  expires_at: Timestamp,
  mailed: z.boolean().meta({ description: "Whether the link was also emailed." }),
};

const bodyErrors = ["invalid_json", "invalid_input", "body_too_large"] as const;
const base = { tag: "Users and teams", gate: "every_version", permission: "admin" } as const;

export const listUserAccounts = operation({
  ...base,
  id: "listUserAccounts",
  method: "GET",
  path: "/_/api/v1/users",
  summary: "List User Accounts",
  description: "Lists all current and former users of the workspace, by name.",
  response: z.strictObject({ users: z.array(UserAccount) }),
  errors: ["forbidden"],
});

export const inviteUser = operation({
  ...base,
  id: "inviteUser",
  method: "POST",
  path: "/_/api/v1/users",
  summary: "Invite User",
  description:
    "Creates an account and a one-time link to choose a password, valid for seven days. If SMTP is configured, the link is also emailed.",
  body: z.object({
    email: z.string().trim().min(3).max(320),
    name: UserName,
    role: Role.optional().meta({ description: "Default: member." }),
    team_ids: z.array(Uuid).max(100).optional(),
  }),
  response: z.strictObject({ user: UserAccount, invitation: z.strictObject(Link) }),
  errors: [...bodyErrors, "forbidden", "wrong_state"],
});

export const replaceInvitation = operation({
  ...base,
  id: "replaceInvitation",
  method: "POST",
  path: "/_/api/v1/users/:user_id/invitation",
  summary: "Replace Invitation",
  description:
    "Creates a new invitation link for a user who has not accepted yet. The earlier link stops working.",
  params: UserParams,
  response: z.strictObject(Link),
  errors: ["forbidden", "not_found", "wrong_state"],
});

export const updateUser = operation({
  ...base,
  id: "updateUser",
  method: "PATCH",
  path: "/_/api/v1/users/:user_id",
  summary: "Update User",
  description:
    "Changes a user's name or role. The last active admin can't be demoted. Demoting an admin revokes the workspace tokens they issued and disables their workspace hooks; making a user a viewer disables all their hooks.",
  params: UserParams,
  body: z.object({ name: UserName.optional(), role: Role.optional() }),
  response: z.strictObject({
    user: UserAccount,
    revoked_tokens: z.int().min(0).meta({ description: "Workspace tokens revoked by this change." }),
    disabled_hooks: z.int().min(0).meta({ description: "Hooks disabled by this change." }),
  }),
  errors: [...bodyErrors, "forbidden", "not_found", "wrong_state"],
});

export const deactivateUser = operation({
  ...base,
  id: "deactivateUser",
  method: "POST",
  path: "/_/api/v1/users/:user_id/deactivate",
  summary: "Deactivate User",
  description:
    "Ends the user's sessions and revokes their personal tokens, app access and the workspace tokens they issued, immediately. Disables their hooks and the workspace hooks created with those tokens; another admin can take over a workspace hook by enabling it. Their unfinished uploads fail. Recordings are kept.",
  params: UserParams,
  response: z.strictObject({
    user: UserAccount,
    ended_sessions: z.int().min(0),
    revoked_tokens: z.int().min(0),
    disabled_hooks: z.int().min(0),
    ended_uploads: z.int().min(0).meta({ description: "Unfinished uploads, which have failed." }),
  }),
  errors: ["forbidden", "not_found", "wrong_state"],
});

export const getUserAccess = operation({
  ...base,
  id: "getUserAccess",
  method: "GET",
  path: "/_/api/v1/users/:user_id/access",
  summary: "Get User Access",
  description: "Shows what Deactivate User would end: sessions, tokens, hooks and uploads.",
  params: UserParams,
  response: z.strictObject({
    sessions: z.int().min(0),
    tokens: z.int().min(0).meta({ description: "Personal tokens and workspace tokens the user issued." }),
    apps: z.int().min(0).meta({ description: "Apps the user has authorized." }),
    personal_hooks: z.int().min(0).meta({ description: "Enabled personal hooks." }),
    workspace_hooks: z.int().min(0).meta({ description: "Enabled workspace hooks that belong to the user." }),
    unfinished_uploads: z.int().min(0),
  }),
  errors: ["forbidden", "not_found"],
});

export const reactivateUser = operation({
  ...base,
  id: "reactivateUser",
  method: "POST",
  path: "/_/api/v1/users/:user_id/reactivate",
  summary: "Reactivate User",
  description:
    "Lets a deactivated user sign in again with the same password. Ended sessions and revoked tokens are not restored.",
  params: UserParams,
  response: UserAccount,
  errors: ["forbidden", "not_found"],
});

export const createPasswordResetLink = operation({
  ...base,
  id: "createPasswordResetLink",
  // Of one's own account too: an old session must not become a password.
  proof: "if_session",
  method: "POST",
  path: "/_/api/v1/users/:user_id/password-reset-link",
  summary: "Create Password Reset Link",
  description:
    "Creates a one-time link to choose a new password, valid for a day. Using it ends all the user's sessions. A token can't create one for its own user.",
  params: UserParams,
  response: z.strictObject(Link),
  errors: ["forbidden", "not_found", "wrong_state"],
});

export const unbindSingleSignOn = operation({
  ...base,
  id: "unbindSingleSignOn",
  proof: "if_session",
  method: "DELETE",
  path: "/_/api/v1/users/:user_id/single-sign-on",
  summary: "Unlink Single Sign-On",
  description:
    "Unlinks a user's single sign-on identity, for example after it was recreated at the provider. The next single sign-on links it again by verified email. Returns 409 for the caller's own account if it has no password.",
  params: UserParams,
  response: Success,
  errors: ["forbidden", "not_found", "wrong_state"],
});
