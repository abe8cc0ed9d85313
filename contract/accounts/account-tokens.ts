import { z } from "zod";
import {
  Compatibility,
  CursorInput,
  DatetimeFilters,
  NextCursor,
  Success,
  Timestamp,
  TimestampInput,
  Uuid,
} from "../common.ts";
import { operation } from "../operation.ts";

export const AccessToken = z
  .strictObject({
    id: Uuid,
    type: z.enum(["personal_access_token", "workspace_access_token"]),
    name: z.string(),
    user_id: Uuid.meta({ description: "The token's user; for a workspace token, the admin who issued it." }),
    created_datetime: Timestamp,
    last_used_datetime: Timestamp.nullable().meta({ description: "Accurate to the minute." }),
    expires_at: Timestamp.nullable().meta({ description: "Null: does not expire." }),
    datetime_filters: DatetimeFilters,
    compatibility: Compatibility,
  })
  .meta({ id: "AccessToken" });

const base = { tag: "Tokens", gate: "every_version", permission: "account" } as const;

export const createToken = operation({
  ...base,
  id: "createToken",
  proof: "if_session",
  method: "POST",
  path: "/_/api/v1/tokens",
  summary: "Create Token",
  description:
    "Issues an access token: a personal one for the caller, or one for the whole workspace (admins only). A token created with a personal access token expires no later than that one and is revoked with it.",
  body: z.strictObject({
    type: z.enum(["personal_access_token", "workspace_access_token"]),
    name: z
      .string()
      .trim()
      .min(1, "must not be blank")
      .max(200)
      .meta({ description: "What the token is used for." }),
    expires_at: TimestampInput.optional().meta({ description: "Left out: does not expire." }),
    datetime_filters: DatetimeFilters.optional().meta({
      description: "Default: the server's setting PARLEY_DATETIME_FILTERS at the time of creation.",
    }),
    compatibility: Compatibility.optional().meta({
      description: "Default: the server's setting PARLEY_COMPAT at the time of creation.",
    }),
  }),
  response: AccessToken.extend({
    token: z.string().meta({ description: "The token. It is not shown again." }),
  }).meta({ id: "CreatedAccessToken" }),
  errors: ["invalid_json", "invalid_input", "body_too_large", "forbidden", "quota_exceeded"],
});

export const listTokens = operation({
  ...base,
  id: "listTokens",
  method: "GET",
  path: "/_/api/v1/tokens",
  summary: "List Tokens",
  description:
    "Lists the caller's active tokens, newest first, paginated; with `of=workspace` the tokens of all users (admins only). Authorized apps are at `/_/api/v1/oauth/grants`.",
  query: z.object({
    of: z.enum(["me", "workspace"]).optional().meta({ description: "Default: `me`." }),
    cursor: CursorInput.optional(),
  }),
  response: z.strictObject({ tokens: z.array(AccessToken), cursor: NextCursor }),
  errors: ["invalid_input", "invalid_cursor", "forbidden"],
});

export const revokeToken = operation({
  ...base,
  id: "revokeToken",
  method: "DELETE",
  path: "/_/api/v1/tokens/:token_id",
  summary: "Revoke Token",
  description:
    "Revokes a token immediately: one of the caller's, or for admins any token of the workspace. Also revokes tokens created with it, directly or indirectly. Hooks created with any of them are disabled.",
  params: z.object({ token_id: Uuid }),
  response: Success.extend({
    revoked_tokens: z.int().min(1).meta({ description: "This token and those created with it." }),
  }),
  errors: ["forbidden", "not_found"],
});
