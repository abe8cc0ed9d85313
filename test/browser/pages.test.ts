import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { call } from "../support/app.ts";
import { makeUser } from "../support/factories.ts";
import {
  authorizePath,
  authorizeUrl,
  makeClient,
  makeOAuthWorkspace,
  makePkce,
  password,
} from "../support/oauth.ts";
import { assertFits } from "./fits.ts";
import { linkTools, pathOf } from "./link-support.ts";
import { makeMedia } from "./recording-support.ts";
import {
  assertAccessible,
  desktop,
  phone,
  resize,
  signInAs,
  startBrowserApp,
  visitShared,
} from "./support.ts";

// Nobody takes mail at this address.
const app = await startBrowserApp({
  env: {
    PARLEY_SMTP_URL: "smtp://127.0.0.1:1",
    PARLEY_SMTP_FROM: "parley@parley.test",
    PARLEY_OIDC_ISSUER: "https://id.tidewater.example",
    PARLEY_OIDC_CLIENT_ID: "parley",
    PARLEY_OIDC_CLIENT_SECRET: "hush",
    PARLEY_OIDC_NAME: "Tidewater ID",
  },
});
const workspace = await makeOAuthWorkspace(app);
const { admin, member } = workspace;
const client = await makeClient(app, workspace, { isPublic: true });
const askPath = authorizeUrl(client, {
  code_challenge: makePkce().challenge,
  code_challenge_method: "S256",
});

const manage = async (path: string, body?: unknown) => {
  const answer = await call(app, "POST", `/_/api/v1${path}`, body, { token: admin.token, version: null });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
};

let invited = 0;
const invite = async () => {
  invited += 1;
  const email = `new${invited}@${workspace.domain}`;
  return { email, path: pathOf((await manage("/users", { email, name: "New" })).invitation.url) };
};
const resetPath = async () => pathOf((await manage(`/users/${member.id}/password-reset-link`)).url);

/** Pages by what their heading says: where they are, and who comes there. */
const pages: [heading: string | RegExp, path: () => string | Promise<string>, userId?: string][] = [
  ["Sign in", () => "/sign-in"],
  ["You're signed in", () => "/sign-in", member.id],
  ["Reset your password", () => "/password-reset"],
  [/^Welcome to /, async () => (await invite()).path],
  ["Choose a new password", resetPath],
  ["This link no longer works", () => "/invitations/unknown"],
  ["Sign-in failed", () => "/sign-in/callback?error=access_denied"],
  ["Sign in", () => askPath],
  ["Authorize Harbour notes?", () => askPath, member.id],
  ["This link doesn't work", () => `${authorizePath}?client_id=unknown`],
];

async function picture(page: Page, name: string): Promise<void> {
  if (process.env.SCREENSHOTS === undefined) return;
  await page.screenshot({ path: `${process.env.SCREENSHOTS}/${name.replaceAll(/\W+/g, "-")}.png` });
}

/** The browser itself reports what was refused; nothing else may be wrong. */
const others = (complaints: readonly string[]) => complaints.filter((text) => !/status of 4\d\d/.test(text));

test("pages of the server: accessible, and no wider than the window, on laptop and phone, light and dark", async () => {
  const { page, context, complaints } = await visitShared(app, "/icon.svg");
  for (const [heading, path, userId] of pages) {
    await context.clearCookies();
    if (userId !== undefined) await signInAs(app, context, userId);
    await page.goto(app.url + (await path()));
    await page.getByRole("heading", { level: 1, name: heading }).waitFor();
    // The mark of the app, drawn.
    assert.ok(await page.evaluate("document.querySelector('header img').naturalWidth > 0"));
    for (const size of [desktop, phone]) {
      await resize(page, size);
      assert.ok(
        await page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"),
        `${heading} ${size.width}`,
      );
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        await assertAccessible(page);
      }
    }
    assert.deepEqual(others(complaints), [], String(heading));
  }
});

for (const locale of ["de", "en-XA"])
  test(`pages of the server and of public links fit on laptop and phone in ${locale}`, async () => {
    const guarded = await makeUser(app.db, workspace);
    await app.db.pool.query(
      "insert into second_factors (user_id, encrypted_secret, confirmed_at) select id, '\\x00', now() from users where id = $1",
      [guarded.id],
    );
    const hash =
      "update users set password_hash = (select password_hash from users where id = $1) where id = $2";
    await app.db.pool.query(hash, [admin.id, guarded.id]);
    const { url } = await linkTools(app, admin.token).publish(await makeMedia(app, admin.token));
    const { page, context } = await visitShared(app, "/icon.svg", { locale });
    const found: string[] = [];
    const look = async (where: string): Promise<void> => {
      for (const size of [desktop, phone]) {
        await page.setViewportSize(size);
        await assertFits(page, `${where} ${size.width}`).catch(({ message }: Error) => found.push(message));
        await picture(page, `${where}-${locale}-${size.width}`);
      }
    };
    for (const [heading, path, userId] of [
      ...pages,
      ["Sign out", () => "/sign-out", member.id] as const,
      ["Public link", () => pathOf(url)] as const,
    ]) {
      await context.clearCookies();
      if (userId !== undefined) await signInAs(app, context, userId);
      await page.goto(app.url + (await path()));
      await page.getByRole("heading", { level: 1 }).waitFor();
      await look(String(heading));
    }
    await context.clearCookies();
    await page.goto(`${app.url}/sign-in`);
    await page.locator("input[name=email]").fill(guarded.email);
    await page.locator("input[name=password]").fill(password);
    await page.keyboard.press("Enter");
    await page.locator("input[name=code]").waitFor();
    await look("Enter your code");
    assert.deepEqual(found, []);
  });

test("sign-in by keyboard: a wrong password is said, the email stays, and then one is where one wanted to be", async () => {
  const { page, complaints } = await visitShared(app, "/settings/tokens");
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await page.keyboard.type(member.email);
  await page.keyboard.press("Tab");
  await page.keyboard.type("not the password");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("Incorrect email or password.").waitFor();
  assert.equal(await page.getByLabel("Email").inputValue(), member.email);
  await assertAccessible(page);
  await page.keyboard.type(password);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Access tokens" }).waitFor();
  assert.deepEqual(others(complaints), []);
});

test("an invitation: a password that is too easy is refused in words, a good one leads into the app", async () => {
  const { path, email } = await invite();
  const { page, complaints } = await visitShared(app, path);
  await page.getByText(email).waitFor();
  await page.getByLabel("Your name").fill("Mira Holm");
  await page.getByLabel("Password").fill(email);
  await page.getByRole("button", { name: "Join" }).click();
  await page.getByRole("alert").waitFor();
  assert.equal(await page.getByLabel("Your name").inputValue(), "Mira Holm");
  await assertAccessible(page);
  await page.getByLabel("Password").fill("seven herons in the reeds");
  await page.getByRole("button", { name: "Join" }).click();
  await page.getByRole("button", { name: /account menu of Mira Holm/ }).waitFor();
  assert.deepEqual(others(complaints), []);
});

test("a form whose page was left open: said in plain words, and nothing was done", async () => {
  const { page, context, complaints } = await visitShared(app, "/sign-out", { userId: member.id });
  await page.evaluate("document.querySelector('input[name=form_token]').value = 'old'");
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Please try again" }).waitFor();
  await page.getByText("Nothing was changed.").waitFor();
  await assertAccessible(page);
  assert.ok((await context.cookies()).some(({ name }) => name === "parley_session"));
  assert.deepEqual(others(complaints), []);
});
