import { z } from "zod";
import { knownLanguages } from "../../shared/languages.ts";
import { Success, Timestamp, Uuid } from "../common.ts";
import { secondFactorMethods } from "../errors.ts";
import { operation } from "../operation.ts";
import { TimeZone } from "../time-zone.ts";

export const Role = z
  .enum(["admin", "member", "viewer"])
  .meta({ description: "Viewers are read-only. Admins also manage users, tokens and apps." });

export const UserName = z.string().trim().min(1, "must not be blank").max(200);

/** How the session was started. */
const SignInMethod = z.enum(["password", "single_sign_on", "link", "passkey"]);

/** The signed-in user and their session. */
export const Me = z
  .strictObject({
    user: z.strictObject({
      id: Uuid,
      name: z.string(),
      email: z.string(),
      role: Role,
      language: z
        .string()
        .nullable()
        .meta({ description: "The language of the app and of emails. Null: the browser's." }),
      time_zone: z
        .string()
        .nullable()
        .meta({ description: "The time zone of times in emails. Null: the browser's." }),
      browser_time_zone: z
        .string()
        .nullable()
        .meta({ description: "Of the browser that the user last opened the app with. Null: not known." }),
    }),
    workspace: z.strictObject({ id: Uuid, name: z.string() }),
    session: z
      .strictObject({
        id: Uuid,
        method: SignInMethod,
        second_factor: z.enum(secondFactorMethods).nullable(),
        created_datetime: Timestamp,
        expires_at: Timestamp,
      })
      .nullable()
      .meta({ description: "Null if the request used a personal access token." }),
    has_password: z.boolean(),
    has_second_factor: z.boolean(),
    second_factor_due: z.strictObject({ datetime: Timestamp, is_over: z.boolean() }).nullable().meta({
      description:
        "Until when the user has to set up a second factor, because the workspace requires one. Once it is over, the session can do nothing else. Null: they have one, or need none.",
    }),
    has_calendars: z.boolean().meta({ description: "Whether the user has added a calendar." }),
    manages_system: z.boolean().meta({
      description:
        "Whether the user sees the state of the installation: an admin of the operator's workspace.",
    }),
    identities: z
      .array(z.strictObject({ issuer: z.string(), bound_datetime: Timestamp }))
      .meta({ description: "The user's identities at single sign-on providers." }),
    quarantine: z.strictObject({ backup: z.string(), since: Timestamp }).nullable().meta({
      description:
        "Set while this installation is a restored backup that sends no webhooks and no mail, until an operator accepts it.",
    }),
  })
  .meta({ id: "Me" });

const Session = z
  .strictObject({
    id: Uuid,
    current: z.boolean().meta({ description: "Whether it is the session of this request." }),
    method: SignInMethod,
    second_factor: z
      .enum(secondFactorMethods)
      .nullable()
      .meta({ description: "What the user signed in with beside the password." }),
    ip: z.string().meta({ description: "IP address of the last use." }),
    sign_in_ip: z.string(),
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
    "Signs a user in with email and password and sets the session cookie. The response is the same for a wrong password and an unknown email. If the user has turned on two-factor authentication, a right password without `code` gets 401 `second_factor_required` with the `methods` that the account accepts; send the call again with a `code` of the authenticator app or a recovery code. Each code is accepted once. Attempts are throttled: 429 with `Retry-After`.",
  body: z.object({
    email: z.string().min(1).max(320),
    password: z.string().min(1).max(4000),
    code: z
      .string()
      .max(100)
      .optional()
      .meta({ description: "Of the authenticator app, or a recovery code." }),
  }),
  response: Me,
  errors: [
    ...bodyErrors,
    "sign_in_refused",
    "second_factor_required",
    "refused_by_rule",
    "rate_limited",
    "forbidden",
  ],
});

export const getMe = operation({
  id: "getMe",
  tag: "Sign-in",
  gate: "every_version",
  permission: "account",
  setsUpAccount: true,
  method: "GET",
  path: "/_/api/v1/session/me",
  summary: "Get Me",
  description: "Returns the signed-in user, their workspace and the session.",
  response: Me,
  errors: ["forbidden"],
});

export const signOut = operation({
  id: "signOut",
  tag: "Sign-in",
  gate: "every_version",
  permission: "account",
  setsUpAccount: true,
  method: "DELETE",
  path: "/_/api/v1/session",
  summary: "Sign Out",
  description: "Ends the current session and clears its cookie.",
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
  description: "Lists the caller's sessions, most recently used first.",
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
  description: "Ends one of the caller's sessions.",
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
  description: "Ends all the caller's sessions, including the current one.",
  response: z.strictObject({ ended: z.int().min(0) }),
  errors: ["forbidden"],
});

export const changePassword = operation({
  id: "changePassword",
  tag: "Sign-in",
  gate: "every_version",
  permission: "account",
  proof: "if_session",
  method: "POST",
  path: "/_/api/v1/me/password",
  summary: "Change Password",
  description:
    "Changes the caller's password; the current one is required. Ends the caller's other sessions and, with `end_tokens`, revokes their tokens and app access. Attempts are throttled: 429 with `Retry-After`.",
  body: z.strictObject({
    current_password: z.string().min(1).max(4000),
    new_password: z.string().max(4000),
    end_sessions: z.boolean().default(true).meta({ description: "End all other sessions." }),
    end_tokens: z.boolean().default(false).meta({
      description:
        "Revoke all access tokens the caller has issued, including the one used for this request, and the access of all their apps. Hooks created with them are disabled.",
    }),
  }),
  response: Success.extend({ ended_sessions: z.int().min(0), revoked_tokens: z.int().min(0) }),
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
  description: "Changes the caller's own name, language and time zone.",
  body: z.object({
    name: UserName.nullish().meta({ description: "Null or left out: unchanged." }),
    language: z
      .enum(knownLanguages)
      .nullable()
      .optional()
      .meta({ description: "The language of the app and of emails. Null: the browser's." }),
    time_zone: TimeZone.nullable()
      .optional()
      .meta({ description: "The time zone of times in emails. Null: the browser's." }),
    browser_time_zone: TimeZone.optional().meta({
      description: "The time zone of the browser, which the web app sends when it has changed.",
    }),
  }),
  response: Me,
  errors: [...bodyErrors, "forbidden"],
});
