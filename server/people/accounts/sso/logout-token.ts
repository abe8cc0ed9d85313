import { createHash } from "node:crypto";
import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey, jwtVerify } from "jose";
import { sql } from "kysely";
import { recordAudit } from "../../../platform/audit/record.ts";
import type { SignInProvider } from "../../../platform/config/sign-in-providers.ts";
import type { Database } from "../../../platform/db/database.ts";
import { fetchBounded, type Provider } from "./provider.ts";

/** A logout token that is not accepted. The message is for the provider and has no secrets. */
export class LogoutTokenError extends Error {}

const event = "http://schemas.openid.net/event/backchannel-logout";

/** How far the clocks of provider and server may be apart. */
const toleranceSec = 60;

/** How old a token may be. Providers send one at once, and again if that fails. */
const maxAgeSec = 600;

/** Signatures by a key pair; the provider's metadata may allow fewer. */
const algorithms: ReadonlySet<string> = new Set([
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
]);

/** What a valid logout token says. */
export interface Logout {
  readonly issuer: string;
  readonly subject: string | null;
  readonly sid: string | null;
  readonly tokenId: string;
}

/** Fetches the provider's keys when they are needed first, and again for a key that is not known. */
export function keysOf({ configuration }: Provider): JWTVerifyGetKey {
  const { jwks_uri: url } = configuration.serverMetadata();
  if (url === undefined) throw new LogoutTokenError("the metadata of the provider names no keys");
  return createRemoteJWKSet(new URL(url), {
    timeoutDuration: 5000,
    [customFetch]: (address, options) => fetchBounded(address, options),
  });
}

/**
 * Validates a logout token. Source: https://openid.net/specs/openid-connect-backchannel-1_0.html.
 * @throws LogoutTokenError; other errors when the provider's keys can't be fetched.
 */
export async function readLogoutToken(
  token: string,
  { settings, provider, keys }: { settings: SignInProvider; provider: Provider; keys: JWTVerifyGetKey },
): Promise<Logout> {
  const { issuer, id_token_signing_alg_values_supported: listed = ["RS256"] } =
    provider.configuration.serverMetadata();
  const { payload, protectedHeader } = await jwtVerify(token, keys, {
    issuer,
    audience: settings.clientId,
    algorithms: listed.filter((algorithm) => algorithms.has(algorithm)),
    clockTolerance: toleranceSec,
    maxTokenAge: maxAgeSec,
    requiredClaims: ["iat", "jti", "events"],
  }).catch((error: unknown) => {
    throw isOfToken(error) ? new LogoutTokenError(`the logout token is not valid: ${error.message}`) : error;
  });
  // A token of another kind, such as an ID token, must not end sessions.
  const type = protectedHeader.typ?.toLowerCase();
  if (type !== undefined && type !== "jwt" && type !== "logout+jwt")
    throw new LogoutTokenError("the logout token has another type");
  const { events, nonce, sub, sid, jti = "" } = payload;
  if (nonce !== undefined) throw new LogoutTokenError("the logout token has a nonce");
  const said: unknown =
    typeof events === "object" && events !== null && Object.hasOwn(events, event)
      ? (events as Readonly<Record<string, unknown>>)[event]
      : null;
  if (typeof said !== "object" || said === null || Array.isArray(said))
    throw new LogoutTokenError("the logout token does not report a logout");
  if (sid !== undefined && typeof sid !== "string")
    throw new LogoutTokenError("the sid of the logout token is no text");
  if (sub === undefined && sid === undefined)
    throw new LogoutTokenError("the logout token has neither sub nor sid");
  return { issuer, subject: sub ?? null, sid: sid ?? null, tokenId: jti };
}

/** Whether an error of the library is about the token, and not about fetching keys. */
function isOfToken(error: unknown): error is Error {
  return (
    error instanceof errors.JOSEError &&
    !(error instanceof errors.JWKSTimeout) &&
    !(error instanceof errors.JWKSInvalid) &&
    error.code !== "ERR_JOSE_GENERIC"
  );
}

/**
 * Ends the sessions that a logout is about. Where it names a session of the provider that Parley doesn't know for the user,
 * all of the user's sessions without such a name end: one of them is meant.
 * @returns how many sessions ended.
 * @throws LogoutTokenError when the token was used before.
 */
export async function endLoggedOut(
  db: Database,
  { issuer, subject, sid, tokenId }: Logout,
  from: { readonly ip: string; readonly userAgent: string },
): Promise<number> {
  const hash = createHash("sha256")
    .update(JSON.stringify([issuer, tokenId]))
    .digest();
  return db.kysely.transaction().execute(async (tx) => {
    const isNew = await tx
      .insertInto("used_logout_tokens")
      .values({ hash, expires_at: sql<Date>`now() + make_interval(secs => ${maxAgeSec + 2 * toleranceSec})` })
      .onConflict((conflict) => conflict.doNothing())
      .returning("hash")
      .executeTakeFirst();
    if (isNew === undefined) throw new LogoutTokenError("the logout token was used before");
    const ended = await tx
      .deleteFrom("sessions as s")
      .using("users as u")
      .whereRef("u.id", "=", "s.user_id")
      .where("s.sign_in_issuer", "=", issuer)
      .$if(subject !== null, (query) => query.where("s.sign_in_subject", "=", subject))
      .$if(sid !== null, (query) =>
        query.where((of) =>
          of.or([
            of("s.sign_in_sid", "=", sid),
            ...(subject === null ? [] : [of("s.sign_in_sid", "is", null)]),
          ]),
        ),
      )
      .returning(["s.id", "u.id as user_id", "u.workspace_id", "u.email_key"])
      .execute();
    for (const { id, user_id, workspace_id, email_key } of ended)
      await recordAudit(
        tx,
        {
          ...{ workspaceId: workspace_id, userId: user_id, userEmail: email_key },
          ...{ credential: null, credentialId: null, ...from },
        },
        { action: "signed_out", details: { by: "provider", session: id } },
      );
    return ended.length;
  });
}
