import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { call } from "../support/app.ts";
import { makeRecording, makeWorkspace } from "../support/factories.ts";
import { assertAccessible, phone, startBrowserApp, visitShared } from "./support.ts";
import { createTour } from "./tour.ts";

const app = await startBrowserApp();

test("apps: one is created with its secret shown once, edited, gets a new secret, and is deleted", async () => {
  const { admin } = await makeWorkspace(app.db);
  const { page, complaints } = await visitShared(app, "/settings/clients", { userId: admin.id });
  await page.emulateMedia({ reducedMotion: "reduce" });
  await page.getByRole("button", { name: "Create app" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Name" }).fill("Notes");
  await dialog.getByRole("textbox", { name: "Redirect URIs" }).fill("https://notes.example/callback");
  await assertAccessible(page);
  await dialog.getByRole("button", { name: "Create app" }).click();
  const secret = await dialog.getByLabel("Client secret").inputValue();
  assert.ok(secret.length > 20);
  await dialog.getByRole("button", { name: "Done" }).click();
  const row = page.getByRole("listitem").filter({ hasText: "https://notes.example/callback" });
  await row.getByRole("button", { name: "Edit Notes" }).click();
  await dialog.getByRole("textbox", { name: "Name" }).fill("Notebook");
  await dialog.getByRole("combobox", { name: "CRM field names" }).click();
  await page.getByRole("option", { name: "crm and hubspot" }).click();
  await dialog.getByRole("button", { name: "Save" }).click();
  await row.getByText("hubspot field names").waitFor();
  await row.getByRole("button", { name: "New secret for Notebook" }).click();
  await dialog.getByRole("button", { name: "Create secret" }).click();
  assert.notEqual(await dialog.getByLabel("Client secret").inputValue(), secret);
  await dialog.getByRole("button", { name: "Done" }).click();
  await row.getByText(/old secret works until/).waitFor();
  await assertAccessible(page);
  await row.getByRole("button", { name: "Delete Notebook" }).click();
  await dialog.getByRole("button", { name: "Delete app" }).click();
  await page.getByText("No apps yet.").waitFor();
  assert.deepEqual(complaints, []);
});

test("connected apps: users and admins see which apps registered themselves and where they send access, edit and revoke one", async () => {
  const { admin, member } = await makeWorkspace(app.db);
  const id = randomUUID();
  await app.db.pool.query(
    `insert into oauth_clients (id, name, is_public, is_legacy, redirect_uris, cors_origins)
     values ($1, 'Parley Official', true, false, '{https://evil.example/cb,http://127.0.0.1/cb}', '{}')`,
    [id],
  );
  await app.db.pool.query("insert into oauth_grants (id, client_id, user_id) values ($1, $2, $3)", [
    randomUUID(),
    id,
    member.id,
  ]);
  for (const [userId, path] of [
    [member.id, "/settings/apps"],
    [admin.id, "/settings/clients"],
  ] as const) {
    const { page, leave, complaints } = await visitShared(app, path, { userId });
    const row = page.getByRole("list", { name: "Connected apps" }).getByRole("listitem");
    await row.getByText("Registered itself").waitFor();
    await row.getByText("sends access to evil.example and a program on this device").waitFor();
    await assertAccessible(page);
    const dialog = page.getByRole("dialog");
    const choose = async (field: string, option: string): Promise<void> => {
      await dialog.getByRole("combobox", { name: field }).click();
      await page.getByRole("option", { name: option, exact: true }).click();
    };
    if (userId === member.id) {
      await row.getByRole("button", { name: "Edit Parley Official" }).click();
      await choose("Date filters", "By name");
      await assertAccessible(page);
      await dialog.getByRole("button", { name: "Save" }).click();
      await row.getByText("date filters by name").waitFor();
    } else {
      await row.getByText("date filters by name").waitFor();
      await row.getByRole("button", { name: `Edit Parley Official for ${member.name}` }).click();
      await choose("CRM field names", "crm and hubspot");
      await dialog.getByRole("button", { name: "Save" }).click();
      await row.getByText("hubspot field names").waitFor();
    }
    if (userId === admin.id) {
      await row.getByText(`authorized by ${member.name}`).waitFor();
      await row.getByRole("button", { name: "Revoke Parley Official" }).click();
      await dialog.getByRole("button", { name: "Revoke access" }).click();
      await page.getByText("No connected apps.").waitFor();
    }
    assert.deepEqual(complaints, []);
    await leave();
  }
});

test("audit log: filtered through the URL, and exported with the same filters", async () => {
  const { admin } = await makeWorkspace(app.db);
  const { page, complaints } = await visitShared(app, "/settings/teams", { userId: admin.id });
  await page.getByRole("button", { name: "Create team" }).click();
  await page.getByRole("dialog").getByRole("textbox", { name: "Name" }).fill("Sales");
  await page.getByRole("dialog").getByRole("button", { name: "Create team" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.getByRole("navigation", { name: "Settings" }).getByText("Audit log").click();
  const log = page.getByRole("list", { name: "Audit log" });
  await log.getByText("Team created").waitFor();
  await assertAccessible(page);
  await page.getByPlaceholder("Any action").click();
  await page.getByRole("option", { name: "Token revoked", exact: true }).click();
  await page.getByText("No entries match these filters.").waitFor();
  assert.equal(new URL(page.url()).searchParams.get("action"), "token_revoked");
  assert.equal(
    await page.getByRole("link", { name: "CSV" }).getAttribute("href"),
    "/_/api/v1/audit/export?format=csv&action=token_revoked",
  );
  assert.deepEqual(complaints, []);
});

test("audit log: recordings the admin can see are links with their title, others show their id", async () => {
  const { admin, member } = await makeWorkspace(app.db);
  const { recordingId: own } = await makeRecording(app, admin.token, { title: "Board meeting" });
  const { recordingId: hidden } = await makeRecording(app, member.token, { title: "Not for the admin" });
  for (const [id, { token }] of [
    [own, admin],
    [hidden, member],
  ] as const)
    await call(app, "POST", `/recordings/${id}`, {}, { token });
  const { page, complaints } = await visitShared(app, "/settings/audit", { userId: admin.id });
  const log = page.getByRole("list", { name: "Audit log" });
  await log.getByText(`recording ${hidden}`).waitFor();
  await log.getByRole("link", { name: "Board meeting" }).waitFor();
  assert.equal(await page.getByText("Not for the admin").count(), 0);
  await assertAccessible(page);
  await log.getByRole("link", { name: "Board meeting" }).click();
  await page.getByRole("heading", { level: 1, name: "Board meeting" }).waitFor();
  assert.deepEqual(complaints, []);
});

test("meeting types and templates: created, edited, ordered and deleted", async () => {
  const { admin } = await makeWorkspace(app.db);
  const { page, complaints } = await visitShared(app, "/settings/meeting-types", { userId: admin.id });
  await page.emulateMedia({ reducedMotion: "reduce" });
  const dialog = page.getByRole("dialog");
  await page.getByRole("button", { name: "Create type" }).click();
  await dialog.getByRole("textbox", { name: "Name" }).fill("Retrospective of the harbour");
  await assertAccessible(page);
  await dialog.getByRole("button", { name: "Create type" }).click();
  const type = page.getByRole("listitem").filter({ hasText: "Retrospective of the harbour" });
  await type.getByRole("button", { name: "Edit Retrospective of the harbour" }).click();
  await dialog.getByRole("combobox", { name: "Category" }).click();
  await page.getByRole("option", { name: /External/ }).click();
  await dialog.getByRole("button", { name: "Save" }).click();
  await page
    .getByRole("list", { name: "External meeting types" })
    .getByText("Retrospective of the harbour")
    .waitFor();
  await type.getByRole("button", { name: /Make default/ }).click();
  await type.getByText("Default", { exact: true }).waitFor();
  await assertAccessible(page);

  await page.getByRole("navigation", { name: "Settings" }).getByText("Templates").click();
  for (const title of ["Risks", "Decisions"]) {
    await page.getByRole("button", { name: "Create template" }).click();
    await dialog.getByRole("textbox", { name: "Title" }).fill(title);
    await dialog.getByRole("textbox", { name: "Instructions" }).fill(`${title} that were mentioned.`);
    await dialog.getByRole("button", { name: "Save template" }).click();
    await dialog.waitFor({ state: "detached" });
  }
  const list = page.getByRole("list", { name: "Templates" }).getByRole("listitem");
  await list.nth(1).filter({ hasText: "Decisions" }).waitFor();
  await page.getByRole("button", { name: "Move Decisions up" }).click();
  await list.nth(0).filter({ hasText: "Decisions" }).waitFor();
  await page.getByRole("switch", { name: "Enable Risks" }).click({ force: true });
  await list.filter({ hasText: "Risks" }).getByText("Off").waitFor();
  await assertAccessible(page);
  await page.getByRole("button", { name: "Delete Risks" }).click();
  await dialog.getByRole("button", { name: "Delete template" }).click();
  await list.nth(1).waitFor({ state: "detached" });
  assert.deepEqual(complaints, []);
});

test("imports: counting shows the run with its error, and old ids can be turned on", async () => {
  const { admin } = await makeWorkspace(app.db);
  const { page, complaints } = await visitShared(app, "/settings/imports", { userId: admin.id });
  await page.getByLabel("URL").fill("http://10.0.0.1");
  await page.locator("input[type=password]").fill("secret");
  await page.getByRole("switch", { name: "Connect without encryption" }).click({ force: true });
  await page.getByRole("button", { name: "Count recordings" }).click();
  const runs = page.getByRole("list", { name: "Imports" });
  await runs.getByText("the IP address 10.0.0.1 is not allowed").waitFor();
  const toggle = page.getByRole("switch", { name: "Resolve old ids" });
  await toggle.click({ force: true });
  await page.getByText("Saved.").waitFor();
  await page.reload();
  await toggle.waitFor();
  assert.ok(await toggle.isChecked());
  await assertAccessible(page);
  assert.deepEqual(complaints, []);
});

test("connections: one is created, shows its URL and events without secrets, and is deleted", async () => {
  const { admin } = await makeWorkspace(app.db);
  const { page, complaints } = await visitShared(app, "/settings/connections", { userId: admin.id });
  await page.getByText("No connections yet.").waitFor();
  await page.getByRole("button", { name: "Create connection" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Name" }).fill("Zoom of the company");
  await dialog.locator("input[type=password]").first().fill("the secret token");
  await dialog.getByRole("textbox", { name: "Client ID" }).fill("client");
  await dialog.getByRole("button", { name: "Create connection" }).click();
  await dialog.getByText("Is required with the other OAuth credentials").first().waitFor();
  await dialog.getByRole("textbox", { name: "Client ID" }).fill("");
  await assertAccessible(page);
  await dialog.getByRole("button", { name: "Create connection" }).click();
  const url = await page.getByLabel("Webhook URL to enter at Zoom").inputValue();
  assert.match(url, /\/_\/connect\/zoom\/[0-9a-f-]{36}$/);
  await app.db.pool.query(
    `insert into connection_events (id, connection_id, event_key, meeting_key, type, payload, state, reason)
     select gen_random_uuid(), id, '', '', 'recording.completed', '', 'failed', 'Zoom responds with 503'
     from connections where workspace_id = (select workspace_id from users where id = $1)`,
    [admin.id],
  );
  await page.reload();
  const events = page.getByRole("list", { name: "Events of Zoom of the company" });
  await events.getByText("Zoom responds with 503").waitFor();
  await assertAccessible(page);
  assert.ok(!(await page.content()).includes("the secret token"));
  await events.getByRole("button", { name: "Retry" }).click();
  await page.getByText("Event queued for retry.").waitFor();
  await page.getByRole("button", { name: "Delete Zoom of the company" }).click();
  await dialog.getByRole("button", { name: "Delete connection" }).click();
  await page.getByText("No connections yet.").waitFor();
  // The refused form, and events that were asked for while the connection was deleted.
  assert.deepEqual(
    complaints.filter((complaint) => !/ 40[04] /.test(complaint)),
    [],
  );
});

test("admin pages: nothing overflows on a phone in the dark", async () => {
  const { admin } = await makeWorkspace(app.db);
  const options = { userId: admin.id, size: phone, colorScheme: "dark" } as const;
  const { page, complaints } = await visitShared(app, "/trash", options);
  await page.getByRole("heading", { level: 1 }).waitFor();
  const goTo = createTour(page);
  for (const path of [
    "/settings/audit",
    "/settings/clients",
    "/settings/connections",
    "/settings/imports",
    "/settings/security",
    "/settings/users",
    "/settings/teams",
    "/settings/templates",
    "/settings/meeting-types",
  ]) {
    await goTo(path);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await assertAccessible(page);
    assert.ok(
      await page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"),
      path,
    );
    assert.deepEqual([...complaints], [], path);
  }
});
