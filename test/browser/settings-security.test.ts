import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { Secret, TOTP } from "otpauth";
import type { Page } from "playwright-core";
import { backgroundHeader } from "../../contract/accounts/background.ts";
import { givePassword, password } from "../../server/people/accounts/test/accounts.ts";
import { makeWorkspace } from "../support/factories.ts";
import { until } from "../support/until.ts";
import {
  assertAccessible,
  desktop,
  phone,
  resize,
  signInAs,
  startBrowserApp,
  visit,
  visitShared,
} from "./support.ts";

const app = await startBrowserApp();

/** Saves a picture where SCREENSHOTS names a folder. */
async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}

const responses = (texts: readonly string[]) =>
  texts.filter((text) => !/status of (400|401|403|409)/.test(text));

test("an admin previews and saves security rules; a rule that locks them out shows why", async () => {
  const { admin, member } = await makeWorkspace(app.db);
  await givePassword(app.db, admin, member);
  const { page, context, complaints } = await visitShared(app, "/icon.svg", { userId: member.id });
  const sessionOfMember = await context.cookies();
  await signInAs(app, context, admin.id);
  await page.goto(`${app.url}/settings/security`);
  await page.getByRole("heading", { name: "Security", exact: true }).waitFor();
  const addresses = page.getByRole("combobox", { name: "Addresses and ranges" });
  await page.getByLabel("Longest session", { exact: true }).fill("8");
  await addresses.fill("192.0.2.0/24");
  await addresses.press("Enter");
  await page.getByRole("button", { name: "Preview", exact: true }).click();
  await page.getByText("You can't save these rules").waitFor();
  await page.getByRole("list", { name: "Affected users" }).getByText(member.name).waitFor();
  await assertAccessible(page);
  await picture(page, "security-preview");
  await page.getByRole("button", { name: "Save rules", exact: true }).click();
  await page
    .getByText(/^Your own IP address|your own IP address is outside/)
    .first()
    .waitFor();
  await addresses.press("Backspace");
  await page.getByRole("combobox", { name: "Required of" }).click();
  await page.getByRole("option", { name: "Everyone" }).click();
  await page.getByRole("button", { name: "Preview", exact: true }).click();
  await page
    .getByText(/no second factor/)
    .first()
    .waitFor();
  await page.getByRole("button", { name: "Save rules", exact: true }).click();
  await page.getByText("Security rules saved.").waitFor();
  await page.getByText("Set up two-factor authentication: 14 days left").waitFor();
  await picture(page, "security-saved");
  await page.setViewportSize(phone);
  await page.emulateMedia({ colorScheme: "dark" });
  await assertAccessible(page);
  await picture(page, "security-phone-dark");
  await context.addCookies(sessionOfMember);
  await resize(page, desktop);
  await page.emulateMedia({ colorScheme: "light" });
  await page.goto(app.url);
  await page.getByText("Set up two-factor authentication: 14 days left").waitFor();
  await assertAccessible(page);
  assert.deepEqual(responses(complaints), []);
});

test("a page that nobody uses marks its requests, and a movement of the mouse ends that", async () => {
  const { admin } = await makeWorkspace(app.db);
  const { page, complaints } = await visit(app, "/", { userId: admin.id });
  await page.clock.install();
  const marks: boolean[] = [];
  page.on("request", (request) => {
    if (new URL(request.url()).pathname.endsWith("/api/v1/calendars"))
      marks.push(request.headers()[backgroundHeader] !== undefined);
  });
  await page.goto(`${app.url}/settings/calendars`);
  await page.getByRole("heading", { name: "Calendars", exact: true }).waitFor();
  // Until the parts have come that are loaded late.
  await page.clock.fastForward("00:10");
  await page.locator("#bell button").waitFor();
  assert.ok(marks.length > 0 && !marks.includes(true), "the page's own requests are marked");
  // Again and again: the wait for the next request begins only after the response to the last one.
  await until("a marked request", async () => {
    if (marks.at(-1) === true) return true;
    await page.clock.fastForward("02:00");
    return undefined;
  });
  await until("a request without the mark", async () => {
    await page.mouse.move(100, 100);
    await page.mouse.move(120, 120);
    if (marks.at(-1) === false) return true;
    await page.clock.fastForward("00:30");
    return undefined;
  });
  assert.deepEqual(responses(complaints), []);
});

test("after the grace period the app leads through the set-up of the second factor, and then continues", async () => {
  const { id, member } = await makeWorkspace(app.db);
  await givePassword(app.db, member);
  await sql`update users set created_at = '2025-01-01' where workspace_id = ${id}`.execute(app.db.kysely);
  await sql`
    update workspaces set security_rules = ${JSON.stringify({
      second_factor: "all",
      grace_days: 7,
      session_max_hours: null,
      session_idle_minutes: null,
      token_max_days: null,
      single_sign_on_only: false,
      break_glass_user_id: null,
      allowed_addresses: [],
      all_since: "2025-06-01T00:00:00.000Z",
      admins_since: "2025-06-01T00:00:00.000Z",
      single_sign_on_since: null,
    })}::jsonb where id = ${id}`.execute(app.db.kysely);
  const { page, complaints } = await visitShared(app, "/settings", { userId: member.id, size: phone });
  await page.getByRole("heading", { name: "Set up two-factor authentication" }).waitFor();
  await page.getByRole("button", { name: "Sign out", exact: true }).waitFor();
  assert.equal(await page.getByRole("navigation").count(), 0);
  await assertAccessible(page);
  await picture(page, "set-up-phone");
  await page.getByLabel(/^Your password/).fill(password);
  await page.getByRole("button", { name: "Continue", exact: true }).click();
  const secret = await page.getByLabel("Or enter this key").inputValue();
  await picture(page, "set-up-scan-phone");
  await page
    .getByLabel(/^Code that the app shows/)
    .fill(new TOTP({ secret: Secret.fromBase32(secret) }).generate());
  await page.getByRole("button", { name: "Turn on", exact: true }).click();
  await page.getByRole("heading", { name: "Keep your recovery codes" }).waitFor();
  assert.equal((await page.getByLabel("Recovery codes").inputValue()).split("\n").length, 10);
  await page.setViewportSize({ width: 1280, height: 800 });
  await assertAccessible(page);
  await picture(page, "set-up-codes");
  await page.getByRole("button", { name: "Done", exact: true }).click();
  await page.getByRole("heading", { name: "Profile", exact: true }).waitFor();
  assert.deepEqual(responses(complaints), []);
});
