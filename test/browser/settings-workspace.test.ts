import assert from "node:assert/strict";
import { test } from "node:test";
import { call, currentVersion } from "../support/app.ts";
import { makeWorkspace } from "../support/factories.ts";
import { assertAccessible, phone, startBrowserApp, visit } from "./support.ts";

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

test("workspace: name, domains and who sees new recordings are changed, and who joins by a domain is said", async () => {
  const { admin } = await makeWorkspace(app.db);
  const { page, complaints } = await visit(app, "/settings/workspace", { userId: admin.id });
  const part = (name: string) => page.getByRole("region", { name });
  await part("Name").getByRole("textbox").fill("Tidewater");
  await part("Name").getByRole("button", { name: "Save" }).click();
  await page.getByText("The name is saved.").waitFor();
  await part("Email domains")
    .getByText(/signs in with Tidewater ID gets an account/)
    .waitFor();
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
  await page.getByText(/The domains are saved/).waitFor();
  await page.getByRole("radio", { name: "Everybody in the workspace" }).check();
  await part("New recordings").getByRole("button", { name: "Save" }).click();
  await page.getByText(/It holds for recordings made from now on/).waitFor();
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

test("profile: single sign-on is shown and unbound, but not by who has no other way in", async () => {
  const { admin, member } = await makeWorkspace(app.db);
  const bind = (user_id: string) =>
    kysely
      .insertInto("identities")
      .values({ issuer: "https://id.tidewater.example", subject: user_id, user_id })
      .execute();
  for (const { id } of [admin, member]) await bind(id);
  await kysely.updateTable("users").set({ password_hash: "x" }).where("id", "=", admin.id).execute();
  const { page, complaints } = await visit(app, "/settings", { userId: admin.id });
  const section = page.getByRole("region", { name: "Single sign-on" });
  await section.getByText("https://id.tidewater.example").waitFor();
  await section.getByRole("button", { name: "Unbind" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Unbind" }).click();
  await section.getByText(/Not bound\. Sign in with Tidewater ID once/).waitFor();
  await assertAccessible(page);
  assert.deepEqual(complaints, []);
  const other = await visit(app, "/settings", { userId: member.id });
  const only = other.page.getByRole("region", { name: "Single sign-on" });
  await only.getByText(/Your only way to sign in/).waitFor();
  assert.equal(await only.getByRole("button").count(), 0);

  // An admin sees who signs in how, and unbinds it for somebody else.
  await page.getByRole("navigation", { name: "Settings" }).getByText("People").click();
  const row = page.getByRole("listitem").filter({ hasText: member.email });
  await row.getByText("single sign-on", { exact: true }).waitFor();
  await row.getByRole("button", { name: /What to do with/ }).click();
  await page.getByRole("menuitem", { name: "Unbind single sign-on" }).click();
  await page
    .getByRole("dialog")
    .getByText(/Until then they have no way in/)
    .waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Unbind" }).click();
  await row.getByText("no way to sign in yet").waitFor();
  assert.deepEqual(complaints, []);
});

test("profile: colours are light, dark, or as the device has them, also after a reload", async () => {
  const { member } = await makeWorkspace(app.db);
  const { page, complaints } = await visit(app, "/settings", { userId: member.id, colorScheme: "light" });
  const scheme = () => page.locator("html").getAttribute("data-mantine-color-scheme");
  const choose = (name: string) =>
    page.getByRole("radiogroup", { name: "Colours" }).getByText(name, { exact: true }).click();
  await choose("Dark");
  assert.equal(await scheme(), "dark");
  await page.reload();
  await page.getByRole("radiogroup", { name: "Colours" }).waitFor();
  assert.equal(await scheme(), "dark");
  await choose("As this device");
  assert.equal(await scheme(), "light");
  assert.deepEqual(complaints, []);
});

test("API: the first request works as it stands there, with a token in it", async () => {
  const { member } = await makeWorkspace(app.db);
  const { page, complaints } = await visit(app, "/settings/api", { userId: member.id });
  const text = await page.getByRole("region", { name: "Lines: First request" }).innerText();
  assert.match(text, new RegExp(`SERVER=${app.url}\n`));
  assert.match(text, new RegExp(`Public-Api-Version: ${currentVersion}`));
  await page.getByRole("link", { name: "API reference" }).waitFor();
  await assertAccessible(page);
  const [, path = ""] = /^api (\S+) -X POST$/m.exec(text) ?? [];
  const headers = [...text.matchAll(/-H "([^:]+): ([^"]+)"/g)].map(([, name = "", value = ""]) => [
    name,
    value.replace("$TOKEN", member.token),
  ]);
  const answer = await fetch(`${app.url}/_/public-api/v2${path}`, {
    method: "POST",
    headers: Object.fromEntries(headers),
  });
  assert.equal(answer.status, 200);
  assert.deepEqual(((await answer.json()) as { recordings: unknown[] }).recordings, []);
  assert.deepEqual(complaints, []);
});

test("hooks: an admin finds those of the workspace, and who made them", async () => {
  const { admin, member, id } = await makeWorkspace(app.db);
  await app.db.pool.query(
    `insert into hooks (id, workspace_id, created_by, scope, version, hook_url, hook_type, include, secret)
     values (gen_random_uuid(), $1, $2, 'workspace', $3, 'https://crm.example/in', 'recording_added', '{}', $4)`,
    [id, admin.id, currentVersion, app.sealer.seal("whsec_any")],
  );
  const { page, complaints } = await visit(app, "/settings/hooks", { userId: admin.id });
  await page.getByText("No hooks yet.").waitFor();
  await page.getByText("The workspace's", { exact: true }).click();
  await page.getByText(`made with a token of ${admin.name}`).waitFor();
  await assertAccessible(page);
  await page.getByRole("link", { name: "Recording added" }).click();
  await page.getByText("of the whole workspace").waitFor();
  await page.getByRole("button", { name: "Switch off" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Switch off" }).click();
  await page.getByText("The hook is off", { exact: true }).waitFor();
  assert.deepEqual(complaints, []);
  const other = await visit(app, "/settings/hooks", { userId: member.id });
  await other.page.getByText("No hooks yet.").waitFor();
  assert.equal(await other.page.getByText("The workspace's").count(), 0);
});

test("workspace and API: on a phone in the dark nothing is wider than the window", async () => {
  const { admin } = await makeWorkspace(app.db);
  for (const [path, name] of [
    ["/settings/workspace", "Workspace"],
    ["/settings/api", "API"],
  ] as const) {
    const { page, complaints } = await visit(app, path, {
      userId: admin.id,
      size: phone,
      colorScheme: "dark",
    });
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
