import { z } from "zod";
import { PersonName, Role } from "./account-sessions.ts";
import { Success, Timestamp, Uuid } from "./common.ts";
import { operation } from "./operation.ts";

const UserParams = z.object({ user_id: Uuid });

export const Person = z
  .strictObject({
    id: Uuid,
    name: z.string(),
    email: z.string(),
    role: Role,
    state: z.enum(["active", "invited", "deactivated"]),
    team_ids: z.array(Uuid),
    single_sign_on: z.boolean().meta({ description: "Whether the account is bound to single sign-on." }),
    has_password: z.boolean(),
    last_signed_in_datetime: Timestamp.nullable(),
    created_datetime: Timestamp,
  })
  .meta({ id: "Person" });

const Link = {
  url: z.string().meta({ description: "The one-time link; shown now and never again." }),
  expires_at: Timestamp,
  mailed: z.boolean().meta({ description: "Whether it is on its way by mail as well." }),
};

const bodyErrors = ["invalid_json", "invalid_input", "body_too_large"] as const;
const base = { tag: "People", gate: "every_version", permission: "admin" } as const;

export const listPeople = operation({
  ...base,
  id: "listPeople",
  method: "GET",
  path: "/_/api/v1/users",
  summary: "List People",
  description: "Everybody who has or had an account in the workspace, by name.",
  response: z.strictObject({ users: z.array(Person) }),
  errors: ["forbidden"],
});

export const inviteUser = operation({
  ...base,
  id: "inviteUser",
  method: "POST",
  path: "/_/api/v1/users",
  summary: "Invite User",
  description:
    "Makes an account and a one-time link, good for seven days, by which the person chooses a password. Where SMTP is set up, the link is mailed as well.",
  body: z.object({
    email: z.string().trim().min(3).max(320),
    name: PersonName,
    role: Role.optional().meta({ description: "Default: member." }),
    team_ids: z.array(Uuid).max(100).optional(),
  }),
  response: z.strictObject({ user: Person, invitation: z.strictObject(Link) }),
  errors: [...bodyErrors, "forbidden", "wrong_state"],
});

export const renewInvitation = operation({
  ...base,
  id: "renewInvitation",
  method: "POST",
  path: "/_/api/v1/users/:user_id/invitation",
  summary: "Renew Invitation",
  description: "Makes a new link for somebody who has not accepted yet; the earlier one is good no longer.",
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
    "Changes name or role. The last active admin stays one. When an admin becomes something else, the workspace tokens they issued are revoked.",
  params: UserParams,
  body: z.object({ name: PersonName.optional(), role: Role.optional() }),
  response: z.strictObject({
    user: Person,
    revoked_tokens: z.int().min(0).meta({ description: "Workspace tokens revoked by this change." }),
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
    "Ends the person's sessions, tokens, access of apps and the workspace tokens they issued, all at once. Their hooks fall silent. Recordings stay.",
  params: UserParams,
  response: z.strictObject({
    user: Person,
    ended_sessions: z.int().min(0),
    revoked_tokens: z.int().min(0),
  }),
  errors: ["forbidden", "not_found", "wrong_state"],
});

export const reactivateUser = operation({
  ...base,
  id: "reactivateUser",
  method: "POST",
  path: "/_/api/v1/users/:user_id/reactivate",
  summary: "Reactivate User",
  description: "Lets a person in again, with the same password. Sessions and tokens stay ended.",
  params: UserParams,
  response: Person,
  errors: ["forbidden", "not_found"],
});

export const createPasswordResetLink = operation({
  ...base,
  id: "createPasswordResetLink",
  method: "POST",
  path: "/_/api/v1/users/:user_id/password-reset-link",
  summary: "Create Password Reset Link",
  description:
    "Makes a one-time link, good for a day, by which the person chooses a new password. When it is used, all sessions of the person end. With a token not for the account that the token belongs to.",
  params: UserParams,
  response: z.strictObject(Link),
  errors: ["forbidden", "not_found", "wrong_state"],
});

export const unbindSingleSignOn = operation({
  ...base,
  id: "unbindSingleSignOn",
  method: "DELETE",
  path: "/_/api/v1/users/:user_id/single-sign-on",
  summary: "Unbind Single Sign-On",
  description:
    "Forgets which account of single sign-on a person has, such as after it was made anew there. The next sign-in binds it again, by verified email. 409 for one's own account without a password.",
  params: UserParams,
  response: Success,
  errors: ["forbidden", "not_found", "wrong_state"],
});
