import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";
import { type Configuration, Provider } from "oidc-provider";
import { type Browser, openBrowser } from "./accounts.ts";

/** How a provider differs from the plainest one. */
interface Shape {
  /** Path of the issuer, such as `/tenant/v2.0`. */
  readonly path?: string;
  /** Its id in Parley's settings. */
  readonly id?: string;
  /** Claims beside those of every provider. */
  readonly claims?: readonly string[];
  /** Whether claims are in the ID token too, not only in the userinfo. */
  readonly inIdToken?: boolean;
  /** Where Parley is reached under test, for back-channel logout. */
  readonly logoutAt?: () => string;
}

/** A real single sign-on provider. */
export interface TestProvider {
  readonly issuer: string;
  /** Claims of its users, by subject. */
  readonly people: Map<string, Record<string, unknown>>;
  /** Signs in at the URL that Parley sent the browser to. @returns the callback's path and query. */
  signIn(url: string, subject: string, there?: Browser): Promise<string>;
  /** Signs a browser in at the provider. @returns the callback's path and query. */
  visit(browser: Browser, subject: string, next?: string): Promise<string>;
  /** Signs a logout token. What is null is left out. */
  logoutToken(claims: Record<string, unknown>, header?: Record<string, unknown>): Promise<string>;
  /** A browser at the provider. */
  openBrowser(): Browser;
  close(): Promise<void>;
}

export const clientSecret = "a secret between the two of us";

const { privateKey } = await generateKeyPair("RS256", { extractable: true });
const key = { ...(await exportJWK(privateKey)), kid: "of-this-test", alg: "RS256", use: "sig" };

/**
 * Starts a provider whose sign-in page accepts any subject as the user name.
 * @param baseUrl the base URL of the Parley under test.
 */
export async function startProvider(
  port = 0,
  baseUrl = "http://parley.test",
  { path = "", id = "default", claims = [], inIdToken = false, logoutAt }: Shape = {},
): Promise<TestProvider> {
  const people = new Map<string, Record<string, unknown>>();
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const issuer = origin + path;
  const logoutPath = `/sign-in/back-channel-logout/${id}`;
  const configuration: Configuration = {
    clients: [
      {
        client_id: "parley",
        client_secret: clientSecret,
        redirect_uris: [`${baseUrl}/sign-in/callback${id === "default" ? "" : `/${id}`}`],
        ...(logoutAt === undefined
          ? {}
          : { backchannel_logout_uri: baseUrl + logoutPath, backchannel_logout_session_required: true }),
      },
    ],
    jwks: { keys: [key] },
    pkce: { required: () => true },
    claims: { openid: ["sub", ...claims], email: ["email", "email_verified"], profile: ["name"] },
    conformIdTokenClaims: !inIdToken,
    findAccount: (_context, sub) => ({ accountId: sub, claims: async () => ({ sub, ...people.get(sub) }) }),
    cookies: { keys: ["a key of this test"] },
    ...(logoutAt === undefined
      ? {}
      : {
          features: { backchannelLogout: { enabled: true } },
          fetch: (url, options) => {
            // Without the dispatcher, which allows no requests to this machine.
            const { method, headers, body } = options as RequestInit;
            return fetch(String(url).replace(baseUrl, logoutAt()), {
              ...(method === undefined ? {} : { method }),
              ...(headers === undefined ? {} : { headers }),
              ...(body === undefined ? {} : { body }),
            });
          },
        }),
  };
  const provider = new Provider(issuer, configuration);
  const handle = provider.callback();
  server.on("request", (request: IncomingMessage & { originalUrl?: string }, response) => {
    if (path !== "" && request.url?.startsWith(`${path}/`)) {
      request.originalUrl = request.url;
      request.url = request.url.slice(path.length);
    }
    void handle(request, response);
  });

  const signIn = async (
    url: string,
    subject: string,
    there = openBrowser({ url: origin }),
  ): Promise<string> => {
    let answer = await there.get(url);
    for (let step = 0; step < 12; step++) {
      if (answer.location?.startsWith(`${baseUrl}/`)) return answer.location.slice(baseUrl.length);
      if (answer.location !== null) answer = await there.get(answer.location);
      else {
        const action = /action="([^"]+)"/.exec(answer.text)?.[1] ?? "";
        const prompt = /name="prompt" value="(\w+)"/.exec(answer.text)?.[1] ?? "";
        answer = await there.send("POST", action, { form: { prompt, login: subject, password: "any" } });
      }
    }
    throw new Error(`the provider did not redirect back: ${answer.status} ${answer.text.slice(0, 500)}`);
  };

  return {
    issuer,
    people,
    signIn,
    async visit(browser, subject, next = "/") {
      const query = new URLSearchParams({ next, ...(id === "default" ? {} : { provider: id }) });
      const departure = await browser.get(`/sign-in/sso?${query}`);
      assert.equal(departure.status, 303, departure.text);
      return signIn(departure.location ?? "", subject);
    },
    logoutToken(changes, header = {}) {
      const claims: Record<string, unknown> = {
        iss: issuer,
        aud: "parley",
        iat: Math.floor(Date.now() / 1000),
        exp: Math.floor(Date.now() / 1000) + 120,
        jti: randomUUID(),
        events: { "http://schemas.openid.net/event/backchannel-logout": {} },
        ...changes,
      };
      const present = Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== null));
      return new SignJWT(present as JWTPayload)
        .setProtectedHeader({ alg: "RS256", kid: key.kid, typ: "logout+jwt", ...header })
        .sign(privateKey);
    },
    openBrowser: () => openBrowser({ url: origin }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
