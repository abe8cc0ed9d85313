import { z } from "zod";

/** Paths of the OAuth 2.0 endpoints, which need neither a version header nor an access token. */
export const oauthPaths = {
  authorize: "/_/public-api/oauth2/authorize",
  token: "/_/public-api/oauth2/token",
  revoke: "/_/public-api/oauth2/revoke",
  register: "/_/public-api/oauth2/register",
  metadata: "/.well-known/oauth-authorization-server",
} as const;

/** Path of the Model Context Protocol endpoint, a resource that tokens can be restricted to. */
export const mcpPath = "/mcp";

const Resource = z.string().optional().meta({
  description:
    "Restricts the tokens to this resource (RFC 8707): the server's URL, or its URL with /mcp. At the token endpoint it must be the one of the authorization request.",
});

/** Exchange of an authorization code. Source: contract.md, "OAuth 2.0 token endpoint". */
export const GenerateTokenInput = z.object({
  grant_type: z.literal("authorization_code"),
  code: z.string(),
  code_verifier: z.string().optional().meta({
    description:
      "The verifier of the code_challenge (RFC 7636, S256). Required if the authorization request had one, as that of every public client.",
  }),
  redirect_uri: z
    .string()
    .optional()
    .meta({ description: "If given, must equal the redirect_uri of the authorization request." }),
  client_id: z.string(),
  client_secret: z.string().optional().meta({ description: "Required for confidential clients." }),
  resource: Resource,
});

export const RefreshTokenInput = z.object({
  grant_type: z.literal("refresh_token"),
  refresh_token: z.string(),
  client_id: z.string(),
  client_secret: z.string().optional().meta({ description: "Required for confidential clients." }),
  resource: Resource,
});

/** Legacy clients receive neither refresh_token nor expires_in. */
export const TokenResponse = z
  .strictObject({
    token_type: z.literal("bearer"),
    access_token: z.string(),
    refresh_token: z.string().optional(),
    expires_in: z.int().optional(),
  })
  .meta({ id: "TokenResponse" });

export type TokenResponse = z.output<typeof TokenResponse>;
