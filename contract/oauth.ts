import { z } from "zod";

/** Exchange of an authorization code. Source: contract.md, "OAuth 2.0 token endpoint". */
export const GenerateTokenInput = z.object({
  grant_type: z.literal("authorization_code"),
  code: z.string(),
  code_verifier: z.string(),
  client_id: z.string(),
  client_secret: z.string().optional(),
});

export const RefreshTokenInput = z.object({
  grant_type: z.literal("refresh_token"),
  refresh_token: z.string(),
  client_id: z.string(),
  client_secret: z.string().optional(),
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
