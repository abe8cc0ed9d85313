import { z } from "zod";

/** Where the endpoints of OAuth 2.0 are. They carry neither a version nor an access token. */
export const oauthPaths = {
  authorize: "/_/public-api/oauth2/authorize",
  token: "/_/public-api/oauth2/token",
  revoke: "/_/public-api/oauth2/revoke",
  metadata: "/.well-known/oauth-authorization-server",
} as const;

/** Exchange of an authorization code. Source: contract.md, "OAuth 2.0 token endpoint". */
export const GenerateTokenInput = z.object({
  grant_type: z.literal("authorization_code"),
  code: z.string(),
  code_verifier: z.string().meta({ description: "What the code_challenge was made of (RFC 7636, S256)." }),
  redirect_uri: z
    .string()
    .optional()
    .meta({ description: "When sent, the one of the authorization request." }),
  client_id: z.string(),
  client_secret: z.string().optional().meta({ description: "Required for apps that have one." }),
});

export const RefreshTokenInput = z.object({
  grant_type: z.literal("refresh_token"),
  refresh_token: z.string(),
  client_id: z.string(),
  client_secret: z.string().optional().meta({ description: "Required for apps that have one." }),
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

export type TokenAnswer = z.output<typeof TokenResponse>;
