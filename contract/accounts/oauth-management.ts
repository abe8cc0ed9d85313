import { z } from "zod";
import {
  Compatibility,
  CursorInput,
  DatetimeFilters,
  NextCursor,
  Success,
  Timestamp,
  Uuid,
} from "../common.ts";
import { operation } from "../operation.ts";

const OAuthClientParams = z.object({ client_id: Uuid });
const OAuthGrantParams = z.object({ grant_id: Uuid });

/** Maximum overlap of two client secrets: 30 days. */
const maxSecretOverlapSec = 2_592_000;

const Name = z
  .string()
  .trim()
  .min(1, "must not be blank")
  .max(100)
  .meta({ description: "The app's name, shown to users on the authorization page." });

const RedirectUris = z
  .array(z.string().max(2000))
  .min(1, "must have at least 1 entry")
  .max(20)
  .meta({
    description:
      "Allowed redirect URIs, compared character by character. Use https, or http on 127.0.0.1, [::1] or localhost; public clients can also use a private scheme such as com.example.app:/callback. For a public client, a URI on 127.0.0.1 or [::1] without a port matches every port.",
    example: ["https://app.example.com/callback"],
  });

const CorsOrigins = z
  .array(z.string().max(500))
  .max(20)
  .meta({
    description: "Origins that may call the token and revocation endpoints from a browser.",
    example: ["https://app.example.com"],
  });

export const OAuthClient = z
  .strictObject({
    client_id: Uuid,
    name: z.string(),
    public: z.boolean().meta({
      description:
        "Whether it can't keep a secret, because it runs in a browser, on a phone or on a desktop. It must use PKCE.",
    }),
    legacy: z.boolean().meta({
      description: "Whether its access tokens don't expire and it gets no refresh tokens.",
    }),
    redirect_uris: z.array(z.string()),
    cors_origins: z.array(z.string()),
    datetime_filters: DatetimeFilters,
    compatibility: Compatibility,
    previous_secret_until: Timestamp.nullable().meta({
      description: "Until then the previous secret is also valid; null: it is not.",
    }),
    created_datetime: Timestamp,
    updated_datetime: Timestamp,
  })
  .meta({ id: "OAuthClient" });

const OAuthClientCreated = OAuthClient.extend({
  client_secret: z
    .string()
    .nullable()
    .meta({ description: "It is not shown again. Null for a public client." }),
}).meta({ id: "OAuthClientCreated" });

export const OAuthGrant = z
  .strictObject({
    id: Uuid,
    user_id: Uuid,
    client_id: Uuid,
    client_name: z.string(),
    self_registered: z.boolean().meta({
      description: "Whether the app registered itself, so that nobody has checked its name.",
    }),
    client_metadata_url: z.string().nullable().meta({
      description:
        "The URL of the document in which a self-registered app describes itself; null without one.",
    }),
    redirect_uris: z
      .array(z.string())
      .meta({ description: "Where the app may receive its access; their hosts identify it." }),
    created_datetime: Timestamp.meta({ description: "When the user first authorized the app." }),
    last_used_datetime: Timestamp.meta({ description: "When the app last received a token." }),
    sign_ins: z.int().meta({ description: "Number of active sign-ins of the app for the user." }),
    datetime_filters: DatetimeFilters,
    compatibility: Compatibility,
  })
  .meta({ id: "OAuthGrant", description: "An app that a user has authorized." });

const base = "/_/api/v1/oauth";
const common = { tag: "Apps", gate: "every_version" } as const;
const bodyErrors = ["invalid_json", "invalid_input", "body_too_large", "forbidden"] as const;

export const listOAuthClients = operation({
  ...common,
  id: "listOAuthClients",
  permission: "admin",
  method: "GET",
  path: `${base}/clients`,
  summary: "List OAuth Clients",
  description: "Lists the workspace's registered apps, newest first, paginated.",
  query: z.object({ cursor: CursorInput.optional() }),
  response: z.strictObject({ clients: z.array(OAuthClient), cursor: NextCursor }),
  errors: ["invalid_input", "invalid_cursor", "forbidden"],
});

export const createOAuthClient = operation({
  ...common,
  id: "createOAuthClient",
  permission: "admin",
  method: "POST",
  path: `${base}/clients`,
  summary: "Create OAuth Client",
  description:
    "Registers an app. The client secret is not shown again. `public` and `legacy` can't be changed later.",
  body: z.strictObject({
    name: Name,
    redirect_uris: RedirectUris,
    cors_origins: CorsOrigins.optional(),
    datetime_filters: DatetimeFilters.optional().meta({
      description: "Default: the server's setting PARLEY_DATETIME_FILTERS at the time of creation.",
    }),
    compatibility: Compatibility.optional().meta({
      description: "Default: the server's setting PARLEY_COMPAT at the time of creation.",
    }),
    public: z.boolean().optional(),
    legacy: z.boolean().optional(),
  }),
  response: OAuthClientCreated,
  errors: bodyErrors,
});

export const getOAuthClient = operation({
  ...common,
  id: "getOAuthClient",
  permission: "admin",
  method: "GET",
  path: `${base}/clients/:client_id`,
  summary: "Get OAuth Client",
  description: "Returns a registered app.",
  params: OAuthClientParams,
  response: OAuthClient,
  errors: ["forbidden", "not_found"],
});

export const updateOAuthClient = operation({
  ...common,
  id: "updateOAuthClient",
  permission: "admin",
  method: "PATCH",
  path: `${base}/clients/:client_id`,
  summary: "Update OAuth Client",
  description:
    "Changes an app's name, redirect URIs, origins or reading of date filters. Fields that are left out keep their values. Its tokens stay valid.",
  params: OAuthClientParams,
  body: z.strictObject({
    name: Name.optional(),
    redirect_uris: RedirectUris.optional(),
    cors_origins: CorsOrigins.optional(),
    datetime_filters: DatetimeFilters.optional(),
    compatibility: Compatibility.optional(),
  }),
  response: OAuthClient,
  errors: [...bodyErrors, "not_found"],
});

export const rotateOAuthClientSecret = operation({
  ...common,
  id: "rotateOAuthClientSecret",
  permission: "admin",
  method: "POST",
  path: `${base}/clients/:client_id/rotate-secret`,
  summary: "Rotate Client Secret",
  description:
    "Replaces a confidential app's secret and returns the new one, which is not shown again. The old secret stays valid during the overlap; an older one expires immediately. Returns 409 for a public app.",
  params: OAuthClientParams,
  body: z.strictObject({
    overlap_sec: z.int().min(0).max(maxSecretOverlapSec).default(0).meta({
      description: "Seconds for which the old secret stays valid; 0: expires immediately.",
    }),
  }),
  response: OAuthClientCreated,
  errors: [...bodyErrors, "not_found", "wrong_state"],
});

export const deleteOAuthClient = operation({
  ...common,
  id: "deleteOAuthClient",
  permission: "admin",
  method: "DELETE",
  path: `${base}/clients/:client_id`,
  summary: "Delete OAuth Client",
  description: "Deletes an app and revokes all its tokens.",
  params: OAuthClientParams,
  response: Success,
  errors: ["forbidden", "not_found"],
});

export const listOAuthGrants = operation({
  ...common,
  id: "listOAuthGrants",
  permission: "account",
  method: "GET",
  path: `${base}/grants`,
  summary: "List Authorized Apps",
  description:
    "Lists the apps that the caller has authorized, newest first, paginated. Admins can list another user's apps with `user_id`, and those of all users with `of=workspace`.",
  query: z.object({
    of: z
      .enum(["me", "workspace"])
      .optional()
      .meta({ description: "Default: `me`. `user_id` takes precedence." }),
    user_id: Uuid.optional(),
    cursor: CursorInput.optional(),
  }),
  response: z.strictObject({ grants: z.array(OAuthGrant), cursor: NextCursor }),
  errors: ["invalid_input", "invalid_cursor", "forbidden", "not_found"],
});

export const updateOAuthGrant = operation({
  ...common,
  id: "updateOAuthGrant",
  permission: "account",
  method: "PATCH",
  path: `${base}/grants/:grant_id`,
  summary: "Update Authorized App",
  description:
    "Changes how an app that registered itself reads date filters and names CRM data when it acts for the caller. Admins can change it for any user of the workspace. Fields that are left out keep their values. The change applies at once, also to tokens in use, and lasts until the access ends. Returns 409 for an app that an admin registered; use Update OAuth Client.",
  params: OAuthGrantParams,
  body: z.object({
    datetime_filters: DatetimeFilters.optional(),
    compatibility: Compatibility.optional(),
  }),
  response: OAuthGrant,
  errors: [...bodyErrors, "not_found", "wrong_state"],
});

export const revokeOAuthGrant = operation({
  ...common,
  id: "revokeOAuthGrant",
  permission: "account",
  method: "DELETE",
  path: `${base}/grants/:grant_id`,
  summary: "Revoke App Access",
  description:
    "Revokes an app's access for the caller, with all its tokens for them. Admins can revoke it for any user of the workspace.",
  params: OAuthGrantParams,
  response: Success,
  errors: ["forbidden", "not_found"],
});
