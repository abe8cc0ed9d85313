import { z } from "zod";
import { Success, Timestamp, Uuid } from "./common.ts";
import { operation } from "./operation.ts";

export const Role = z
  .enum(["admin", "member", "viewer"])
  .meta({ description: "Viewers see and change nothing; admins also decide about people, tokens and apps." });

export const PersonName = z.string().trim().min(1, "must not be blank").max(200);

/** How a person showed who they are. */
const SignInMethod = z.enum(["password", "single_sign_on", "link"]);

/** Who is signed in, and how. */
export const Me = z
  .strictObject({
    user: z.strictObject({ id: Uuid, name: z.string(), email: z.string(), role: Role }),
    workspace: z.strictObject({ id: Uuid, name: z.string() }),
    session: z
      .strictObject({ id: Uuid, method: SignInMethod, expires_at: Timestamp })
      .nullable()
      .meta({ description: "Null when a personal access token was sent instead." }),
    has_password: z.boolean(),
    identities: z
      .array(z.strictObject({ issuer: z.string(), bound_datetime: Timestamp }))
      .meta({ description: "Accounts at providers of single sign-on by which this person signs in." }),
  })
  .meta({ id: "Me" });

export const Session = z
  .strictObject({
    id: Uuid,
    current: z.boolean().meta({ description: "Whether it is the one that asks." }),
    method: SignInMethod,
    ip: z.string(),
    user_agent: z.string(),
    created_datetime: Timestamp,
    last_used_datetime: Timestamp,
    expires_at: Timestamp,
  })
  .meta({ id: "Session" });

const bodyErrors = ["invalid_json", "invalid_input", "body_too_large"] as const;

export const signInWithPassword = operation({
  id: "signInWithPassword",
  tag: "Sign-in",
  gate: "every_version",
  permission: "anyone",
  method: "POST",
  path: "/_/api/v1/session",
  summary: "Sign In",
  description:
    "Signs a person in with email and password; the answer sets the session's cookie. The answer to a wrong password and to an unknown email is the same. Attempts are slowed down: 429 with `Retry-After`.",
  body: z.object({ email: z.string().min(1).max(320), password: z.string().min(1).max(4000) }),
  response: Me,
  errors: [...bodyErrors, "sign_in_refused", "rate_limited", "forbidden"],
});

export const getMe = operation({
  id: "getMe",
  tag: "Sign-in",
  gate: "every_version",
  permission: "account",
  method: "GET",
  path: "/_/api/v1/session/me",
  summary: "Get Me",
  description: "Who is signed in, in which workspace, and how.",
  response: Me,
  errors: ["forbidden"],
});

export const signOut = operation({
  id: "signOut",
  tag: "Sign-in",
  gate: "every_version",
  permission: "account",
  method: "DELETE",
  path: "/_/api/v1/session",
  summary: "Sign Out",
  description: "Ends the session that asks and takes its cookie away.",
  response: Success,
  errors: ["forbidden"],
});

export const listSessions = operation({
  id: "listSessions",
  tag: "Sign-in",
  gate: "every_version",
  permission: "account",
  method: "GET",
  path: "/_/api/v1/sessions",
  summary: "List Sessions",
  description: "Where the caller is signed in, the last used first.",
  response: z.strictObject({ sessions: z.array(Session) }),
  errors: ["forbidden"],
});

export const endSession = operation({
  id: "endSession",
  tag: "Sign-in",
  gate: "every_version",
  permission: "account",
  method: "DELETE",
  path: "/_/api/v1/sessions/:session_id",
  summary: "End Session",
  description: "Signs the caller out somewhere else.",
  params: z.object({ session_id: Uuid }),
  response: Success,
  errors: ["forbidden", "not_found"],
});

export const endSessions = operation({
  id: "endSessions",
  tag: "Sign-in",
  gate: "every_version",
  permission: "account",
  method: "DELETE",
  path: "/_/api/v1/sessions",
  summary: "Sign Out Everywhere",
  description: "Ends all sessions of the caller, also the one that asks.",
  response: z.strictObject({ ended: z.int().min(0) }),
  errors: ["forbidden"],
});

export const changePassword = operation({
  id: "changePassword",
  tag: "Sign-in",
  gate: "every_version",
  permission: "account",
  method: "POST",
  path: "/_/api/v1/me/password",
  summary: "Change Password",
  description:
    "Takes another password for the caller, who has to know the present one. All other sessions end. Attempts are slowed down: 429 with `Retry-After`.",
  body: z.object({ current_password: z.string().min(1).max(4000), new_password: z.string().max(4000) }),
  response: Success,
  errors: [...bodyErrors, "forbidden", "wrong_state", "rate_limited"],
});

export const updateMe = operation({
  id: "updateMe",
  tag: "Sign-in",
  gate: "every_version",
  permission: "account",
  method: "PATCH",
  path: "/_/api/v1/me",
  summary: "Update Me",
  description: "Changes the caller's own name.",
  body: z.object({ name: PersonName.optional() }),
  response: Me,
  errors: [...bodyErrors, "forbidden"],
});

export const unbindMySingleSignOn = operation({
  id: "unbindMySingleSignOn",
  tag: "Sign-in",
  gate: "every_version",
  permission: "account",
  method: "DELETE",
  path: "/_/api/v1/me/single-sign-on",
  summary: "Unbind My Single Sign-On",
  description:
    "Forgets which accounts of single sign-on the caller has. 409 for who has no password: there would be no way in. The next sign-in by single sign-on binds again, by verified email.",
  response: Me,
  errors: ["forbidden", "wrong_state"],
});
