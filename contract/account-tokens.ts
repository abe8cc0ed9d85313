import { z } from "zod";
import { CursorInput, NextCursor, Success, Timestamp, TimestampInput, Uuid } from "./common.ts";
import { operation } from "./operation.ts";

export const AccessToken = z
  .strictObject({
    id: Uuid,
    type: z.enum(["personal_access_token", "workspace_access_token"]),
    name: z.string(),
    user_id: Uuid.meta({ description: "Whose it is; for a workspace token the admin who issued it." }),
    created_datetime: Timestamp,
    last_used_datetime: Timestamp.nullable().meta({ description: "To the minute." }),
    expires_at: Timestamp.nullable().meta({ description: "Null: it does not expire." }),
  })
  .meta({ id: "AccessToken" });

const base = { tag: "Tokens", gate: "every_version", permission: "account" } as const;

export const createToken = operation({
  ...base,
  id: "createToken",
  method: "POST",
  path: "/_/api/v1/tokens",
  summary: "Create Token",
  description:
    "Issues an access token: a personal one for the caller, or one for the whole workspace (admins only). A token made with a personal access token expires no later than that one.",
  body: z.object({
    type: z.enum(["personal_access_token", "workspace_access_token"]),
    name: z
      .string()
      .trim()
      .min(1, "must not be blank")
      .max(200)
      .meta({ description: "What it is for, so that it is known when it is to be revoked." }),
    expires_at: TimestampInput.optional().meta({ description: "Absent: it does not expire." }),
  }),
  response: AccessToken.extend({
    token: z.string().meta({ description: "The token itself; shown now and never again." }),
  }).meta({ id: "CreatedAccessToken" }),
  errors: ["invalid_json", "invalid_input", "body_too_large", "forbidden"],
});

export const listTokens = operation({
  ...base,
  id: "listTokens",
  method: "GET",
  path: "/_/api/v1/tokens",
  summary: "List Tokens",
  description:
    "The caller's tokens that are neither revoked nor expired, newest first, by page; with `of=workspace` those of everybody in the workspace (admins only). Apps that people have let in are under `/_/api/v1/oauth/grants`.",
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
  description: "Ends a token at once. One's own, or as an admin any of the workspace.",
  params: z.object({ token_id: Uuid }),
  response: Success,
  errors: ["forbidden", "not_found"],
});
