import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { Secret, TOTP } from "otpauth";
import { givePassword, password } from "../../server/people/accounts/test/accounts.ts";
import { makeWorkspace } from "../support/factories.ts";
import { assertAccessible, phone, startBrowserApp, visitShared } from "./support.ts";

const app = await startBrowserApp();

const codeOf = (secret: string) => new TOTP({ secret: Secret.fromBase32(secret) }).generate();
/** As if the last code had been used a while ago. */
const forgetCodes = () => sql`update second_factors set last_step = 0`.execute(app.db.kysely);

test("two-factor authentication is turned on with an app, asked for at the next sign-in, and turned off after a new proof", async () => {
  const { member } = await makeWorkspace(app.db);
  await givePassword(app.db, member);
  const { page, context, complaints } = await visitShared(app, "/settings", { userId: member.id });
  const section = page.getByRole("region", { name: "Two-factor authentication" });
  await section.getByRole("button", { name: "Turn on" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel(/^Your password/).fill(password);
  await dialog.getByRole("button", { name: "Continue" }).click();
  await dialog.getByRole("img", { name: /QR code/ }).waitFor();
  await assertAccessible(page);
  const secret = await dialog.getByLabel("Or enter this key").inputValue();
  await dialog.getByLabel(/^Code that the app shows/).fill("12");
  await dialog.getByRole("button", { name: "Turn on" }).click();
  await dialog.getByText(/^Is not the right code/).waitFor();
  await dialog.getByLabel(/^Code that the app shows/).fill(codeOf(secret));
  await dialog.getByRole("button", { name: "Turn on" }).click();
  const codes = (await dialog.getByLabel("Recovery codes").inputValue()).split("\n");
  assert.equal(codes.length, 10);
  await assertAccessible(page);
  await dialog.getByRole("button", { name: "Done" }).click();
  await section.getByText("10 of 10 recovery codes left").waitFor();

  await context.clearCookies();
  await forgetCodes();
  await page.setViewportSize(phone);
  await page.goto(`${app.url}/sign-in?next=/settings`);
  await page.getByLabel("Email").fill(member.email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByRole("heading", { name: "Enter your code" }).waitFor();
  await assertAccessible(page);
  await page.getByLabel("Code").fill(codes[0] ?? "");
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await section.getByText("9 of 10 recovery codes left").waitFor();

  await sql`update sessions set created_at = now() - interval '1 hour' where user_id = ${member.id}`.execute(
    app.db.kysely,
  );
  await section.getByRole("button", { name: "Turn off" }).click();
  await dialog.getByRole("button", { name: "Turn off" }).click();
  const proof = page.getByRole("dialog", { name: "Confirm that it's you" });
  await proof.getByLabel(/^Password/).fill(password);
  await proof.getByRole("button", { name: "Sign in", exact: true }).click();
  await proof.getByLabel(/^Code/).fill(codeOf(secret));
  await assertAccessible(page);
  await proof.getByRole("button", { name: "Sign in", exact: true }).click();
  await section.getByText("Off.").waitFor();
  // The browser reports responses other than 2xx as errors of the console, and that the stream of notifications was cut
  // off with the session that the new proof has replaced.
  assert.deepEqual(
    complaints.filter((text) => !/status of (400|401|403)|net::ERR_CONNECTION_RESET/.test(text)),
    [],
  );
});

test("who doesn't want to prove who they are cancels, and nothing changes", async () => {
  const { member } = await makeWorkspace(app.db);
  await givePassword(app.db, member);
  const { page } = await visitShared(app, "/settings/tokens", { userId: member.id });
  await sql`update sessions set created_at = now() - interval '1 hour' where user_id = ${member.id}`.execute(
    app.db.kysely,
  );
  await page.getByRole("button", { name: "Create token" }).click();
  const dialog = page.getByRole("dialog", { name: /token/ });
  await dialog.getByRole("textbox", { name: "Name" }).fill("Nightly export");
  await dialog.getByRole("button", { name: "Create token" }).click();
  const proof = page.getByRole("dialog", { name: "Confirm that it's you" });
  await proof.getByRole("button", { name: "Cancel" }).click();
  await dialog.getByText(/Sign in again to do this/).waitFor();
  assert.equal(await dialog.getByRole("textbox", { name: "Name" }).inputValue(), "Nightly export");
  await dialog.getByRole("button", { name: "Create token" }).click();
  await proof.getByLabel(/^Password/).fill(password);
  await proof.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByLabel("Token", { exact: true }).waitFor();
});
