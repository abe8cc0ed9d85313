import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { call, currentVersion } from "../support/app.ts";
import { insertHook, makeWorkspace } from "../support/factories.ts";
import { assertAccessible, phone, signInAs, startBrowserApp, visitShared } from "./support.ts";

const app = await startBrowserApp({
  env: {
    PARLEY_OIDC_ISSUER: "https://id.tidewater.example",
    PARLEY_OIDC_CLIENT_ID: "parley",
    PARLEY_OIDC_CLIENT_SECRET: "hush",
    PARLEY_OIDC_NAME: "Tidewater ID",
    PARLEY_OIDC_CREATE_USERS: "true",
  },
});
const { kysely } = app.db;

const workspaceOf = async (token: string) =>
  (await call(app, "GET", "/_/api/v1/workspace", undefined, { token, version: null })).body;

test("workspace: name, domains and default access are edited, and joining by domain is explained", async () => {
  const { admin } = await makeWorkspace(app.db);
  const { page, complaints } = await visitShared(app, "/settings/workspace", { userId: admin.id });
  const part = (name: string) => page.getByRole("region", { name, exact: true });
  await part("Name").getByRole("textbox").fill("Tidewater");
  await part("Name").getByRole("button", { name: "Save" }).click();
  await page.getByText("Name saved.").waitFor();
  const claims = part("Claimed email domains");
  await claims.getByText(/who sign in with Tidewater ID get an account/).waitFor();
  await claims.getByLabel("Domain").fill("tide.example");
  await claims.getByRole("button", { name: "Add domain" }).click();
  await claims
    .getByText(/^_parley-verification\.tide\.example {2}TXT {2}parley-verification=[0-9a-f]{32}$/)
    .waitFor();
  await claims.getByText("Waiting for the DNS record").waitFor();
  await claims.getByRole("button", { name: "Delete claim of tide.example" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete claim" }).click();
  await page.getByText("Claim of tide.example deleted.").waitFor();
  const domains = part("Email domains").locator("input:not([type=hidden])");
  await domains.fill("no domain at all!");
  await domains.press("Enter");
  await part("Email domains").getByRole("button", { name: "Save" }).click();
  await part("Email domains")
    .getByText(/^Entry \d/)
    .waitFor();
  for (let count = 0; count < 4; count++) await domains.press("Backspace");
  await domains.fill("tide.example");
  await domains.press("Enter");
  await part("Email domains").getByRole("button", { name: "Save" }).click();
  await page.getByText(/Domains saved/).waitFor();
  await page.getByRole("radio", { name: "Everyone in the workspace" }).check();
  await part("New recordings").getByRole("button", { name: "Save" }).click();
  await page.getByText(/It applies to new recordings/).waitFor();
  await assertAccessible(page);
  const { name, email_domains, new_recording_share_state } = await workspaceOf(admin.token);
  assert.deepEqual(
    [name, email_domains.at(-1), new_recording_share_state],
    ["Tidewater", "tide.example", "workspace"],
  );
  // The browser itself reports the refused request; nothing else may be wrong.
  assert.deepEqual(
    complaints.filter((text) => !text.includes("status of 400")),
    [],
  );
});

test("workspace: voice profiles are turned on, listed with who confirmed the consent, exported and deleted", async () => {
  const { admin, id: workspace_id } = await makeWorkspace(app.db);
  const { page, complaints } = await visitShared(app, "/settings/workspace", { userId: admin.id });
  const part = page.getByRole("region", { name: "Voice profiles", exact: true });
  const toggle = part.getByRole("switch", { name: "Remember voices, with each person's consent" });
  assert.equal(await toggle.isChecked(), false);
  await toggle.click();
  await page.getByText("Voice profiles turned on.").waitFor();
  assert.equal((await workspaceOf(admin.token)).voice_profiles, true);
  assert.equal(await part.getByRole("list", { name: "Voice profiles" }).count(), 0);
  const profile = { workspace_id, name: "Ada", email: "ada@tidewater.example", consented_by: admin.id };
  await kysely
    .insertInto("voice_profiles")
    .values({ ...profile, id: randomUUID(), embedding: [0.25, -0.5], model: "voices@1" })
    .execute();
  await page.reload();
  await part.getByText("ada@tidewater.example").waitFor();
  await part.getByText(`Consent confirmed by ${admin.name}`).waitFor();
  await assertAccessible(page);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    part.getByRole("link", { name: "Export Ada" }).click(),
  ]);
  const exported = JSON.parse(await readFile(await download.path(), "utf8"));
  assert.deepEqual([exported.name, exported.embedding], ["Ada", [0.25, -0.5]]);
  await part.getByRole("button", { name: "Delete Ada" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete profile" }).click();
  await page.getByText("Voice profile of Ada deleted.").waitFor();
  const left = await kysely
    .selectFrom("voice_profiles")
    .select("id")
    .where("workspace_id", "=", workspace_id)
    .execute();
  assert.deepEqual(left, []);
  await toggle.click();
  await page.getByText("Voice profiles turned off.").waitFor();
  assert.deepEqual(complaints, []);
});

test("profile: single sign-on is shown and unlinked, unless it is the only way to sign in", async () => {
  const { admin, member } = await makeWorkspace(app.db);
  const bind = (user_id: string) =>
    kysely
      .insertInto("identities")
      .values({ issuer: "https://id.tidewater.example", subject: user_id, user_id })
      .execute();
  for (const { id } of [admin, member]) await bind(id);
  await kysely.updateTable("users").set({ password_hash: "x" }).where("id", "=", admin.id).execute();
  const { page, context, complaints } = await visitShared(app, "/settings", { userId: member.id });
  const section = page.getByRole("region", { name: "Single sign-on" });
  await section.getByText(/Your only way to sign in/).waitFor();
  assert.equal(await section.getByRole("button").count(), 0);

  await signInAs(app, context, admin.id);
  await page.goto(`${app.url}/settings`);
  await section.getByText("https://id.tidewater.example").waitFor();
  await section.getByRole("button", { name: "Unlink Tidewater ID", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Unlink", exact: true }).click();
  await section.getByText("Not linked.").waitFor();
  await section.getByRole("button", { name: "Connect Tidewater ID", exact: true }).waitFor();
  await assertAccessible(page);
  assert.deepEqual(complaints, []);

  // An admin sees how users sign in, and unlinks it for another user.
  await page.getByRole("navigation", { name: "Settings" }).getByText("Users").click();
  const row = page.getByRole("listitem").filter({ hasText: member.email });
  await row.getByText("single sign-on", { exact: true }).waitFor();
  await row.getByRole("button", { name: /^Actions for/ }).click();
  await page.getByRole("menuitem", { name: "Unlink single sign-on" }).click();
  await page
    .getByRole("dialog")
    .getByText(/Until then they can't sign in/)
    .waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Unlink" }).click();
  await row.getByText("not set up").waitFor();
  assert.deepEqual(complaints, []);
});

test("profile: appearance is light, dark or the system's, also after a reload", async () => {
  const { member } = await makeWorkspace(app.db);
  const { page, complaints } = await visitShared(app, "/settings", {
    userId: member.id,
    colorScheme: "light",
  });
  const scheme = () => page.locator("html").getAttribute("data-mantine-color-scheme");
  const choose = (name: string) =>
    page.getByRole("radiogroup", { name: "Appearance" }).getByText(name, { exact: true }).click();
  await choose("Dark");
  assert.equal(await scheme(), "dark");
  await page.reload();
  await page.getByRole("radiogroup", { name: "Appearance" }).waitFor();
  assert.equal(await scheme(), "dark");
  await choose("System");
  assert.equal(await scheme(), "light");
  assert.deepEqual(complaints, []);
});

test("API: the first request works as shown, with a token", async () => {
  const { member } = await makeWorkspace(app.db);
  const { page, complaints } = await visitShared(app, "/settings/api", { userId: member.id });
  const text = await page.getByRole("region", { name: "Commands: First request" }).innerText();
  assert.match(text, new RegExp(`SERVER=${app.url}\n`));
  assert.match(text, new RegExp(`Public-Api-Version: ${currentVersion}`));
  await page.getByRole("link", { name: "API reference" }).waitFor();
  await assertAccessible(page);
  const [, path = ""] = /^api (\S+) -X POST$/m.exec(text) ?? [];
  const headers = [...text.matchAll(/-H "([^:]+): ([^"]+)"/g)].map(([, name = "", value = ""]) => [
    name,
    value.replace("$TOKEN", member.token),
  ]);
  const response = await fetch(`${app.url}/_/public-api/v2${path}`, {
    method: "POST",
    headers: Object.fromEntries(headers),
  });
  assert.equal(response.status, 200);
  assert.deepEqual(((await response.json()) as { recordings: unknown[] }).recordings, []);
  assert.deepEqual(complaints, []);
});

test("webhooks: admins see those of the workspace, and who created them", async () => {
  const { admin, member } = await makeWorkspace(app.db);
  await insertHook(app, {
    created_by: admin.id,
    version: currentVersion,
    hook_url: "https://crm.example/in",
    hook_type: "recording_added",
  });
  const { page, context, complaints } = await visitShared(app, "/settings/webhooks", { userId: admin.id });
  await page.getByText("No webhooks yet.").waitFor();
  await page.getByRole("radiogroup", { name: "Owner" }).getByText("Workspace", { exact: true }).click();
  await page.getByText(`created with a token of ${admin.name}`).waitFor();
  await assertAccessible(page);
  await page.getByRole("link", { name: "Recording added" }).click();
  await page.getByText("workspace webhook").waitFor();
  await page.getByRole("button", { name: "Disable" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Disable" }).click();
  await page.getByText("Webhook disabled.", { exact: true }).waitFor();
  assert.deepEqual(complaints, []);
  await signInAs(app, context, member.id);
  await page.goto(`${app.url}/settings/webhooks`);
  await page.getByText("No webhooks yet.").waitFor();
  assert.equal(await page.getByRole("radiogroup", { name: "Owner" }).count(), 0);
});

test("workspace and API: nothing overflows on a phone in the dark", async () => {
  const { admin } = await makeWorkspace(app.db);
  const { page, complaints } = await visitShared(app, "/icon.svg", {
    userId: admin.id,
    size: phone,
    colorScheme: "dark",
  });
  for (const [path, name] of [
    ["/settings/workspace", "General"],
    ["/settings/api", "API"],
  ] as const) {
    await page.goto(app.url + path);
    await page.getByRole("heading", { name, exact: true }).waitFor();
    await page.getByRole("heading", { level: 2 }).last().waitFor();
    await assertAccessible(page);
    assert.ok(
      await page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"),
      path,
    );
    assert.deepEqual(complaints, []);
  }
});

test("a restored backup says so on every page until it is accepted", async () => {
  const { admin, member } = await makeWorkspace(app.db);
  await app.db.pool.query(
    "update installation set quarantined_at = now(), restored_backup = '2026-11-22T030000Z'",
  );
  const { page, context, complaints } = await visitShared(app, "/", { userId: admin.id });
  await page.getByText("This is a restored backup").waitFor();
  await page.getByText("parley restore accept").waitFor();
  await assertAccessible(page);
  assert.deepEqual(complaints, []);
  await signInAs(app, context, member.id);
  await page.goto(`${app.url}/settings`);
  await page.getByText("Changes here may be lost.").waitFor();
  await app.db.pool.query("update installation set quarantined_at = null");
  await page.reload();
  await page.getByRole("heading", { level: 1 }).waitFor();
  assert.equal(await page.getByText("This is a restored backup").count(), 0);
});
