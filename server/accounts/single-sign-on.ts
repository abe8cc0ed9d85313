import * as openid from "openid-client";
import { z } from "zod";
import type { SingleSignOnSettings } from "../config.ts";
import type { Sealer } from "../links/sealer.ts";

/** What a provider says of a person, checked. */
export interface ProvenIdentity {
  readonly issuer: string;
  readonly subject: string;
  readonly email: string | null;
  readonly isEmailVerified: boolean;
  readonly name: string | null;
}

/** What the browser keeps, encrypted, between leaving for the provider and coming back. */
const Departure = z.object({
  sealedFor: z.literal("single_sign_on"),
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  next: z.string(),
  expires: z.number(),
});

/** How long a person may take at the provider. */
export const departureTtlSec = 600;

/** A provider that says nothing for this long is taken to be away. */
const patienceSec = 10;

/** Why somebody can't come in, in words for them. */
export class SingleSignOnError extends Error {}

export interface SingleSignOn {
  /** @returns where to send the browser, and the cookie it gets along. */
  depart(next: string): Promise<{ location: URL; cookie: string }>;
  /**
   * @param query of the address the provider sent the browser back to.
   * @throws SingleSignOnError when the answer is not of this browser's departure, or not what the provider promises.
   */
  arrive(query: string, cookie: string | undefined): Promise<{ identity: ProvenIdentity; next: string }>;
}

/**
 * Single sign-on by OpenID Connect: authorization code with PKCE (RFC 7636), state, nonce, and the issuer of the answer
 * (RFC 9207) where the provider sends it. The provider is discovered when it is first needed, and again after a failure.
 */
export function openSingleSignOn(
  settings: SingleSignOnSettings,
  deps: { readonly baseUrl: string; readonly sealer: Sealer },
): SingleSignOn {
  const redirectUri = `${deps.baseUrl}/sign-in/callback`;
  let discovered: Promise<openid.Configuration> | null = null;

  const provider = (): Promise<openid.Configuration> => {
    discovered ??= openid
      .discovery(new URL(settings.issuer), settings.clientId, settings.clientSecret, undefined, {
        timeout: patienceSec,
        // The settings allow an issuer without TLS on this machine alone.
        ...(settings.issuer.startsWith("http:") ? { execute: [openid.allowInsecureRequests] } : {}),
      })
      .catch((error: unknown) => {
        discovered = null;
        throw error;
      });
    return discovered;
  };

  return {
    async depart(next) {
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
      const departure: z.input<typeof Departure> = {
        sealedFor: "single_sign_on",
        state,
        nonce,
        verifier,
        next,
        expires: Date.now() + departureTtlSec * 1000,
      };
      return { location, cookie: deps.sealer.seal(JSON.stringify(departure)).toString("base64url") };
    },

    async arrive(query, cookie) {
      const departure = openDeparture(deps.sealer, cookie);
      if (departure === null)
        throw new SingleSignOnError("This sign-in was begun in another browser, or too long ago.");
      const configuration = await provider();
      const answer = new URL(`${redirectUri}${query}`);
      if (answer.searchParams.has("error"))
        throw new SingleSignOnError("The provider did not let you in, or you turned back there.");
      const tokens = await openid.authorizationCodeGrant(configuration, answer, {
        pkceCodeVerifier: departure.verifier,
        expectedState: departure.state,
        expectedNonce: departure.nonce,
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (claims === undefined) throw new SingleSignOnError("The provider did not say who you are.");
      // Many providers say the email only when asked for it.
      const said =
        claims.email === undefined && configuration.serverMetadata().userinfo_endpoint !== undefined
          ? await openid.fetchUserInfo(configuration, tokens.access_token, claims.sub)
          : claims;
      return {
        identity: {
          issuer: claims.iss,
          subject: claims.sub,
          email: typeof said.email === "string" ? said.email : null,
          isEmailVerified: isVerified(said.email_verified, settings.trustEmail),
          name: typeof said.name === "string" && said.name.trim() !== "" ? said.name.trim() : null,
        },
        next: departure.next,
      };
    },
  };
}

/** Some providers write booleans as text. What one denies is never believed. */
function isVerified(claim: unknown, trustSilence: boolean): boolean {
  if (claim === undefined) return trustSilence;
  return claim === true || claim === "true";
}

function openDeparture(sealer: Sealer, cookie: string | undefined): z.output<typeof Departure> | null {
  if (cookie === undefined || cookie === "") return null;
  try {
    const departure = Departure.parse(JSON.parse(sealer.open(Buffer.from(cookie, "base64url"))));
    return departure.expires > Date.now() ? departure : null;
  } catch {
    // Not ours, changed, or of another secret.
    return null;
  }
}
