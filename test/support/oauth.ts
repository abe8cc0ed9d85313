import { createHash, randomBytes } from "node:crypto";
import { createSession } from "../../server/people/accounts/sign-in/sessions.ts";
import { type ClientInput, createClient } from "../../server/people/oauth/clients/clients.ts";
import type { ClientRow } from "../../server/people/oauth/clients/queries.ts";
import { commandLine } from "../../server/platform/audit/record.ts";
import type { TestApp } from "./app.ts";
import { makeWorkspace, type TestUser, type TestWorkspace } from "./factories.ts";
import { assertDescribed } from "./openapi.ts";
import { cheapHash } from "./passwords.ts";

export const password = "correct horse battery staple";
export const authorizePath = "/_/public-api/oauth2/authorize";
export const tokenPath = "/_/public-api/oauth2/token";
export const revokePath = "/_/public-api/oauth2/revoke";
export const redirectUri = "https://app.example.com/callback";

/** A workspace whose users can sign in with `password`. */
export async function makeOAuthWorkspace(app: TestApp): Promise<TestWorkspace> {
  const workspace = await makeWorkspace(app.db);
  await app.db.pool.query("update users set password_hash = $1 where workspace_id = $2", [
    await cheapHash(password),
    workspace.id,
  ]);
  return workspace;
}

export interface TestClient {
  readonly id: string;
  readonly secret: string | null;
  readonly row: ClientRow;
}

export async function makeClient(
  app: TestApp,
  workspace: { readonly id: string },
  input: Partial<ClientInput> = {},
): Promise<TestClient> {
  const { client, secret } = await app.db.kysely.transaction().execute((tx) =>
    createClient(tx, commandLine(workspace.id), {
      name: "Harbour notes",
      redirectUris: [redirectUri],
      corsOrigins: [],
      isPublic: false,
      isLegacy: false,
      datetimeFilters: "contract",
      compatibility: "none",
      ...input,
    }),
  );
  return { id: client.id, secret, row: client };
}

export function makePkce(): { verifier: string; challenge: string } {
  const verifier = randomBytes(32).toString("base64url");
  return { verifier, challenge: createHash("sha256").update(verifier).digest("base64url") };
}

/** A browser without scripts: keeps cookies, follows redirects within this server, submits forms. */
export interface Browser {
  /** Cookies by name. */
  readonly cookies: Map<string, string>;
  get(path: string, headers?: Record<string, string>): Promise<Shown>;
  /** Sends a page's form with these fields added. */
  submit(page: Shown, fields: Record<string, string>, headers?: Record<string, string>): Promise<Shown>;
}

/** The page where the browser ended, or a URL outside this server. */
interface Shown {
  readonly status: number;
  readonly headers: Headers;
  readonly html: string;
  /** The URL of another site that it was redirected to. */
  readonly leftTo: URL | null;
  readonly form: { readonly action: string; readonly hidden: Readonly<Record<string, string>> } | null;
}

export function openBrowser(app: { readonly url: string }): Browser {
  const cookies = new Map<string, string>();
  const visit = async (path: string, init: RequestInit): Promise<Shown> => {
    const headers = new Headers(init.headers);
    if (cookies.size > 0)
      headers.set("cookie", [...cookies].map(([name, value]) => `${name}=${value}`).join("; "));
    const response = await fetch(app.url + path, { ...init, headers, redirect: "manual" });
    const html = await response.text();
    for (const cookie of response.headers.getSetCookie()) {
      const [pair = ""] = cookie.split(";");
      cookies.set(pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1));
    }
    const location = response.headers.get("location");
    if (location?.startsWith("/")) return visit(location, { method: "GET" });
    return {
      status: response.status,
      headers: response.headers,
      html,
      leftTo: location === null ? null : new URL(location),
      form: readForm(html),
    };
  };
  return {
    cookies,
    get: (path, headers = {}) => visit(path, { headers }),
    submit(page, fields, headers = {}) {
      if (page.form === null) throw new Error(`the page has no form: ${page.status} ${page.html}`);
      return visit(page.form.action, {
        method: "POST",
        headers: { ...headers, "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams({ ...page.form.hidden, ...fields }).toString(),
      });
    },
  };
}

/** A browser with a signed-in user. */
export async function openSignedIn(app: TestApp, user: Pick<TestUser, "id">): Promise<Browser> {
  const browser = openBrowser(app);
  const { cookie } = await app.db.kysely
    .transaction()
    .execute((tx) =>
      createSession(tx, { userId: user.id, method: "password", ip: "127.0.0.1", userAgent: "test" }),
    );
  browser.cookies.set("parley_session", cookie);
  return browser;
}

function readForm(html: string): Shown["form"] {
  const form = /<form method="post" action="([^"]*)">([\s\S]*?)<\/form>/.exec(html);
  if (form === null) return null;
  const inputs = (form[2] ?? "").matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g);
  return {
    action: decodeEntities(form[1] ?? ""),
    hidden: Object.fromEntries(
      [...inputs].map(([, name = "", value = ""]) => [decodeEntities(name), decodeEntities(value)]),
    ),
  };
}

function decodeEntities(text: string): string {
  const entities: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };
  return text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => entities[name] ?? "");
}

/** The URL of an authorization request; undefined parameters are left out. */
export function authorizeUrl(
  client: { readonly id: string },
  parameters: Record<string, string | undefined> = {},
): string {
  const all = {
    response_type: "code",
    client_id: client.id,
    redirect_uri: redirectUri,
    state: "st-1",
    ...parameters,
  };
  const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return `${authorizePath}?${new URLSearchParams(given)}`;
}

/** Completes an authorization as a user: signs in if required and clicks a button. */
export async function decide(
  browser: Browser,
  path: string,
  user: Pick<TestUser, "email">,
  button: "allow" | "deny" = "allow",
): Promise<URL> {
  let page = await browser.get(path);
  if (page.html.includes('name="password"'))
    page = await browser.submit(page, { email: user.email, password });
  if (page.html.includes('name="allow"')) page = await browser.submit(page, { [button]: "1" });
  if (page.leftTo === null)
    throw new Error(`the user was not redirected to the app: ${page.status} ${page.html}`);
  return page.leftTo;
}

/** Obtains a new authorization code of a client for a user. */
export async function obtainCode(
  app: TestApp,
  client: TestClient,
  user: TestUser,
  options: { browser?: Browser; parameters?: Record<string, string | undefined> } = {},
): Promise<{ code: string; verifier: string }> {
  const { verifier, challenge } = makePkce();
  const path = authorizeUrl(client, {
    code_challenge: challenge,
    code_challenge_method: "S256",
    ...options.parameters,
  });
  const back = await decide(options.browser ?? (await openSignedIn(app, user)), path, user);
  const code = back.searchParams.get("code");
  if (code === null) throw new Error(`no code came back: ${back}`);
  return { code, verifier };
}

export interface TokenReply {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response and assert on it.
  readonly body: any;
}

/** Sends JSON or a form to the token or revocation endpoint, and checks that the OpenAPI document describes the response. */
export async function ask(
  app: { readonly url: string },
  path: string,
  fields: Record<string, unknown>,
  options: { form?: boolean; headers?: Record<string, string>; signal?: AbortSignal } = {},
): Promise<TokenReply> {
  const response = await fetch(app.url + path, {
    method: "POST",
    headers: {
      "content-type": options.form ? "application/x-www-form-urlencoded" : "application/json",
      ...options.headers,
    },
    body: options.form
      ? new URLSearchParams(fields as Record<string, string>).toString()
      : JSON.stringify(fields),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
  const text = await response.text();
  const { status, headers } = response;
  const body = text === "" ? null : JSON.parse(text);
  assertDescribed(undefined, "POST", path, { status, headers, body });
  return { status, headers, body };
}

/** The credentials a client sends in the body. */
export function credentials(client: TestClient): Record<string, string> {
  return { client_id: client.id, ...(client.secret === null ? {} : { client_secret: client.secret }) };
}

export function exchange(
  app: { readonly url: string },
  client: TestClient,
  input: { code: string; verifier?: string | undefined },
  more: Record<string, unknown> = {},
): Promise<TokenReply> {
  return ask(app, tokenPath, {
    grant_type: "authorization_code",
    code: input.code,
    ...(input.verifier === undefined ? {} : { code_verifier: input.verifier }),
    ...credentials(client),
    ...more,
  });
}

export function refresh(
  app: { readonly url: string },
  client: TestClient,
  refreshToken: string,
): Promise<TokenReply> {
  return ask(app, tokenPath, {
    grant_type: "refresh_token",
    refresh_token: refreshToken,
    ...credentials(client),
  });
}

/** Obtains tokens of a client for a user. */
export async function obtainTokens(
  app: TestApp,
  client: TestClient,
  user: TestUser,
  browser?: Browser,
): Promise<{ access_token: string; refresh_token: string }> {
  const { code, verifier } = await obtainCode(app, client, user, browser === undefined ? {} : { browser });
  const reply = await exchange(app, client, { code, verifier });
  if (reply.status !== 200) throw new Error(`no tokens: ${JSON.stringify(reply.body)}`);
  return reply.body;
}

/** Whether the API accepts an access token. */
export async function isActive(app: { readonly url: string }, token: string): Promise<boolean> {
  const response = await fetch(`${app.url}/_/public-api/v2/token-info`, {
    headers: { authorization: `Bearer ${token}`, "public-api-version": "2026-10-01" },
  });
  await response.arrayBuffer();
  return response.status === 200;
}
