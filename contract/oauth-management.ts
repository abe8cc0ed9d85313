import { z } from "zod";
import { CursorInput, NextCursor, Success, Timestamp, Uuid } from "./common.ts";
import { operation } from "./operation.ts";

export const OAuthClientParams = z.object({ client_id: Uuid });
export const OAuthGrantParams = z.object({ grant_id: Uuid });

/** How long the old secret of a client may stay good at most: a month. */
export const maxSecretOverlapSec = 2_592_000;

const Name = z
  .string()
  .trim()
  .min(1, "must not be blank")
  .max(100)
  .meta({ description: "What the app is called; people read it when they are asked to let it in." });

const RedirectUris = z
  .array(z.string().max(2000))
  .min(1, "must have at least 1 entry")
  .max(20)
  .meta({
    description:
      "Where the answer may go, compared character by character: https; http on 127.0.0.1, [::1] or localhost; for a public client also a scheme of its own, such as com.example.app:/callback. For a public client an address on 127.0.0.1 or [::1] without a port stands for every port.",
    example: ["https://app.example.com/callback"],
  });

const CorsOrigins = z
  .array(z.string().max(500))
  .max(20)
  .meta({
    description: "Origins of pages that may call the token and revocation endpoints from a browser.",
    example: ["https://app.example.com"],
  });

export const OAuthClient = z
  .strictObject({
    client_id: Uuid,
    name: z.string(),
    public: z.boolean().meta({
      description: "Runs where it can keep no secret: in a browser, on a phone, on a desktop. It needs PKCE.",
    }),
    legacy: z.boolean().meta({
      description: "Gets access tokens that don't expire, and no refresh tokens.",
    }),
    redirect_uris: z.array(z.string()),
    cors_origins: z.array(z.string()),
    previous_secret_until: Timestamp.nullable().meta({
      description: "Until when the secret before the last change is good; null when it has ended.",
    }),
    created_datetime: Timestamp,
    updated_datetime: Timestamp,
  })
  .meta({ id: "OAuthClient" });

export const OAuthClientCreated = OAuthClient.extend({
  client_secret: z
    .string()
    .nullable()
    .meta({ description: "Shown this once; null for a public client, which has none." }),
}).meta({ id: "OAuthClientCreated" });

export const OAuthGrant = z
  .strictObject({
    id: Uuid,
    user_id: Uuid,
    client_id: Uuid,
    client_name: z.string(),
    created_datetime: Timestamp.meta({ description: "When the person first let the app in." }),
    last_used_datetime: Timestamp.meta({ description: "When the app last got a token." }),
    sign_ins: z.int().meta({ description: "How many times the app is signed in for the person now." }),
  })
  .meta({ id: "OAuthGrant", description: "An app that a person has let in." });

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
  description: "The apps that are registered in the workspace, newest first, a page at a time.",
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
    "Registers an app. Its secret is shown this once. Whether it is public or legacy can't be changed later.",
  body: z.object({
    name: Name,
    redirect_uris: RedirectUris,
    cors_origins: CorsOrigins.optional(),
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
  description: "One app that is registered in the workspace.",
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
  description: "Changes name, redirect URIs or origins; what is left out stays. Tokens stay good.",
  params: OAuthClientParams,
  body: z.object({
    name: Name.optional(),
    redirect_uris: RedirectUris.optional(),
    cors_origins: CorsOrigins.optional(),
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
    "Gives a confidential app a new secret, shown this once. The old one stays good for the time of the overlap. The secret before the previous one ends at once. 409 for a public app.",
  params: OAuthClientParams,
  body: z.object({
    overlap_sec: z.int().min(0).max(maxSecretOverlapSec).default(0).meta({
      description: "Seconds for which the old secret stays good; 0 ends it at once.",
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
  description: "Removes an app. All its tokens end at once.",
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
  summary: "List Granted Apps",
  description:
    "The apps that the caller has let in, newest first, a page at a time. Admins see those of another user of the workspace with `user_id`.",
  query: z.object({ user_id: Uuid.optional(), cursor: CursorInput.optional() }),
  response: z.strictObject({ grants: z.array(OAuthGrant), cursor: NextCursor }),
  errors: ["invalid_input", "invalid_cursor", "forbidden", "not_found"],
});

export const revokeOAuthGrant = operation({
  ...common,
  id: "revokeOAuthGrant",
  permission: "account",
  method: "DELETE",
  path: `${base}/grants/:grant_id`,
  summary: "Revoke Granted App",
  description:
    "Takes back what the caller let an app do: all its tokens for that person end at once. Admins may for every user of the workspace.",
  params: OAuthGrantParams,
  response: Success,
  errors: ["forbidden", "not_found"],
});
