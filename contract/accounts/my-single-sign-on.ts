import { z } from "zod";
import { Timestamp } from "../common.ts";
import { operation } from "../operation.ts";
import { Me } from "./account-sessions.ts";

const mySingleSignOn = {
  tag: "Sign-in",
  gate: "every_version",
  permission: "account",
  path: "/_/api/v1/me/single-sign-on",
} as const;

export const getMySingleSignOn = operation({
  ...mySingleSignOn,
  id: "getMySingleSignOn",
  method: "GET",
  summary: "Get My Single Sign-On",
  description: "Returns the providers with which the caller signs in, and those that can be connected.",
  response: z.strictObject({
    connections: z.array(
      z.strictObject({
        issuer: z.string(),
        name: z.string().nullable().meta({
          description: "Of the provider. Null: the server no longer has it, and nobody can sign in with it.",
        }),
        connected_datetime: Timestamp,
        can_unlink: z.boolean().meta({ description: "False for the last way to sign in." }),
      }),
    ),
    available: z.array(z.strictObject({ id: z.string(), name: z.string() })).meta({
      description:
        "Providers of the server that are not connected. Empty where single sign-on only is required; without others while groups at one give the caller teams or a role.",
    }),
  }),
  errors: ["forbidden"],
});

export const connectMySingleSignOn = operation({
  ...mySingleSignOn,
  id: "connectMySingleSignOn",
  proof: "required",
  method: "POST",
  summary: "Connect Single Sign-On",
  description:
    "Starts to connect another provider with the caller's account. Open the URL in the same browser: after signing in there, the provider is connected if it has verified the email of the account.",
  body: z.strictObject({ provider: z.string().max(50).meta({ description: "ID of the provider." }) }),
  response: z.strictObject({ url: z.string() }),
  errors: ["invalid_json", "invalid_input", "body_too_large", "forbidden", "not_found", "wrong_state"],
});

export const unbindMySingleSignOn = operation({
  ...mySingleSignOn,
  id: "unbindMySingleSignOn",
  proof: "required",
  method: "DELETE",
  summary: "Unlink My Single Sign-On",
  description:
    "Unlinks the caller's account from one provider, or from all, and ends the sessions that they began, except the one of this request. Returns 409 if the caller could no longer sign in.",
  query: z.object({
    issuer: z.string().max(2000).optional().meta({ description: "Of the provider. Left out: all." }),
  }),
  response: Me,
  errors: ["invalid_input", "forbidden", "wrong_state"],
});
