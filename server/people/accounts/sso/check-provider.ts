import * as openid from "openid-client";
import { sentenceOf } from "../../../../contract/sentences.ts";
import type { SignInProvider } from "../../../platform/config/sign-in-providers.ts";
import { outboundFetch } from "../../../platform/outbound/dispatcher.ts";
import {
  beginAuthorization,
  discoverProvider,
  type Provider,
  ProviderSettingsError,
  redirectUriOf,
} from "./provider.ts";

const timeoutMs = 10_000;

/** Responses that say only that a user would have to act. Source: OpenID Connect Core 1.0, section 3.1.2.6. */
const needsUser: ReadonlySet<string | null> = new Set([
  null,
  "account_selection_required",
  "consent_required",
  "interaction_required",
  "login_required",
]);

/**
 * Begins a sign-in as far as is possible without a user: reads the metadata, asks for a sign-in without interaction, and
 * redeems a code that does not exist, which shows whether the client secret is right.
 * @returns what was found out, as the end of a sentence.
 * @throws ProviderSettingsError when settings and provider don't fit; other errors when the provider can't be reached.
 */
export async function checkProvider(settings: SignInProvider, baseUrl: string): Promise<string> {
  const provider = await discoverProvider(settings);
  const redirectUri = redirectUriOf(baseUrl, settings.id);
  const { location, state, verifier } = await beginAuthorization(
    provider.configuration,
    { redirectUri, scopes: settings.scopes },
    { prompt: "none" },
  );
  const response = await outboundFetch(location, {
    redirect: "manual",
    signal: AbortSignal.timeout(timeoutMs),
  });
  await response.body?.cancel();
  const back = URL.parse(response.headers.get("location") ?? "", location);
  const isBack = back !== null && back.origin + back.pathname === redirectUri;
  const refusal = isBack ? back.searchParams.get("error") : null;
  if (!needsUser.has(refusal))
    throw new ProviderSettingsError(
      sentenceOf("sign_in_refuses", { issuer: settings.issuer, error: refusal ?? "" }),
    );
  if (response.status >= 400)
    throw new ProviderSettingsError(
      sentenceOf("sign_in_refuses_client", {
        ...{ issuer: settings.issuer, status: response.status, uri: redirectUri, client: settings.clientId },
      }),
    );
  const hasCode = isBack && back.searchParams.has("code");
  const isSecretRight = !hasCode && (await redeemNothing(provider, redirectUri, { state, verifier }));
  const methods = provider.methods.join(", ");
  return [
    isBack
      ? `accepts the redirect URI ${redirectUri}`
      : `does not say whether it accepts the redirect URI ${redirectUri}`,
    isSecretRight ? `and the client secret (${methods})` : `and takes the client secret by ${methods}`,
  ].join(" ");
}

/** @returns whether the provider accepts the client secret. @throws ProviderSettingsError when it does not. */
async function redeemNothing(
  { configuration, authenticated }: Provider,
  redirectUri: string,
  { state, verifier }: { readonly state: string; readonly verifier: string },
): Promise<boolean> {
  const callback = new URL(redirectUri);
  callback.search = new URLSearchParams({ code: "parley-doctor", state }).toString();
  // A provider that adds its issuer to responses must do so. Source: RFC 9207, section 2.4.
  const { issuer, authorization_response_iss_parameter_supported: sendsIssuer } =
    configuration.serverMetadata();
  if (sendsIssuer) callback.searchParams.set("iss", issuer);
  try {
    await authenticated(() =>
      openid.authorizationCodeGrant(configuration, callback, {
        pkceCodeVerifier: verifier,
        expectedState: state,
      }),
    );
  } catch (error) {
    if (error instanceof ProviderSettingsError) throw error;
    // Only after the client was accepted is the code looked at.
    return error instanceof openid.ResponseBodyError && error.error === "invalid_grant";
  }
  return false;
}
