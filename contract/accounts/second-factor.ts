import { z } from "zod";
import { Success, Timestamp, Uuid } from "../common.ts";
import { operation } from "../operation.ts";

const bodyErrors = ["invalid_json", "invalid_input", "body_too_large"] as const;

/** The caller's second factor. */
const SecondFactor = z
  .strictObject({
    type: z.enum(["totp"]).nullable().meta({ description: "Null if two-factor authentication is off." }),
    since: Timestamp.nullable(),
    recovery_codes_left: z.int().min(0),
  })
  .meta({ id: "SecondFactor" });

const RecoveryCodes = z.strictObject({
  recovery_codes: z.array(z.string()).meta({
    description: "Ten codes, each of which replaces one code of the app. They are shown only once.",
  }),
});

export const getSecondFactor = operation({
  id: "getSecondFactor",
  tag: "Sign-in",
  gate: "every_version",
  permission: "account",
  setsUpAccount: true,
  method: "GET",
  path: "/_/api/v1/me/second-factor",
  summary: "Get My Second Factor",
  description: "Returns whether signing in with the caller's password takes a code too.",
  response: SecondFactor,
  errors: ["forbidden"],
});

export const addSecondFactor = operation({
  id: "addSecondFactor",
  tag: "Sign-in",
  gate: "every_version",
  permission: "account",
  setsUpAccount: true,
  method: "POST",
  path: "/_/api/v1/me/second-factor",
  summary: "Add Second Factor",
  description:
    "Creates the secret for an authenticator app (TOTP, RFC 6238: SHA-1, six digits, 30 seconds). It takes effect once a code of the app confirms it, within an hour. Attempts are throttled: 429 with `Retry-After`.",
  body: z.strictObject({ type: z.enum(["totp"]), password: z.string().min(1).max(4000) }),
  response: z.strictObject({
    secret: z.string().meta({ description: "In Base32, to type into an app." }),
    uri: z.string().meta({ description: "`otpauth:` URI, for a QR code." }),
  }),
  errors: [...bodyErrors, "forbidden", "wrong_state", "rate_limited"],
});

export const confirmSecondFactor = operation({
  id: "confirmSecondFactor",
  tag: "Sign-in",
  gate: "every_version",
  permission: "account",
  setsUpAccount: true,
  method: "POST",
  path: "/_/api/v1/me/second-factor/confirm",
  summary: "Confirm Second Factor",
  description:
    "Turns two-factor authentication on with a code of the app, and ends the caller's other sessions. Attempts are throttled: 429 with `Retry-After`.",
  body: z.strictObject({ code: z.string().min(1).max(100) }),
  response: RecoveryCodes,
  errors: [...bodyErrors, "forbidden", "wrong_state", "rate_limited"],
});

export const replaceRecoveryCodes = operation({
  id: "replaceRecoveryCodes",
  tag: "Sign-in",
  gate: "every_version",
  permission: "account",
  proof: "required",
  method: "POST",
  path: "/_/api/v1/me/second-factor/recovery-codes",
  summary: "Replace Recovery Codes",
  description: "Creates ten new recovery codes. Earlier ones stop working.",
  response: RecoveryCodes,
  errors: ["forbidden", "wrong_state"],
});

export const removeSecondFactor = operation({
  id: "removeSecondFactor",
  tag: "Sign-in",
  gate: "every_version",
  permission: "account",
  proof: "required",
  method: "DELETE",
  path: "/_/api/v1/me/second-factor",
  summary: "Remove Second Factor",
  description: "Turns two-factor authentication off.",
  response: Success,
  errors: ["forbidden", "wrong_state"],
});

export const resetSecondFactor = operation({
  id: "resetSecondFactor",
  tag: "Users and teams",
  gate: "every_version",
  permission: "admin",
  proof: "required",
  method: "DELETE",
  path: "/_/api/v1/users/:user_id/second-factor",
  summary: "Reset Second Factor",
  description:
    "Turns off the two-factor authentication of a user who has lost their authenticator app and recovery codes, removes their passkeys, and ends their sessions. Where the workspace requires a second factor and the user has a password, it also unlinks single sign-on, which counts as one. The user receives an email about it.",
  params: z.object({ user_id: Uuid }),
  response: Success,
  errors: ["forbidden", "not_found", "wrong_state"],
});
