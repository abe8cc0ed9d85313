import { z } from "zod";
import { Success, Timestamp, Uuid } from "../common.ts";
import { operation } from "../operation.ts";
import { Me } from "./account-sessions.ts";

const bodyErrors = ["invalid_json", "invalid_input", "body_too_large"] as const;
const base = { tag: "Sign-in", gate: "every_version" } as const;

const PasskeyName = z.string().trim().min(1, "must not be blank").max(100);

/** A passkey of the caller. */
const Passkey = z
  .strictObject({
    id: Uuid,
    name: z.string(),
    uses: z.int().min(0).meta({ description: "How often the user signed in with it." }),
    created_datetime: Timestamp,
    last_used_datetime: Timestamp.nullable(),
  })
  .meta({ id: "Passkey" });

const optionsText =
  "For `PublicKeyCredential.parseCreationOptionsFromJSON` or `parseRequestOptionsFromJSON` in a browser. Valid for 15 minutes and once, in the browser that asked for it. Source: https://www.w3.org/TR/webauthn-3/.";

const CreationOptions = z
  .looseObject({
    challenge: z.string(),
    rp: z.looseObject({ id: z.string(), name: z.string() }),
    user: z.looseObject({ id: z.string(), name: z.string(), displayName: z.string() }),
    pubKeyCredParams: z.array(z.looseObject({ alg: z.int(), type: z.literal("public-key") })),
  })
  .meta({ description: optionsText });

const RequestOptions = z
  .looseObject({ challenge: z.string(), rpId: z.string() })
  .meta({ description: optionsText });

/** The browser's `PublicKeyCredential`, by its `toJSON()`. Binary values are base64url. */
const credential = <R extends z.ZodType>(response: R) =>
  z.looseObject({
    id: z.string().min(1).max(2000),
    rawId: z.string().min(1).max(2000),
    type: z.literal("public-key"),
    response,
  });

const Created = credential(
  z.looseObject({
    clientDataJSON: z.string().max(10_000),
    attestationObject: z.string().max(100_000),
    transports: z.array(z.string().max(50)).max(20).optional(),
  }),
);

const Signed = credential(
  z.looseObject({
    clientDataJSON: z.string().max(10_000),
    authenticatorData: z.string().max(10_000),
    signature: z.string().max(10_000),
    userHandle: z.string().max(200).nullish(),
  }),
);

/** What a browser signed, to prove that it has a passkey. */
export type SignedResponse = z.output<typeof Signed>;
/** A passkey that a browser has created. */
export type CreatedResponse = z.output<typeof Created>;

export const listPasskeys = operation({
  ...base,
  id: "listPasskeys",
  permission: "account",
  method: "GET",
  path: "/_/api/v1/me/passkeys",
  summary: "List My Passkeys",
  description: "Lists the caller's passkeys, the newest first.",
  response: z.strictObject({ passkeys: z.array(Passkey) }),
  errors: ["forbidden"],
});

export const startPasskey = operation({
  ...base,
  id: "startPasskey",
  permission: "account",
  proof: "required",
  method: "POST",
  path: "/_/api/v1/me/passkeys/options",
  summary: "Start Adding a Passkey",
  description: "Returns what a browser needs to create a passkey for the caller.",
  response: z.strictObject({ options: CreationOptions }),
  errors: ["forbidden", "wrong_state"],
});

export const addPasskey = operation({
  ...base,
  id: "addPasskey",
  permission: "account",
  proof: "required",
  method: "POST",
  path: "/_/api/v1/me/passkeys",
  summary: "Add Passkey",
  description:
    "Adds the passkey that the browser has created. It signs the caller in without a password and without a code.",
  body: z.strictObject({ name: PasskeyName, response: Created }),
  response: Passkey,
  errors: [...bodyErrors, "forbidden", "wrong_state"],
});

export const renamePasskey = operation({
  ...base,
  id: "renamePasskey",
  permission: "account",
  method: "PATCH",
  path: "/_/api/v1/me/passkeys/:passkey_id",
  summary: "Rename Passkey",
  description: "Renames one of the caller's passkeys.",
  params: z.object({ passkey_id: Uuid }),
  body: z.strictObject({ name: PasskeyName }),
  response: Passkey,
  errors: [...bodyErrors, "forbidden", "not_found"],
});

export const removePasskey = operation({
  ...base,
  id: "removePasskey",
  permission: "account",
  proof: "required",
  method: "DELETE",
  path: "/_/api/v1/me/passkeys/:passkey_id",
  summary: "Remove Passkey",
  description:
    "Removes one of the caller's passkeys. It can't sign in any more, and the other sessions that it began end.",
  params: z.object({ passkey_id: Uuid }),
  response: Success,
  errors: ["forbidden", "not_found", "wrong_state"],
});

export const startPasskeySignIn = operation({
  ...base,
  id: "startPasskeySignIn",
  permission: "anyone",
  method: "POST",
  path: "/_/api/v1/session/passkey/options",
  summary: "Start Signing In With a Passkey",
  description: "Returns what a browser needs to ask for any passkey of this server.",
  response: z.strictObject({ options: RequestOptions }),
  errors: ["forbidden", "rate_limited"],
});

export const signInWithPasskey = operation({
  ...base,
  id: "signInWithPasskey",
  permission: "anyone",
  method: "POST",
  path: "/_/api/v1/session/passkey",
  summary: "Sign In With a Passkey",
  description: "Signs a user in with a passkey and sets the session cookie.",
  body: z.strictObject({ response: Signed }),
  response: Me,
  errors: [...bodyErrors, "sign_in_refused", "rate_limited", "forbidden"],
});
