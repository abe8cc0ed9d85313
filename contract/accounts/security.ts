import { z } from "zod";
import { Cause } from "../causes/causes.ts";
import { Timestamp, Uuid } from "../common.ts";
import { operation } from "../operation.ts";
import { Role } from "./account-sessions.ts";

/** What a workspace demands of the sign-ins, sessions and tokens of its users. */
const rules = {
  second_factor: z.enum(["nobody", "admins", "all"]).meta({
    description:
      "Who needs a second factor: a code beside the password, or a passkey. Single sign-on counts, because its provider decides.",
  }),
  grace_days: z.int().min(0).max(90).meta({
    description: "How long users have to set up their second factor, after the rule or their account began.",
  }),
  session_max_hours: z.int().min(1).max(2160).nullable().meta({
    description: "Longest session, in hours. Null: 90 days.",
  }),
  session_idle_minutes: z.int().min(5).max(20_160).nullable().meta({
    description:
      "How long a session may be unused, in minutes. What the web app requests without an action of its user is no use. Null: 14 days.",
  }),
  token_max_days: z.int().min(1).max(3650).nullable().meta({
    description:
      "Longest life of personal tokens, workspace tokens and authorizations of apps, in days. Null: as each was created.",
  }),
  single_sign_on_only: z.boolean().meta({
    description:
      "Whether users sign in by single sign-on only. Passwords, passkeys and one-time links are refused then, and so are sessions started with them and tokens and authorizations of apps from before the rule.",
  }),
  break_glass_user_id: Uuid.nullable().meta({
    description:
      "The admin who may still sign in with a password and a second factor, or a passkey. Required by `single_sign_on_only`.",
  }),
  allowed_addresses: z.array(z.string().trim().min(1).max(50)).max(100).meta({
    description:
      "IP addresses and CIDR ranges, IPv4 and IPv6, from which the app and the API can be used. Empty: all. Public links are not restricted.",
  }),
};

const Rules = z.strictObject(rules);
export type SecurityRules = z.output<typeof Rules>;

/** The rules of a workspace in which nobody has changed any. */
export const noRules: SecurityRules = {
  second_factor: "nobody",
  grace_days: 14,
  session_max_hours: null,
  session_idle_minutes: null,
  token_max_days: null,
  single_sign_on_only: false,
  break_glass_user_id: null,
  allowed_addresses: [],
};

const WorkspaceSecurity = Rules.extend({
  second_factor_since: Timestamp.nullable(),
  single_sign_on_since: Timestamp.nullable(),
  single_sign_on_available: z
    .boolean()
    .meta({ description: "Whether this server is set up for single sign-on." }),
  your_ip: z.string().meta({ description: "The IP address of this request." }),
}).meta({ id: "WorkspaceSecurity" });

/** Why a rule refuses a session or token. */
const ruleRefusals = [
  "address",
  "session_age",
  "session_idle",
  "token_age",
  "single_sign_on",
  "second_factor",
] as const;
export type RuleRefusal = (typeof ruleRefusals)[number];

const change = z.strictObject(rules).partial();

const bodyErrors = ["invalid_json", "invalid_input", "body_too_large"] as const;
const base = { tag: "Workspace", gate: "every_version", permission: "admin" } as const;

export const getWorkspaceSecurity = operation({
  ...base,
  id: "getWorkspaceSecurity",
  method: "GET",
  path: "/_/api/v1/workspace/security",
  summary: "Get Workspace Security",
  description: "Returns the security rules of the workspace.",
  response: WorkspaceSecurity,
  errors: ["forbidden"],
});

export const updateWorkspaceSecurity = operation({
  ...base,
  id: "updateWorkspaceSecurity",
  proof: "required",
  method: "PATCH",
  path: "/_/api/v1/workspace/security",
  summary: "Update Workspace Security",
  description:
    "Changes security rules of the workspace. They apply to the next request of everyone. Returns 409 for a rule that would refuse the caller at once.",
  body: change,
  response: WorkspaceSecurity,
  errors: [...bodyErrors, "forbidden", "wrong_state"],
});

export const previewWorkspaceSecurity = operation({
  ...base,
  id: "previewWorkspaceSecurity",
  method: "POST",
  path: "/_/api/v1/workspace/security/preview",
  summary: "Preview Workspace Security",
  description:
    "Returns what the changed rules would refuse, without changing them: by the sessions and tokens that are active now and the IP addresses they were last used from.",
  body: change,
  response: z
    .strictObject({
      refuses_you: z
        .string()
        .nullable()
        .meta({ description: "Why the rules can't be saved by the caller. Null: they can." }),
      refuses_you_cause: Cause.nullable(),
      users: z
        .array(
          z.strictObject({
            id: Uuid,
            name: z.string(),
            email: z.string(),
            role: Role,
            sessions: z.int().min(0).meta({ description: "Refused sessions." }),
            tokens: z.int().min(0).meta({ description: "Refused tokens, also those of apps." }),
            reasons: z.array(z.enum(ruleRefusals)),
            addresses: z
              .array(z.string())
              .meta({ description: "IP addresses outside the ranges, up to five." }),
            second_factor_due: Timestamp.nullable().meta({
              description: "Until when a user without a second factor has to set one up.",
            }),
          }),
        )
        .meta({ description: "Affected users by name, up to 200." }),
      user_count: z.int().min(0),
      session_count: z.int().min(0),
      token_count: z.int().min(0),
      unknown_address_count: z.int().min(0).meta({
        description: "Tokens whose last IP address is not known, because they were not used lately.",
      }),
      scim_tokens: z
        .array(z.strictObject({ id: Uuid, name: z.string(), address: z.string().nullable() }))
        .meta({
          description:
            "SCIM tokens last used from an IP address outside the ranges, or from one that is not known (null).",
        }),
    })
    .meta({ id: "SecurityPreview" }),
  errors: [...bodyErrors, "forbidden", "wrong_state"],
});
