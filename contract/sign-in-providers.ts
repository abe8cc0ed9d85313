import { z } from "zod";
import { Success } from "./common.ts";
import { operation } from "./operation.ts";

/** Part of the redirect URI, which is registered at the provider. */
const ProviderId = z
  .string()
  .max(40)
  .regex(/^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/, "must be lower-case letters, digits and hyphens");

/** A domain as it is written in an email. */
const Domain = z
  .string()
  .trim()
  .toLowerCase()
  .max(253)
  // Bounded: at most 253 characters.
  .regex(/^[^\s@.]+(?:\.[^\s@.]+)+$/, "must be a domain, such as example.com");

const GroupName = z.string().trim().min(1).max(300);

/** What members of a group at the provider get. */
export const GroupMapping = z
  .strictObject({
    group: GroupName.meta({
      description: "The group as the claim names it: a name, a path or an id. Case counts.",
      example: "8a7c2f0e-5d0b-4a4e-9f37-1f0f6f0a7a11",
    }),
    teams: z
      .array(z.string().trim().min(1).max(200))
      .max(50)
      .default([])
      .meta({ description: "Names of teams of the user's workspace.", example: ["Sales"] }),
    role: z
      .enum(["viewer", "member", "admin"])
      .nullable()
      .default(null)
      .meta({ description: "Null: the group gives no role. Of several, the highest counts." }),
  })
  .meta({ id: "SignInGroupMapping" });

export type GroupMapping = z.output<typeof GroupMapping>;

/** What an admin decides about a provider, besides its secret. */
const decided = {
  name: z.string().trim().min(1).max(60).meta({
    description: "Shown on the sign-in page as `Sign in with NAME`.",
    example: "Example ID",
  }),
  issuer: z
    .string()
    .trim()
    .max(1000)
    .meta({ example: "https://login.microsoftonline.com/5b0c1a52-8f4e-4d0f-9a59-0e7c2a3f7d10/v2.0" }),
  client_id: z.string().trim().min(1).max(500),
  scopes: z
    .array(
      z
        .string()
        .trim()
        .regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/, "must be scopes of OAuth 2.0"),
    )
    .max(30)
    .default([])
    .meta({ description: "Asked for besides `openid`, `email` and `profile`.", example: ["groups"] }),
  allowed_domains: z
    .array(Domain)
    .max(100)
    .default([])
    .meta({
      description:
        "Domains of emails for which this provider may link and create accounts. Empty: any. Accounts that are linked already can sign in.",
      example: ["example.com"],
    }),
  create_users: z.boolean().default(false).meta({
    description: "Whether to create accounts for users whose email is in a claimed domain.",
  }),
  trust_email: z.boolean().default(false).meta({
    description:
      "Whether to accept emails if the provider doesn't say whether they are verified. Only for an issuer of one organization.",
  }),
  groups_claim: z.string().trim().min(1).max(200).nullable().default(null).meta({
    description:
      "The claim that lists the user's groups, such as `groups`, or a path such as `realm_access.roles`.",
    example: "groups",
  }),
  groups: z.array(GroupMapping).max(200).default([]),
};

/** An entry of PARLEY_OIDC_PROVIDERS. */
export const StoredProvider = z.strictObject({
  id: ProviderId,
  ...decided,
  client_secret: z.string().min(1).max(1000),
});

export const SignInProviderInput = z
  .strictObject({
    ...decided,
    client_secret: z
      .string()
      .min(1)
      .max(1000)
      .optional()
      .meta({ description: "Left out: it stays. It must be sent if the issuer changes. Never returned." }),
  })
  .meta({ id: "SignInProviderInput" });

/** At most so many providers. */
export const maxProviders = 20;

const SignInProvider = z
  .strictObject({
    id: ProviderId,
    ...decided,
    redirect_uri: z.string().meta({ description: "To be registered at the provider." }),
    logout_uri: z.string().meta({
      description: "For back-channel logout: the provider reports there that a user signed out.",
    }),
    source: z.enum(["environment", "file", "app"]).meta({
      description: "Where it is set up; only those of the app can be changed here.",
    }),
  })
  .meta({ id: "SignInProvider" });

const SignInProviders = z.strictObject({
  providers: z.array(SignInProvider),
  new_redirect_uri: z
    .string()
    .meta({ description: "Redirect URI of a new provider, with `ID` in place of its id." }),
  new_logout_uri: z
    .string()
    .meta({ description: "For back-channel logout of a new provider, with `ID` in place of its id." }),
  locked_by: z
    .enum(["environment", "file"])
    .nullable()
    .meta({ description: "What sets the list of providers, so that none can be added here." }),
});

const common = { tag: "System", gate: "every_version", permission: "admin" } as const;
const whoMay = "For admins of the operator's workspace; see `parley workspace operator`.";
const path = "/_/api/v1/system/sign-in-providers";
const params = z.object({ provider_id: ProviderId });
const errors = [
  "invalid_json",
  "invalid_input",
  "body_too_large",
  "forbidden",
  "not_found",
  "wrong_state",
] as const;

export const listSignInProviders = operation({
  ...common,
  id: "listSignInProviders",
  method: "GET",
  path,
  summary: "List Sign-in Providers",
  description: `Returns the providers of single sign-on in the order of the sign-in page, without their secrets. ${whoMay}`,
  response: SignInProviders,
  errors: ["forbidden"],
});

export const saveSignInProvider = operation({
  ...common,
  id: "saveSignInProvider",
  method: "PUT",
  path: `${path}/:provider_id`,
  summary: "Save Sign-in Provider",
  description: `Adds a provider of single sign-on, or changes it. The list of providers is the setting PARLEY_OIDC_PROVIDERS, so the change is in force in all processes within two seconds, and can be undone as a change of settings. Refused with \`wrong_state\` where the environment or PARLEY_SETTINGS_FILE sets it. ${whoMay}`,
  params,
  body: SignInProviderInput,
  response: SignInProviders,
  errors,
});

export const deleteSignInProvider = operation({
  ...common,
  id: "deleteSignInProvider",
  method: "DELETE",
  path: `${path}/:provider_id`,
  summary: "Delete Sign-in Provider",
  description: `Removes a provider of single sign-on. Accounts stay linked, for the case that it is added again. Refused if users without a password could not sign in any more. Can be undone as a change of settings. ${whoMay}`,
  params,
  response: Success,
  errors: ["forbidden", "not_found", "invalid_input", "wrong_state"],
});

/** A provider with values that are not saved yet. */
export const TriedProvider = z.strictObject({
  id: ProviderId,
  values: SignInProviderInput.optional().meta({ description: "Left out: as it is saved." }),
});
