import { z } from "zod";
import { Timestamp, Uuid } from "../common.ts";
import { operation } from "../operation.ts";

export const TokenType = z.enum(["oauth", "personal_access_token", "workspace_access_token"]);
export const TokenScope = z.enum(["personal", "workspace"]);

export const TokenInfo = z
  .strictObject({
    type: TokenType,
    scope: TokenScope,
    user_id: Uuid.optional().meta({ description: "Present when scope is personal." }),
    workspace_id: Uuid.optional().meta({ description: "Present when scope is workspace." }),
    name: z.string().meta({ description: "Name of the user or workspace." }),
    expires_at: Timestamp.nullable().meta({ description: "Null means the token does not expire." }),
  })
  .meta({ id: "TokenInfo" });

export const tokenInfo = operation({
  id: "tokenInfo",
  tag: "Token",
  gate: "token_info",
  permission: "read",
  method: "GET",
  path: "/_/public-api/v2/token-info",
  summary: "Token Info",
  description: "Returns the token's type, scope, owner and expiry.",
  response: TokenInfo,
  errors: ["forbidden"],
});
