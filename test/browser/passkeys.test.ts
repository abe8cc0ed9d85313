import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import type { BrowserContext, Page } from "playwright-core";
import { givePassword, password } from "../../server/people/accounts/test/accounts.ts";
import { makeWorkspace } from "../support/factories.ts";
import { assertAccessible, startBrowserApp, visit } from "./support.ts";

const app = await startBrowserApp();

/** Gives a page's browser an authenticator that verifies its user and keeps passkeys. */
async function addAuthenticator(context: BrowserContext, page: Page) {
  const devtools = await context.newCDPSession(page);
  await devtools.send("WebAuthn.enable");
  const { authenticatorId } = await devtools.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
    },
  });
  return {
    verifiesUser: (isUserVerified: boolean) =>
      devtools.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified }),
  };
}

test("a passkey is added, signs in on the sign-in page without an email, proves who it is, and is removed", async () => {
  const { member } = await makeWorkspace(app.db);
  await givePassword(app.db, member);
  const { page, context, complaints } = await visit(app, "/settings", { userId: member.id });
  await addAuthenticator(context, page);
  const section = page.getByRole("region", { name: "Passkeys" });
  await section.getByRole("button", { name: "Add passkey" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Name" }).fill("Laptop");
  await assertAccessible(page);
  await dialog.getByRole("button", { name: "Continue" }).click();
  await section.getByRole("listitem").filter({ hasText: "Laptop" }).getByText("never used").waitFor();
  await section.getByRole("button", { name: "Add passkey" }).click();
  await dialog.getByRole("button", { name: "Continue" }).click();
  await dialog.getByText("This device already has a passkey of your account.").waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();

  await context.clearCookies();
  // The authenticator in the test chooses at once what the browser offers in the email field.
  await page.goto(`${app.url}/sign-in?next=/settings`);
  await section.getByText(/^used once, last/).waitFor();
  await context.clearCookies();
  await page.addInitScript("delete PublicKeyCredential.isConditionalMediationAvailable");
  await page.goto(`${app.url}/sign-in?next=/settings`);
  await assertAccessible(page);
  await page.getByRole("button", { name: "Sign in with a passkey" }).click();
  await section.getByText(/^used 2 times, last/).waitFor();
  const me = await page.evaluate<string>("fetch('/_/api/v1/session/me').then((r) => r.text())");
  assert.match(me, /"method":"passkey"/);

  await sql`update sessions set created_at = now() - interval '1 hour' where user_id = ${member.id}`.execute(
    app.db.kysely,
  );
  await section.getByRole("button", { name: "Remove Laptop" }).click();
  await dialog.getByRole("button", { name: "Remove" }).click();
  const proof = page.getByRole("dialog", { name: "Confirm that it's you" });
  await proof.getByRole("button", { name: "Use a passkey" }).click();
  await section.getByText("No passkeys yet.").waitFor();
  // The browser reports responses other than 2xx as errors of the console.
  assert.deepEqual(
    complaints.filter((text) => !/status of (400|401|403)/.test(text)),
    [],
  );
});

test("a passkey that doesn't verify its user, or was removed, doesn't sign in, and the page says why", async () => {
  const { member } = await makeWorkspace(app.db);
  await givePassword(app.db, member);
  const { page, context } = await visit(app, "/settings", { userId: member.id });
  const authenticator = await addAuthenticator(context, page);
  const section = page.getByRole("region", { name: "Passkeys" });
  await section.getByRole("button", { name: "Add passkey" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Continue" }).click();
  await section.getByText("never used").waitFor();
  await context.clearCookies();
  await app.db.kysely.deleteFrom("passkeys").where("user_id", "=", member.id).execute();
  await page.addInitScript("delete PublicKeyCredential.isConditionalMediationAvailable");
  await page.goto(`${app.url}/sign-in`);
  await page.getByRole("button", { name: "Sign in with a passkey" }).click();
  await page.getByText(/This passkey isn't known here/).waitFor();
  await authenticator.verifiesUser(false);
  await page.reload();
  await page.getByRole("button", { name: "Sign in with a passkey" }).click();
  await page.getByLabel("Email").fill(member.email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.waitForURL(`${app.url}/`);
});
