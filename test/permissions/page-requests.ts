import { createHmac, randomBytes } from "node:crypto";
import { createAccessToken } from "../../server/people/accounts/service.ts";
import { openBrowser as openPages } from "../../server/people/accounts/test/accounts.ts";
import { unsubscribeUrl } from "../../server/sharing/notifications/unsubscribe.ts";
import {
  authorizeUrl,
  credentials,
  makeClient,
  makePkce,
  obtainCode,
  obtainTokens,
  openBrowser,
  password,
  revokePath,
  type TestClient,
  tokenPath,
} from "../support/oauth.ts";
import { secondFactorOf } from "./account-requests.ts";
import type { RouteCaller } from "./callers.ts";
import { type BuildRouteRequests, type RouteRequest, sendForm, sendJson } from "./route-request.ts";
import type { World } from "./world.ts";

/** The token of bucket notifications. */
export const bucketToken = "a token of the bucket, for tests alone";

const randomToken = (): string => randomBytes(32).toString("base64url");

/** Requests to sign-in pages, the OAuth endpoints, MCP and bucket notifications. */
export const pageRequests: Readonly<Record<string, BuildRouteRequests>> = {
  "POST /_/storage/notifications": (_world, caller) => {
    const token = caller === "right" ? bucketToken : caller === "wrong" ? randomToken() : undefined;
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    return sendJson("/_/storage/notifications", { Records: [] }, headers);
  },

  "POST /_/connect/:kind/:connection_id": async (world, caller) => {
    await world.app.db.pool.query("delete from connections");
    const body = { kind: "zoom", name: "Zoom", webhook_secret: "s" };
    const { webhook_url: url } = await world.asAdmin("POST", "/_/api/v1/connections", body);
    const secret = caller === "right" ? "s" : caller === "wrong" ? randomToken() : null;
    const at = String(Math.floor(Date.now() / 1000));
    const hmac = createHmac("sha256", secret ?? "")
      .update(`v0:${at}:{}`)
      .digest("hex");
    const headers = { "x-zm-request-timestamp": at, "x-zm-signature": `v0=${hmac}` };
    return sendJson(new URL(url).pathname, {}, secret === null ? {} : headers);
  },

  "POST /sign-in": async (world, caller) => {
    const { email } = await world.fresh("recorder");
    const known = { right: password, wrong: "another password" }[caller as string] ?? "";
    return sendForm("/sign-in", { email, password: known });
  },
  "GET /sign-in/code": () => ({ path: "/sign-in/code" }),
  "POST /sign-in/code": async (world, caller) => {
    if (caller !== "right" && caller !== "wrong") return sendForm("/sign-in/code", { code: "123456" });
    const { id, email } = await world.fresh("recorder");
    const code = await secondFactorOf(world, id, "on");
    await world.app.db.pool.query("update second_factors set last_step = 0 where user_id = $1", [id]);
    const browser = openPages(world.app);
    await browser.submit("/sign-in", { email, password });
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    return sendForm("/sign-in/code", { code: caller === "right" ? code : "not a code" }, cookie);
  },
  "POST /sign-out": async (world, caller) => {
    if (caller !== "right" && caller !== "wrong") return sendForm("/sign-out", {});
    const cookie = await cookieOf(world);
    const token = await formTokenAt(world, "/sign-out", caller === "right" ? cookie : await cookieOf(world));
    return sendForm("/sign-out", { form_token: token }, cookie);
  },
  "GET /sign-in/callback": returnFromProvider,
  "GET /sign-in/callback/:provider": async (world, caller) => {
    const { path, ...request } = await returnFromProvider(world, caller);
    return { ...request, path: path.replace("/callback?", "/callback/default?") };
  },
  "POST /sign-in/back-channel-logout/:provider": async (world, caller) => {
    const path = "/sign-in/back-channel-logout/default";
    if (caller !== "right" && caller !== "expired" && caller !== "wrong") return sendForm(path, {});
    const aud = caller === "wrong" ? "another" : "parley";
    const token = (await world.provider?.logoutToken({ sub: "s", aud })) ?? "";
    const request = sendForm(path, { logout_token: token });
    if (caller === "expired") await fetch(world.app.url + path, { method: "POST", ...request });
    return request;
  },
  "GET /invitations/:token": async (world, caller) => ({ path: await oneTime(world, caller, "invitation") }),
  "POST /invitations/:token": async (world, caller) =>
    sendForm(await oneTime(world, caller, "invitation"), { name: "Bo", password: `${randomToken()} is new` }),
  "GET /password-reset/:token": async (world, caller) => ({ path: await oneTime(world, caller, "reset") }),
  "POST /password-reset/:token": async (world, caller) =>
    sendForm(await oneTime(world, caller, "reset"), { password: `${randomToken()} is new` }),
  "GET /unsubscribe/:token": async (world, caller) => ({ path: await unsubscribePath(world, caller) }),
  "POST /unsubscribe/:token": async (world, caller) => sendForm(await unsubscribePath(world, caller), {}),
  "POST /password-reset": () => sendForm("/password-reset", { email: "who@elsewhere.example" }),

  "GET /_/public-api/oauth2/authorize": async (world, caller) => {
    const client = await makeClient(world.app, { id: world.users.workspaceId });
    return { path: authorizeUrl(caller === "wrong" ? { id: crypto.randomUUID() } : client, pkce()) };
  },
  "POST /_/public-api/oauth2/authorize": async (world, caller) => {
    const client = await makeClient(world.app, { id: world.users.workspaceId });
    const path = authorizeUrl(client, pkce());
    const fields = { ...Object.fromEntries(new URL(path, world.app.url).searchParams), allow: "1" };
    const action = path.split("?", 1)[0] ?? "";
    if (caller !== "right" && caller !== "wrong") return sendForm(action, fields);
    const cookie = await cookieOf(world);
    const token = await formTokenAt(world, path, caller === "right" ? cookie : await cookieOf(world));
    return sendForm(action, { ...fields, form_token: token }, cookie);
  },
  "POST /_/public-api/oauth2/token": async (world, caller) => {
    const { client, user } = await appOf(world);
    const { code, verifier } = await obtainCode(world.app, client, user);
    const request = sendJson(tokenPath, {
      grant_type: "authorization_code",
      code,
      code_verifier: verifier,
      ...clientFields(client, caller),
    });
    if (caller === "expired")
      await world.app.db.kysely
        .updateTable("oauth_codes")
        .set({ expires_at: new Date(0) })
        .execute();
    return request;
  },
  "POST /_/public-api/oauth2/revoke": async (world, caller) => {
    const { client, user } = await appOf(world);
    const { refresh_token: token } = await obtainTokens(world.app, client, user);
    return sendJson(revokePath, { token, ...clientFields(client, caller) });
  },

  "POST /_/public-api/oauth2/register": async () =>
    sendJson("/_/public-api/oauth2/register", { redirect_uris: ["https://app.example.com/callback"] }),

  "POST /mcp": async (world, caller) =>
    sendJson(
      "/mcp",
      { jsonrpc: "2.0", id: 1, method: "tools/list" },
      { accept: "application/json, text/event-stream", ...(await bearer(world, caller)) },
    ),
  "GET /mcp": async (world, caller) => ({ path: "/mcp", headers: await bearer(world, caller) }),
  "DELETE /mcp": async (world, caller) => ({ path: "/mcp", headers: await bearer(world, caller) }),
};

/** The path of a link that stops emails; for `wrong`, of a text that was encrypted for another purpose. */
async function unsubscribePath(world: World, caller: RouteCaller): Promise<string> {
  const { encryptor, config } = world.app;
  if (caller === "right")
    return new URL(
      unsubscribeUrl(encryptor, config.baseUrl, {
        userId: (await world.fresh("recorder")).id,
        from: "notifications",
      }),
    ).pathname;
  const text =
    caller === "wrong"
      ? encryptor.encrypt(JSON.stringify({ encryptedFor: "mail" })).toString("base64url")
      : randomToken();
  return `/unsubscribe/${text}`;
}

/** The session cookie of a fresh user. */
async function cookieOf(world: World): Promise<string> {
  return (await world.fresh("session")).credentials.headers?.cookie ?? "";
}

/** The hidden field of the form at a path, for this session. */
async function formTokenAt(world: World, path: string, cookie: string): Promise<string> {
  const browser = openBrowser(world.app);
  browser.cookies.set("parley_session", cookie.slice(cookie.indexOf("=") + 1));
  const token = (await browser.get(path)).form?.hidden.form_token;
  if (token === undefined) throw new Error(`the form at ${path} has no token`);
  return token;
}

/** The path of a one-time link. */
async function oneTime(world: World, caller: RouteCaller, purpose: "invitation" | "reset"): Promise<string> {
  const make = async (kind: typeof purpose): Promise<string> => {
    const url: string =
      kind === "invitation"
        ? (
            await world.asAdmin("POST", "/_/api/v1/users", {
              name: "Bo",
              email: `${randomToken()}@elsewhere.example`.toLowerCase(),
            })
          ).invitation.url
        : (
            await world.asAdmin(
              "POST",
              `/_/api/v1/users/${(await world.fresh("recorder")).id}/password-reset-link`,
            )
          ).url;
    return new URL(url).pathname;
  };
  const page = purpose === "invitation" ? "/invitations" : "/password-reset";
  if (caller !== "right" && caller !== "expired" && caller !== "wrong") return `${page}/${randomToken()}`;
  // A link for one purpose must not work for another.
  if (caller === "wrong")
    return `${page}/${(await make(purpose === "reset" ? "invitation" : "reset")).split("/")[2]}`;
  const path = await make(purpose);
  if (caller === "expired")
    await world.app.db.kysely
      .updateTable("one_time_links")
      .set({ expires_at: new Date(0) })
      .execute();
  return path;
}

/** Any PKCE challenge. */
function pkce(): Record<string, string> {
  return { code_challenge: makePkce().challenge, code_challenge_method: "S256" };
}

/** An app and a user who authorizes it. */
async function appOf(world: World) {
  const client = await makeClient(world.app, { id: world.users.workspaceId });
  const { id, email } = await world.fresh("recorder");
  return { client, user: { id, email, name: "Bo", token: "" } };
}

/** The client's credentials for a caller. */
function clientFields(client: TestClient, caller: RouteCaller): Record<string, string> {
  if (caller === "right" || caller === "expired") return credentials(client);
  return { client_id: client.id, ...(caller === "wrong" ? { client_secret: randomToken() } : {}) };
}

/** The Authorization header for a caller. */
async function bearer(world: World, caller: RouteCaller): Promise<Record<string, string>> {
  if (caller === "wrong") return { authorization: `Bearer parley_pat_${randomToken()}` };
  if (caller !== "right" && caller !== "expired") return {};
  const { email } = await world.fresh("recorder");
  const expiresAt = caller === "expired" ? new Date(Date.now() - 1000) : null;
  const { token } = await world.app.db.kysely
    .transaction()
    .execute((tx) =>
      createAccessToken(tx, { email, type: "personal_access_token", name: "test", expiresAt }),
    );
  return { authorization: `Bearer ${token}` };
}

/** A request to a route without a key, with its path parameters filled in. */
export function plainRequest(
  path: string,
  names: { readonly version: string; readonly hash: string },
): RouteRequest {
  return {
    path: path
      .replace(":version", names.version)
      .replace("-:hash", `-${names.hash}`)
      .replace(":file", `${names.version}.json`)
      .replace("/assets/*", "/assets/app.js")
      .replace("*", "anything")
      .replace(/:\w+_id/, crypto.randomUUID()),
  };
}

/** The return of a browser from the provider. */
async function returnFromProvider(world: World, caller: RouteCaller): Promise<RouteRequest> {
  if (caller !== "right" && caller !== "expired" && caller !== "wrong")
    return { path: "/sign-in/callback?code=c&state=s" };
  const { id, email } = await world.fresh("recorder");
  world.provider?.people.set(id, { email, email_verified: true, name: "Bo" });
  const browser = openPages(world.app);
  const path = (await world.provider?.visit(browser, id)) ?? "";
  // Binds the callback to the browser that started the sign-in.
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  if (caller === "wrong") return { path };
  const callback = { path, headers: { cookie } };
  if (caller === "expired")
    await fetch(world.app.url + path, { headers: callback.headers, redirect: "manual" });
  return callback;
}
