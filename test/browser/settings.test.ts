import assert from "node:assert/strict";
import { test } from "node:test";
import { makeWorkspace } from "../support/factories.ts";
import { assertAccessible, phone, startBrowserApp, visitShared } from "./support.ts";

const app = await startBrowserApp();

test("settings: a user changes their name and sees their sessions", async () => {
  const workspace = await makeWorkspace(app.db);
  const { page, complaints } = await visitShared(app, "/settings", { userId: workspace.member.id });
  await page.getByRole("heading", { name: "Profile", exact: true }).waitFor();
  await page.getByRole("listitem").filter({ hasText: "This browser" }).waitFor();
  await assertAccessible(page);
  await page.getByLabel("Name").fill("Mira Holm");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Name saved.").waitFor();
  await page.getByRole("button", { name: /account menu of Mira Holm/ }).waitFor();
  assert.equal(await page.getByRole("navigation", { name: "Settings" }).getByText("Users").count(), 0);

  await page.getByRole("button", { name: "Sign out everywhere" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Sign out" }).click();
  await page.waitForURL(/\/sign-in/);
  assert.deepEqual(complaints, []);
});

test("settings: a token is created, shown once, works, and is refused once revoked", async () => {
  const workspace = await makeWorkspace(app.db);
  const { page, complaints } = await visitShared(app, "/settings/tokens", { userId: workspace.admin.id });
  await page.getByRole("button", { name: "Create token" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Name" }).fill("Nightly export");
  await dialog.getByRole("combobox", { name: "Date filters" }).click();
  await page.getByRole("option", { name: "By name" }).click();
  await dialog.getByRole("combobox", { name: "CRM field names" }).click();
  await page.getByRole("option", { name: "crm and hubspot" }).click();
  await assertAccessible(page);
  await dialog.getByRole("button", { name: "Create token" }).click();
  const token = await dialog.getByLabel("Token", { exact: true }).inputValue();
  const ask = () =>
    fetch(`${app.url}/_/api/v1/session/me`, { headers: { authorization: `Bearer ${token}` } });
  assert.equal((await ask()).status, 200);
  await assertAccessible(page);
  await dialog.getByRole("button", { name: "Done" }).click();

  const row = page.getByRole("listitem").filter({ hasText: "Nightly export" });
  await row.getByText(/^expires/).waitFor();
  await row.getByText("date filters by name").waitFor();
  await row.getByText("hubspot field names").waitFor();
  assert.ok(!(await page.content()).includes(token));
  await row.getByRole("button", { name: "Revoke Nightly export" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke token" }).click();
  await row.waitFor({ state: "detached" });
  assert.equal((await ask()).status, 401);
  assert.deepEqual(complaints, []);
});

test("settings: an admin invites a user, changes roles, deactivates a user, and creates a team", async () => {
  const workspace = await makeWorkspace(app.db);
  const { page, complaints } = await visitShared(app, "/settings/users", { userId: workspace.admin.id });
  await page.getByRole("button", { name: "Invite user" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Name" }).fill("Nora Quist");
  await dialog.getByRole("textbox", { name: "Email" }).fill("nora@other.example");
  await assertAccessible(page);
  await dialog.getByRole("button", { name: "Create invitation" }).click();
  const link = await dialog.getByLabel("Link", { exact: true }).inputValue();
  assert.ok(link.startsWith(app.url), link);
  await dialog.getByRole("button", { name: "Done" }).click();
  await dialog.waitFor({ state: "detached" });
  const nora = page.getByRole("listitem").filter({ hasText: "Nora Quist" });
  await nora.getByText("Invited").waitFor();
  await assertAccessible(page);

  const member = page.getByRole("listitem").filter({ hasText: workspace.member.name });
  await member.getByRole("button", { name: /^Actions for/ }).click();
  await page.getByRole("menuitem", { name: "Make viewer" }).click();
  await member.getByText("Viewer", { exact: true }).waitFor();
  await member.getByRole("button", { name: /^Actions for/ }).click();
  await page.getByRole("menuitem", { name: "Deactivate" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Deactivate" }).click();
  await member.getByText("Deactivated", { exact: true }).waitFor();

  await page.getByRole("navigation", { name: "Settings" }).getByText("Teams").click();
  await page.getByRole("button", { name: "Create team" }).click();
  await page.getByRole("dialog").getByRole("textbox", { name: "Name" }).fill("Sales");
  await page.getByRole("dialog").getByRole("button", { name: "Create team" }).click();
  const team = page.getByRole("listitem").filter({ hasText: "Sales" });
  await team.getByPlaceholder("Add user").click();
  await page.getByRole("option", { name: workspace.admin.name }).click();
  await team.getByText("1 member").waitFor();
  await assertAccessible(page);
  await team.getByRole("button", { name: "Delete Sales" }).click();
  await page.getByRole("button", { name: "Delete team" }).click();
  await team.waitFor({ state: "detached" });
  assert.deepEqual(complaints, []);
});

test("settings: admin pages are refused to others", async () => {
  const workspace = await makeWorkspace(app.db);
  const { page, complaints } = await visitShared(app, "/settings/users", { userId: workspace.member.id });
  await page.getByRole("heading", { name: "Admins only" }).waitFor();
  assert.deepEqual(complaints, []);
});

test("settings: on a phone a menu has all pages, and nothing overflows", async () => {
  const workspace = await makeWorkspace(app.db);
  const { page, complaints } = await visitShared(app, "/settings", {
    userId: workspace.admin.id,
    size: phone,
    colorScheme: "dark",
  });
  await page.getByRole("button", { name: "Profile, other settings" }).click();
  await page.getByRole("menuitem", { name: "Connected apps" }).click();
  await page.getByText("No connected apps.").waitFor();
  await page.getByRole("menu").waitFor({ state: "detached" });
  await assertAccessible(page);
  assert.ok(
    await page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"),
  );
  assert.deepEqual(complaints, []);
});
