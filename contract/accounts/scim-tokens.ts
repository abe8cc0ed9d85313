import { z } from "zod";
import { Success, Timestamp, Uuid } from "../common.ts";
import { operation } from "../operation.ts";

const base = { tag: "Users and teams", gate: "every_version", permission: "admin" } as const;

const ScimToken = z
  .strictObject({
    id: Uuid,
    name: z.string(),
    created_by: Uuid.nullable().meta({
      description: "The admin who created it, with whom it ends; null: the operator, by a command.",
    }),
    created_datetime: Timestamp,
    last_used_datetime: Timestamp.nullable().meta({ description: "Accurate to the minute." }),
    ignored_attributes: z.record(z.string(), z.int().min(1)).meta({
      description:
        "Attributes that were sent and that Parley doesn't store, each with the number of requests.",
    }),
  })
  .meta({ id: "ScimToken" });

export const listScimTokens = operation({
  ...base,
  id: "listScimTokens",
  method: "GET",
  path: "/_/api/v1/scim-tokens",
  summary: "List SCIM Tokens",
  description: "Lists the workspace's active SCIM tokens, the newest first, and the URL for the provider.",
  response: z.strictObject({
    url: z.string().meta({ description: "Base URL of SCIM on this server." }),
    tokens: z.array(ScimToken),
  }),
  errors: ["forbidden"],
});

export const createScimToken = operation({
  ...base,
  id: "createScimToken",
  proof: "required",
  method: "POST",
  path: "/_/api/v1/scim-tokens",
  summary: "Create SCIM Token",
  description:
    "Creates a token with which an identity provider manages the workspace's users and its own teams by SCIM 2.0. It is valid for nothing else and ends when the admin who created it is deactivated or loses the role.",
  body: z.strictObject({
    name: z
      .string()
      .trim()
      .min(1, "must not be blank")
      .max(200)
      .meta({ description: "The provider that uses it." }),
  }),
  response: ScimToken.extend({
    token: z.string().meta({ description: "The token. It is not shown again." }),
  }).meta({ id: "CreatedScimToken" }),
  errors: ["invalid_json", "invalid_input", "body_too_large", "forbidden", "quota_exceeded", "wrong_state"],
});

export const revokeScimToken = operation({
  ...base,
  id: "revokeScimToken",
  method: "DELETE",
  path: "/_/api/v1/scim-tokens/:scim_token_id",
  summary: "Revoke SCIM Token",
  description: "Revokes a SCIM token immediately. Users and teams stay as they are.",
  params: z.object({ scim_token_id: Uuid }),
  response: Success,
  errors: ["forbidden", "not_found"],
});
