import * as openid from "openid-client";
import { defaultProviderId } from "../../../../contract/default-provider.ts";
import type { SignInProvider } from "../../../platform/config/sign-in-providers.ts";
import { outboundFetch } from "../../../platform/outbound/dispatcher.ts";
import { describeProxyRefusal } from "../../../platform/outbound/proxy.ts";

/** The settings don't fit the provider. The message names the setting and what to do. */
export class ProviderSettingsError extends Error {}

/** How long to wait for a response of the provider. */
const timeoutSec = 10;

/** Metadata, keys, tokens and claims have a few kilobytes. */
const maxResponseBytes = 1024 * 1024;

/** How the client secret is sent, the likeliest to work first. */
const knownMethods = [
  ["client_secret_post", openid.ClientSecretPost],
  ["client_secret_basic", openid.ClientSecretBasic],
] as const;

/** A provider whose metadata was read. */
export interface Provider {
  readonly configuration: openid.Configuration;
  /** The methods of the token endpoint that both sides know. */
  readonly methods: readonly string[];
  /**
   * Runs a request to the token endpoint. A refusal of the client is tried again with the other method: some providers
   * list what they know, and accept only what the client was registered with. An authorization code stays valid.
   * @throws ProviderSettingsError when the provider refuses the client by every method.
   */
  authenticated<Result>(request: () => Promise<Result>): Promise<Result>;
}

/**
 * Reads the provider's metadata.
 * @throws ProviderSettingsError when it contradicts the settings; other errors when the provider can't be reached.
 */
export async function discoverProvider(settings: SignInProvider): Promise<Provider> {
  const { issuer, clientId, clientSecret } = settings;
  let authenticate: openid.ClientAuth = openid.None();
  const server = new URL(issuer);
  const configuration = await openid
    .discovery(server, clientId, { client_secret: clientSecret }, (...request) => authenticate(...request), {
      timeout: timeoutSec,
      [openid.customFetch]: (url, options) =>
        url.endsWith("/.well-known/openid-configuration")
          ? fetchMetadata(url, options, settings)
          : fetchWithoutNulls(url, options),
      // The settings allow an issuer without TLS on localhost only.
      ...(server.protocol === "http:" ? { execute: [openid.allowInsecureRequests] } : {}),
    })
    .catch((error: unknown) => {
      throw explain(error, settings);
    });
  // The default is of OpenID Connect Discovery, section 3.
  const listed = configuration.serverMetadata().token_endpoint_auth_methods_supported;
  const known = knownMethods.filter(([name]) => listed?.includes(name) ?? true);
  const ways = listed === undefined ? known.toReversed() : known;
  let preferred = ways[0];
  if (preferred === undefined)
    throw new ProviderSettingsError(
      `the provider at ${issuer} accepts only ${listed?.join(", ")} at its token endpoint; configure it to accept client_secret_basic or client_secret_post`,
    );
  authenticate = (...request) => preferred?.[1](clientSecret)(...request);
  return {
    configuration,
    methods: ways.map(([name]) => name),
    async authenticated(request) {
      for (let tries = 0; ; tries++) {
        const used = preferred;
        try {
          return await request();
        } catch (error) {
          if (!isClientRefused(error)) throw error;
          if (preferred === used) preferred = ways.find((way) => way !== used) ?? used;
          if (tries + 1 >= ways.length)
            throw new ProviderSettingsError(
              `the provider at ${issuer} refuses the client (${ways.map(([name]) => name).join(", ")}); check ${settingOf(settings, "client_id")} and ${settingOf(settings, "client_secret")}`,
              { cause: error },
            );
        }
      }
    },
  };
}

/** The name under which an admin finds a value of a provider. */
function settingOf(
  { id, name }: Pick<SignInProvider, "id" | "name">,
  field: "issuer" | "client_id" | "client_secret",
): string {
  return id === defaultProviderId
    ? `PARLEY_OIDC_${field.toUpperCase()}`
    : `the ${field.replaceAll("_", " ")} of ${name}`;
}

/**
 * Where the provider sends the browser back to; registered there. Each provider has its own, so that no response passes for
 * that of another. Source: RFC 9700, section 4.4.2.
 */
export function redirectUriOf(baseUrl: string, provider: string): string {
  return `${baseUrl}/sign-in/callback${provider === defaultProviderId ? "" : `/${provider}`}`;
}

/** A new sign-in: the URL at the provider, and what its response must fit. */
export async function beginAuthorization(
  configuration: openid.Configuration,
  { redirectUri, scopes }: { readonly redirectUri: string; readonly scopes: readonly string[] },
  parameters: Readonly<Record<string, string>> = {},
): Promise<{ location: URL; state: string; nonce: string; verifier: string }> {
  const verifier = openid.randomPKCECodeVerifier();
  const [state, nonce] = [openid.randomState(), openid.randomNonce()];
  const location = openid.buildAuthorizationUrl(configuration, {
    redirect_uri: redirectUri,
    scope: [...new Set(["openid", "email", "profile", ...scopes])].join(" "),
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    state,
    nonce,
    ...parameters,
  });
  return { location, state, nonce, verifier };
}

/**
 * Fetches the metadata. Providers that sign userinfo often don't list how: as ID tokens then. Both arrive over TLS from the
 * provider itself.
 */
async function fetchMetadata(
  url: string,
  options: openid.CustomFetchOptions,
  settings: SignInProvider,
): Promise<Response> {
  const response = await fetchBounded(url, options);
  if (response.status >= 500) throw new Error(`${url} responded with status ${response.status}`);
  const json: unknown = response.status === 200 ? await response.json().catch(nullIfNotJson) : null;
  const metadata = json as { id_token_signing_alg_values_supported?: unknown } | null;
  if (typeof metadata !== "object" || metadata === null)
    throw new ProviderSettingsError(
      `there is no OpenID configuration at ${url} (status ${response.status}); check ${settingOf(settings, "issuer")}`,
    );
  const { id_token_signing_alg_values_supported: algorithms = ["RS256"] } = metadata;
  return Response.json({ userinfo_signing_alg_values_supported: algorithms, ...metadata });
}

function nullIfNotJson(error: unknown): null {
  if (error instanceof SyntaxError) return null;
  throw error;
}

/** Sends a request. Its response fails as soon as it is longer than `maxResponseBytes`. */
export async function fetchBounded(url: string, options: object): Promise<Response> {
  const response = await outboundFetch(url, options as RequestInit);
  if (response.body === null) return response;
  let size = 0;
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      size += chunk.length;
      if (size > maxResponseBytes)
        controller.error(new Error(`${url} responded with more than ${maxResponseBytes} bytes`));
      else controller.enqueue(chunk);
    },
  });
  return new Response(response.body.pipeThrough(limit), response);
}

/** Fetches JSON without its members that are null, which some providers send for what they don't have. */
async function fetchWithoutNulls(url: string, options: openid.CustomFetchOptions): Promise<Response> {
  const response = await fetchBounded(url, options);
  const text = await response.text();
  // A response without content may have no body, not even an empty one.
  return new Response(text === "" ? null : withoutNulls(text), response);
}

function withoutNulls(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return text;
    return JSON.stringify(Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null)));
  } catch {
    // Not JSON: the library says so.
    return text;
  }
}

function explain(error: unknown, settings: SignInProvider): unknown {
  const { issuer } = settings;
  const name = settingOf(settings, "issuer");
  const { cause } = error as { cause?: { attribute?: unknown; body?: { issuer?: unknown } } };
  const refusal = describeProxyRefusal(error);
  if (refusal !== null) return new Error(`${issuer} can't be reached: ${refusal}`, { cause });
  if (cause instanceof Error) return cause;
  if (cause?.attribute !== "issuer") return error;
  const own = String(cause.body?.issuer);
  return new ProviderSettingsError(
    `${name} is ${issuer}, but the provider names itself ${own}; set ${name} to ${own}`,
  );
}

/** RFC 6749, section 5.2. */
function isClientRefused(error: unknown): boolean {
  if (error instanceof openid.ResponseBodyError)
    return ["invalid_client", "unauthorized_client"].includes(error.error);
  return error instanceof openid.WWWAuthenticateChallengeError && error.status === 401;
}
