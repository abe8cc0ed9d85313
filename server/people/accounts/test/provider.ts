import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Provider } from "oidc-provider";
import { type Browser, openBrowser } from "./accounts.ts";

/** A real single sign-on provider. */
export interface TestProvider {
  readonly issuer: string;
  /** Claims of its users, by subject. */
  readonly people: Map<string, Record<string, unknown>>;
  /** Signs in at the URL that Parley sent the browser to. @returns the callback's path and query. */
  signIn(url: string, subject: string): Promise<string>;
  /** Signs a browser in at the provider. @returns the callback's path and query. */
  visit(browser: Browser, subject: string, next?: string): Promise<string>;
  close(): Promise<void>;
}

export const clientSecret = "a secret between the two of us";

/**
 * Starts a provider whose sign-in page accepts any subject as the user name.
 * @param baseUrl the base URL of the Parley under test.
 */
export async function startProvider(port = 0, baseUrl = "http://parley.test"): Promise<TestProvider> {
  const people = new Map<string, Record<string, unknown>>();
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: "parley",
        client_secret: clientSecret,
        redirect_uris: [`${baseUrl}/sign-in/callback`],
      },
    ],
    pkce: { required: () => true },
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
    findAccount: (_context, sub) => ({ accountId: sub, claims: async () => ({ sub, ...people.get(sub) }) }),
    cookies: { keys: ["a key of this test"] },
  });
  server.on("request", provider.callback());

  const signIn = async (url: string, subject: string): Promise<string> => {
    const there = openBrowser({ url: issuer });
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
      const departure = await browser.get(`/sign-in/sso?next=${encodeURIComponent(next)}`);
      assert.equal(departure.status, 303, departure.text);
      return signIn(departure.location ?? "", subject);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
