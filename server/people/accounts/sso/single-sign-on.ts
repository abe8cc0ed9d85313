import type { JWTVerifyGetKey } from "jose";
import * as openid from "openid-client";
import { z } from "zod";
import { foldCase } from "../../../../shared/fold-case.ts";
import type { SignInProvider } from "../../../platform/config/sign-in-providers.ts";
import type { Encryptor } from "../../../platform/crypto/encryptor.ts";
import type { Localized } from "../../../platform/language/i18n.ts";
import { decryptState, encryptState } from "../sign-in/encrypted-state.ts";
import { type GroupsClaim, lacksGroups, readGroups } from "./groups-claim.ts";
import { keysOf, type Logout, readLogoutToken } from "./logout-token.ts";
import { beginAuthorization, discoverProvider, type Provider, redirectUriOf } from "./provider.ts";

/** A user as the provider identifies them, verified. */
export interface ProvenIdentity {
  readonly issuer: string;
  readonly subject: string;
  readonly email: string | null;
  /** Null: the provider does not say. */
  readonly isEmailVerified: boolean | null;
  readonly name: string | null;
  /** The provider's name of its own session; null: it has none. */
  readonly sid: string | null;
  readonly groups: GroupsClaim;
}

/** A sign-in in progress. The browser keeps it, encrypted, while the user is at the provider. */
const PendingSignIn = z.object({
  encryptedFor: z.literal("single_sign_on"),
  /** The provider, and the issuer that it had: its response is accepted from no other. */
  provider: z.string(),
  issuer: z.string(),
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  next: z.string(),
  /** The user who connects the provider with their account, and their session; null: someone signs in. */
  connects: z.object({ userId: z.string(), sessionId: z.string() }).nullable(),
  expires: z.number(),
});

/** Who connects a provider with their account. */
export type Connects = NonNullable<z.output<typeof PendingSignIn>["connects"]>;

/** How long a user may take at the provider. */
export const signInTtlSec = 600;

/** Why a sign-in failed. */
export class SingleSignOnError extends Error {
  /** For the user. */
  readonly text: Localized;
  /** What an admin can do, for the log. */
  readonly hint: string | null;

  constructor(text: Localized, hint: string | null = null) {
    super(hint ?? "the sign-in was refused");
    this.text = text;
    this.hint = hint;
  }
}

export interface SingleSignOn {
  /** @returns the URL to redirect the browser to, and the cookie to set. */
  start(next: string, connects: Connects | null): Promise<{ location: URL; cookie: string }>;
  /**
   * @param query of the URL the provider redirected the browser to.
   * @throws SingleSignOnError when this browser did not start the sign-in, or the provider refused it.
   */
  finish(
    query: string,
    cookie: string | undefined,
  ): Promise<{ identity: ProvenIdentity; claims: Claims; next: string; connects: Connects | null }>;
  /**
   * Validates what the provider sends when a user signs out there.
   * @throws LogoutTokenError; other errors when the provider can't be reached.
   */
  readLogout(token: string): Promise<Logout>;
}

/**
 * Single sign-on by OpenID Connect: authorization code with PKCE (RFC 7636), state, nonce, and the issuer parameter
 * (RFC 9207) when the provider sends it. The provider's metadata is fetched on first use, and again after a failure.
 */
export function openSingleSignOn(
  settings: SignInProvider,
  deps: { readonly baseUrl: string; readonly encryptor: Encryptor },
): SingleSignOn {
  const redirectUri = redirectUriOf(deps.baseUrl, settings.id);
  let discovered: Promise<Provider> | null = null;

  const provider = (): Promise<Provider> => {
    discovered ??= discoverProvider(settings).catch((error: unknown) => {
      discovered = null;
      throw error;
    });
    return discovered;
  };

  let keys: JWTVerifyGetKey | null = null;

  return {
    async readLogout(token) {
      const known = await provider();
      keys ??= keysOf(known);
      return readLogoutToken(token, { settings, provider: known, keys });
    },

    async start(next, connects) {
      const { configuration } = await provider();
      const { location, ...checks } = await beginAuthorization(configuration, {
        redirectUri,
        scopes: settings.scopes,
      });
      const pending: z.input<typeof PendingSignIn> = {
        encryptedFor: "single_sign_on",
        provider: settings.id,
        issuer: settings.issuer,
        ...checks,
        next,
        connects,
        expires: Date.now() + signInTtlSec * 1000,
      };
      return { location, cookie: encryptState(deps.encryptor, pending) };
    },

    async finish(query, cookie) {
      const pending = decryptState(deps.encryptor, PendingSignIn, cookie);
      if (pending === null)
        throw new SingleSignOnError((i18n) =>
          i18n.t("This sign-in has expired or was started in another browser. Sign in again."),
        );
      if (pending.provider !== settings.id || pending.issuer !== settings.issuer)
        throw new SingleSignOnError((i18n) =>
          i18n.t(
            "This sign-in was started at another provider, or the provider was changed meanwhile. Sign in again.",
          ),
        );
      const { configuration, authenticated } = await provider();
      const callback = new URL(`${redirectUri}${query}`);
      if (callback.searchParams.has("error"))
        throw new SingleSignOnError((i18n) =>
          i18n.t("The provider refused the sign-in, or you cancelled it. Sign in again, or ask an admin."),
        );
      const tokens = await authenticated(() =>
        openid.authorizationCodeGrant(configuration, callback, {
          pkceCodeVerifier: pending.verifier,
          expectedState: pending.state,
          expectedNonce: pending.nonce,
          idTokenExpected: true,
        }),
      );
      const claims = tokens.claims();
      if (claims === undefined)
        throw new SingleSignOnError((i18n) =>
          i18n.t("The provider did not say who you are. Ask an admin to check the single sign-on settings."),
        );
      const hasUserInfo = configuration.serverMetadata().userinfo_endpoint !== undefined;
      const profile =
        hasUserInfo && isIncomplete(claims, settings)
          ? mergeClaims(claims, await openid.fetchUserInfo(configuration, tokens.access_token, claims.sub))
          : claims;
      return {
        identity: {
          issuer: claims.iss,
          subject: claims.sub,
          email: typeof profile.email === "string" ? profile.email : null,
          isEmailVerified: isVerified(profile.email_verified) ?? (settings.trustEmail || null),
          name: typeof profile.name === "string" && profile.name.trim() !== "" ? profile.name.trim() : null,
          sid: typeof claims.sid === "string" && claims.sid.length <= 500 ? claims.sid : null,
          groups: readGroups(profile, settings.groupsClaim),
        },
        claims: profile,
        next: pending.next,
        connects: pending.connects,
      };
    },
  };
}

type Claims = Readonly<Record<string, unknown>>;

/** Many providers return the email, whether it is verified, or groups only from the userinfo endpoint. */
function isIncomplete(claims: Claims, { trustEmail, groupsClaim }: SignInProvider): boolean {
  return (
    (claims.email ?? null) === null ||
    (isVerified(claims.email_verified) === null && !trustEmail) ||
    lacksGroups(claims, groupsClaim)
  );
}

/** The claims of the userinfo before those of the ID token. What either says about another email does not count. */
function mergeClaims(token: Claims, userInfo: Claims): Claims {
  const isSameEmail =
    token.email === undefined ||
    userInfo.email === undefined ||
    foldCase(String(token.email)) === foldCase(String(userInfo.email));
  return isSameEmail ? { ...token, ...userInfo } : { ...userInfo };
}

/** Some providers send booleans as text or numbers. Any other claim counts as unverified; null: there is none. */
function isVerified(claim: unknown): boolean | null {
  if (claim === undefined || claim === null) return null;
  return ["true", "1"].includes(String(claim).toLowerCase());
}
