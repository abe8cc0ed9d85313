import { z } from "zod";
import {
  GenerateTokenInput,
  oauthPaths,
  RefreshTokenInput,
  TokenResponse,
} from "../../../../contract/accounts/oauth.ts";
import { commonHeaders, failures, headerRefs } from "./openapi-responses.ts";

/** Errors of the OAuth endpoints. Source: RFC 6749, section 5.2. */
const OAuthProblem = z
  .strictObject({
    error: z.string().meta({ description: "What kind of error this is.", example: "invalid_grant" }),
    error_description: z.string().meta({ description: "What went wrong this time." }),
  })
  .meta({ id: "OAuthError", description: "An error, as RFC 6749 defines it." });

const RevokeInput = z.object({
  token: z.string().meta({ description: "An access token or a refresh token." }),
  token_type_hint: z.string().optional(),
  client_id: z.string(),
  client_secret: z.string().optional(),
});

const headers = commonHeaders(false);

const failure = (description: string, own: object = {}) => ({
  description,
  headers: { ...headerRefs(headers), ...own },
  content: { "application/json": { schema: OAuthProblem } },
});

const endpoint = <B extends z.ZodType, A extends z.ZodType>(input: {
  id: string;
  summary: string;
  description: string;
  body: B;
  response: A;
  invalid: string;
}) => ({
  post: {
    operationId: input.id,
    tags: ["OAuth"],
    summary: input.summary,
    description: input.description,
    // Clients authenticate in the body or with HTTP Basic, not with an access token.
    security: [],
    requestBody: {
      required: true,
      content: {
        "application/json": { schema: input.body },
        "application/x-www-form-urlencoded": { schema: input.body },
      },
    },
    responses: {
      "200": {
        description: "Success",
        headers: headerRefs(headers),
        content: { "application/json": { schema: input.response } },
      },
      "400": failure(input.invalid),
      "401": failure("`invalid_client`: the client is unknown, or its secret is wrong.", {
        "WWW-Authenticate": {
          description: "How to authenticate (RFC 7617); present if the request used HTTP Basic.",
          schema: { type: "string" },
        },
      }),
      "429": failure(
        "`slow_down`: too many requests or failures; try again after `Retry-After` seconds.",
        headerRefs(["Retry-After"]),
      ),
      ...failures(["internal", "unavailable"], headers),
    },
  },
});

/** The OAuth 2.0 endpoints for the OpenAPI documents. They need neither a version header nor an access token. */
export const oauthOpenApiPaths = {
  [oauthPaths.token]: endpoint({
    id: "oauthToken",
    summary: "Generate or Refresh Token",
    description:
      "Exchanges an authorization code or a refresh token for tokens. Legacy clients receive neither `refresh_token` nor `expires_in`.",
    body: z.union([GenerateTokenInput, RefreshTokenInput]),
    response: TokenResponse,
    invalid:
      "`invalid_request`, `invalid_grant`, `unsupported_grant_type`, or `invalid_target` for a resource of another server.",
  }),
  [oauthPaths.revoke]: endpoint({
    id: "oauthRevoke",
    summary: "Revoke Token",
    description:
      "Revokes a token. Revoking a refresh token also revokes all tokens issued from the same authorization code. An unknown token counts as revoked.",
    body: RevokeInput,
    response: z.strictObject({}),
    invalid: "`invalid_request`, or `invalid_grant` for the token of another client.",
  }),
};
