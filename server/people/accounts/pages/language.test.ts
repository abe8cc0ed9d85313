import assert from "node:assert/strict";
import { request as httpRequest } from "node:http";
import { text as readText } from "node:stream/consumers";
import { test } from "node:test";
import { pseudoTexts } from "../../../../shared/pseudo-locales.ts";
import { call, startTestApp } from "../../../../test/support/app.ts";
import { makeUser } from "../../../../test/support/factories.ts";
import {
  ask,
  authorizeUrl,
  makeClient,
  makeOAuthWorkspace,
  makePkce,
  openSignedIn as openSession,
} from "../../../../test/support/oauth.ts";
import { type Browser, hiddenFields, openBrowser } from "../test/accounts.ts";

/** No pages of a provider: nothing listens there. */
const app = await startTestApp({
  env: {
    PARLEY_SMTP_URL: "smtp://127.0.0.1:9",
    PARLEY_SMTP_FROM: "parley@parley.test",
    PARLEY_OIDC_ISSUER: "http://localhost:9",
    PARLEY_OIDC_CLIENT_ID: "parley",
    PARLEY_OIDC_CLIENT_SECRET: "a secret between the two of us",
    PARLEY_OIDC_NAME: "Tidewater ID",
  },
  worker: false,
});
const workspace = await makeOAuthWorkspace(app);
const { admin, member } = workspace;
const pseudo = pseudoTexts["en-XA"] ?? assert.fail();
const wanted = { "accept-language": "en-XA", accept: "text/html" };

interface Shown {
  readonly status: number;
  readonly text: string;
}

async function workspaceName(id: string): Promise<string> {
  const { name } = await app.db.kysely
    .selectFrom("workspaces")
    .select("name")
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  return name;
}

/** What isn't translated: names and values of this test. */
const names = [
  ...[await workspaceName(workspace.id), admin.name, admin.email, member.name, member.email],
  ...["Parley", "Tidewater ID", "Harbour notes", "Lighthouse", "app.example.com", "parley.test"],
];

/** The visible texts of a page, without names and code. */
function textsOf(html: string): string {
  const attributes = [...html.matchAll(/ (?:aria-label|placeholder|title)="([^"]*)"/g)].map(
    ([, text]) => text,
  );
  const passkeys = [...html.matchAll(/ data-texts="\{([^"]*)\}"/g)].flatMap(([, json = ""]) =>
    [...json.matchAll(/&quot;:&quot;(.*?)&quot;/g)].map(([, text]) => text),
  );
  const shown = html
    .replaceAll(/<(code|script|style)\b.*?<\/\1>|<span class="avatar".*?<\/span>/gs, " ")
    .replaceAll(/<[^>]*>/g, " ")
    .concat(" ", [...attributes, ...passkeys].join(" "))
    .replaceAll(/&(?:[a-z]+|#\d+);/g, " ");
  return names.reduce((text, name) => text.replaceAll(name, " "), shown);
}

/** Fails for each word that is still English. */
function assertTranslated({ status, text: html }: Shown, expected: number, where: string): void {
  assert.equal(status, expected, `${where}: ${html}`);
  assert.match(html, /<html lang="en-XA" dir="ltr">/, where);
  const words = textsOf(html).match(/\p{L}+/gu) ?? [];
  assert.ok(words.length > 2, `${where} shows texts`);
  assert.deepEqual(
    words.filter(
      (word) =>
        /^[a-z]+$/i.test(word) && pseudo(word) !== `${word}${"~".repeat(Math.ceil(word.length * 0.4))}`,
    ),
    [],
    where,
  );
}

const get = (path: string, browser: Browser = openBrowser(app)): Promise<Shown> => browser.get(path, wanted);

/** Submits the form of a page. */
async function submit(
  path: string,
  fields: Record<string, string>,
  { browser = openBrowser(app), headers = {} }: { browser?: Browser; headers?: Record<string, string> } = {},
): Promise<Shown> {
  const { text } = await browser.get(path, wanted);
  const action = /<form method="post" action="([^"]+)"/.exec(text)?.[1] ?? path;
  return browser.send("POST", action, {
    form: { ...hiddenFields(text), ...fields },
    headers: { ...wanted, origin: app.url, ...headers },
  });
}

async function openSignedIn(user: { readonly id: string }): Promise<Browser> {
  const browser = openBrowser(app);
  for (const [name, value] of (await openSession(app, user)).cookies) browser.cookies.set(name, value);
  return browser;
}

test("sign-in, code and sign-out pages and their errors are in the reader's language", async () => {
  assertTranslated(await get("/sign-in?next=/trash"), 200, "sign-in");
  const user = await makeUser(app.db, workspace);
  names.push(user.name, user.email);
  for (const status of [401, 429])
    for (let tries = 0; ; tries++) {
      const shown = await submit("/sign-in", { email: user.email, password: "not this one" });
      if (shown.status !== status && tries < 20) continue;
      assertTranslated(shown, status, `sign-in with ${status}`);
      break;
    }
  const signedIn = await openSignedIn(member);
  assertTranslated(await get("/sign-in", signedIn), 200, "signed in");
  assertTranslated(await get("/sign-out", signedIn), 200, "sign-out");
  for (const path of ["/sign-in/sso", "/sign-in/callback?code=1", "/sign-in/callback/removed?code=1"])
    assertTranslated(await get(path), path === "/sign-in/sso" ? 503 : 403, path);
});

test("password, invitation and reset pages and their errors are in the reader's language", async () => {
  assertTranslated(await get("/password-reset"), 200, "request a reset");
  assertTranslated(await submit("/password-reset", { email: "any@parley.test" }), 200, "reset requested");
  assertTranslated(await get("/invitations/none"), 404, "unknown invitation");
  const email = `invited@${workspace.domain}`;
  names.push(email);
  const manage = async (path: string, body: object) => {
    const { text, body: made } = await call(app, "POST", `/_/api/v1${path}`, body, {
      token: admin.token,
      version: null,
    });
    const { url } = made.invitation ?? made;
    assert.ok(url, text);
    return new URL(url).pathname;
  };
  const invitation = await manage("/users", { email, name: "Lighthouse" });
  const reset = await manage(`/users/${member.id}/password-reset-link`, {});
  for (const [path, own] of [
    [invitation, email],
    [reset, member.email],
  ] as const) {
    assertTranslated(await get(path), 200, path);
    for (const chosen of ["short", "é".repeat(501), "password123", own])
      assertTranslated(
        await submit(path, { name: "Lighthouse", password: chosen }),
        400,
        `${path} ${chosen}`,
      );
  }
  for (const name of ["", "Lighthouse".repeat(30)])
    assertTranslated(
      await submit(invitation, { name, password: "three geese over" }),
      400,
      `the name ${name}`,
    );
});

test("errors before a form is read are in the reader's language", async () => {
  const post = async (body: string, headers: Record<string, string>) => {
    const response = await fetch(`${app.url}/sign-in`, {
      method: "POST",
      headers: { ...wanted, "content-type": "application/x-www-form-urlencoded", ...headers },
      body,
    });
    return { status: response.status, text: await response.text() };
  };
  assertTranslated(await post("", { origin: "https://evil.example" }), 403, "another site's form");
  assertTranslated(await post("a".repeat(70_000), {}), 413, "a large form");
  assertTranslated(await post("a=1&".repeat(200), {}), 400, "a form with many fields");
});

test("consent and its errors are in the reader's language", async () => {
  const client = await makeClient(app, workspace);
  const other = await makeOAuthWorkspace(app);
  names.push(await workspaceName(other.id), other.member.name, other.member.email);
  const path = authorizeUrl(client);
  const registered = await ask(app, "/_/public-api/oauth2/register", {
    client_name: "Lighthouse",
    redirect_uris: ["http://127.0.0.1/callback"],
    token_endpoint_auth_method: "none",
  });
  const unproven = (values: Record<string, string | undefined>) =>
    authorizeUrl(
      { id: registered.body.client_id },
      {
        code_challenge: makePkce().challenge,
        code_challenge_method: "S256",
        redirect_uri: "http://127.0.0.1/callback",
        ...values,
      },
    );
  assertTranslated(await get(path), 200, "sign-in for an app");
  assertTranslated(await submit(path, { email: member.email, password: "" }), 403, "no password");
  const browser = await openSignedIn(member);
  assertTranslated(await get(path, browser), 200, "consent");
  assertTranslated(await get(unproven({}), browser), 200, "consent to an app that registered itself");
  assertTranslated(await get(authorizeUrl({ id: "none" })), 400, "unknown app");
  assertTranslated(await get(authorizeUrl(client, { client_id: undefined })), 400, "no app");
  assertTranslated(await get(authorizeUrl(client, { redirect_uri: undefined })), 400, "no redirect URI");
  const { host } = new URL("https://elsewhere.example");
  names.push(host);
  assertTranslated(await get(authorizeUrl(client, { redirect_uri: `https://${host}` })), 400, "another URI");
  names.push("login_required");
  assertTranslated(await get(unproven({ prompt: "none" })), 400, "refused without asking");
  assertTranslated(await get(path, await openSignedIn(other.member)), 403, "another workspace");
  const crossSite = { origin: "https://evil.example", "sec-fetch-site": "cross-site" };
  const refused = await submit(path, { allow: "1" }, { browser, headers: crossSite });
  assertTranslated(refused, 403, "another site's consent");
});

test("the account's language comes before the browser's", async () => {
  const user = await makeUser(app.db, workspace);
  const client = await makeClient(app, workspace);
  names.push(user.name, user.email);
  await app.db.kysely.updateTable("users").set({ language: "en-XA" }).where("id", "=", user.id).execute();
  const english = { "accept-language": "en", accept: "text/html" };
  const browser = await openSignedIn(user);
  for (const path of ["/sign-in", authorizeUrl(client)])
    assertTranslated(await browser.get(path, english), 200, path);
});

test("pages of the server itself are in the reader's language", async () => {
  for (const [path, status] of [
    ["/no-such-page", 404],
    ["/offline", 200],
    ["/security-contact", 200],
    ["/unsubscribe/none", 404],
  ] as const)
    assertTranslated(await get(path), status, path);
  const unknownHost = await new Promise<Shown>((resolve, reject) => {
    httpRequest(app.url, { headers: { ...wanted, host: "elsewhere.example" } }, (response) => {
      readText(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), reject);
    })
      .on("error", reject)
      .end();
  });
  assertTranslated(unknownHost, 421, "unknown host");
  const script = await get("/sign-in/passkeys.js");
  assert.doesNotMatch(script.text, /show\("[A-Z]/, "texts come from the page");
});
