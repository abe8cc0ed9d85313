import * as openid from "openid-client";
import { z } from "zod";
import type { SingleSignOnSettings } from "../../platform/config/config.ts";
import type { Encryptor } from "../../platform/crypto/encryptor.ts";

/** A user as the provider identifies them, verified. */
export interface ProvenIdentity {
  readonly issuer: string;
  readonly subject: string;
  readonly email: string | null;
  readonly isEmailVerified: boolean;
  readonly name: string | null;
}

/** A sign-in in progress. The browser keeps it, encrypted, while the user is at the provider. */
const PendingSignIn = z.object({
  encryptedFor: z.literal("single_sign_on"),
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  next: z.string(),
  expires: z.number(),
});

/** How long a user may take at the provider. */
export const signInTtlSec = 600;

/** How long to wait for a response of the provider. */
const timeoutSec = 10;

/** Why a sign-in failed, with a message for the user. */
export class SingleSignOnError extends Error {}

export interface SingleSignOn {
  /** @returns the URL to redirect the browser to, and the cookie to set. */
  start(next: string): Promise<{ location: URL; cookie: string }>;
  /**
   * @param query of the URL the provider redirected the browser to.
   * @throws SingleSignOnError when this browser did not start the sign-in, or the provider refused it.
   */
  finish(query: string, cookie: string | undefined): Promise<{ identity: ProvenIdentity; next: string }>;
}

/**
 * Single sign-on by OpenID Connect: authorization code with PKCE (RFC 7636), state, nonce, and the issuer parameter
 * (RFC 9207) when the provider sends it. The provider's metadata is fetched on first use, and again after a failure.
 */
export function openSingleSignOn(
  settings: SingleSignOnSettings,
  deps: { readonly baseUrl: string; readonly encryptor: Encryptor },
): SingleSignOn {
  const redirectUri = `${deps.baseUrl}/sign-in/callback`;
  let discovered: Promise<openid.Configuration> | null = null;

  const provider = (): Promise<openid.Configuration> => {
    discovered ??= openid
      .discovery(new URL(settings.issuer), settings.clientId, settings.clientSecret, undefined, {
        timeout: timeoutSec,
        // The settings allow an issuer without TLS on localhost only.
        ...(settings.issuer.startsWith("http:") ? { execute: [openid.allowInsecureRequests] } : {}),
      })
      .catch((error: unknown) => {
        discovered = null;
        throw error;
      });
    return discovered;
  };

  return {
    async start(next) {
      const configuration = await provider();
      const verifier = openid.randomPKCECodeVerifier();
      const [state, nonce] = [openid.randomState(), openid.randomNonce()];
      const location = openid.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: "openid email profile",
        code_challenge: await openid.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
        state,
        nonce,
      });
      const pending: z.input<typeof PendingSignIn> = {
        encryptedFor: "single_sign_on",
        state,
        nonce,
        verifier,
        next,
        expires: Date.now() + signInTtlSec * 1000,
      };
      return { location, cookie: deps.encryptor.encrypt(JSON.stringify(pending)).toString("base64url") };
    },

    async finish(query, cookie) {
      const pending = decryptPendingSignIn(deps.encryptor, cookie);
      if (pending === null)
        throw new SingleSignOnError(
          "This sign-in has expired or was started in another browser. Sign in again.",
        );
      const configuration = await provider();
      const callback = new URL(`${redirectUri}${query}`);
      if (callback.searchParams.has("error"))
        throw new SingleSignOnError(
          "The provider refused the sign-in, or you cancelled it. Sign in again, or ask an admin.",
        );
      const tokens = await openid.authorizationCodeGrant(configuration, callback, {
        pkceCodeVerifier: pending.verifier,
        expectedState: pending.state,
        expectedNonce: pending.nonce,
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (claims === undefined)
        throw new SingleSignOnError(
          "The provider did not say who you are. Ask an admin to check the single sign-on settings.",
        );
      // Many providers return the email only from the userinfo endpoint.
      const profile =
        claims.email === undefined && configuration.serverMetadata().userinfo_endpoint !== undefined
          ? await openid.fetchUserInfo(configuration, tokens.access_token, claims.sub)
          : claims;
      return {
        identity: {
          issuer: claims.iss,
          subject: claims.sub,
          email: typeof profile.email === "string" ? profile.email : null,
          isEmailVerified: isVerified(profile.email_verified, settings.trustEmail),
          name: typeof profile.name === "string" && profile.name.trim() !== "" ? profile.name.trim() : null,
        },
        next: pending.next,
      };
    },
  };
}

/** Some providers send booleans as text. A claim of false always counts as unverified. */
function isVerified(claim: unknown, trustMissing: boolean): boolean {
  if (claim === undefined) return trustMissing;
  return claim === true || claim === "true";
}

function decryptPendingSignIn(
  encryptor: Encryptor,
  cookie: string | undefined,
): z.output<typeof PendingSignIn> | null {
  if (cookie === undefined || cookie === "") return null;
  try {
    const pending = PendingSignIn.parse(JSON.parse(encryptor.decrypt(Buffer.from(cookie, "base64url"))));
    return pending.expires > Date.now() ? pending : null;
  } catch {
    // Not a cookie of this server, modified, or encrypted with another secret.
    return null;
  }
}
