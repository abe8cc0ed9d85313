import assert from "node:assert/strict";
import { test } from "node:test";
import { makeWorkspace } from "../support/factories.ts";
import { assertAccessible, phone, startBrowserApp, visit } from "./support.ts";

const app = await startBrowserApp();

test("apps: one is made with its secret shown once, changed, gets a new secret, and is deleted", async () => {
  const { admin } = await makeWorkspace(app.db);
  const { page, complaints } = await visit(app, "/settings/clients", { userId: admin.id });
  await page.emulateMedia({ reducedMotion: "reduce" });
  await page.getByRole("button", { name: "New app" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Name" }).fill("Notes");
  await dialog.getByRole("textbox", { name: "Redirect URIs" }).fill("https://notes.example/callback");
  await assertAccessible(page);
  await dialog.getByRole("button", { name: "Make app" }).click();
  const secret = await dialog.getByLabel("Client secret").inputValue();
  assert.ok(secret.length > 20);
  await dialog.getByRole("button", { name: "Done" }).click();
  const row = page.getByRole("listitem").filter({ hasText: "https://notes.example/callback" });
  await row.getByRole("button", { name: "Edit Notes" }).click();
  await dialog.getByRole("textbox", { name: "Name" }).fill("Notebook");
  await dialog.getByRole("button", { name: "Save" }).click();
  await row.getByRole("button", { name: "New secret for Notebook" }).click();
  await dialog.getByRole("button", { name: "Make new secret" }).click();
  assert.notEqual(await dialog.getByLabel("Client secret").inputValue(), secret);
  await dialog.getByRole("button", { name: "Done" }).click();
  await row.getByText(/the old secret is good until/).waitFor();
  await assertAccessible(page);
  await row.getByRole("button", { name: "Delete Notebook" }).click();
  await dialog.getByRole("button", { name: "Delete app" }).click();
  await page.getByText("No apps yet.").waitFor();
  assert.deepEqual(complaints, []);
});

test("audit log: is narrowed by the address and exported as it is narrowed", async () => {
  const { admin } = await makeWorkspace(app.db);
  const { page, complaints } = await visit(app, "/settings/teams", { userId: admin.id });
  await page.getByRole("button", { name: "New team" }).click();
  await page.getByRole("dialog").getByRole("textbox", { name: "Name" }).fill("Sales");
  await page.getByRole("button", { name: "Make team" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.getByRole("navigation", { name: "Settings" }).getByText("Audit log").click();
  const log = page.getByRole("list", { name: "Audit log" });
  await log.getByText("Team created").waitFor();
  await assertAccessible(page);
  await page.getByPlaceholder("Any action").click();
  await page.getByRole("option", { name: "Token revoked" }).click();
  await page.getByText("No entry fits these filters.").waitFor();
  assert.equal(new URL(page.url()).searchParams.get("action"), "token_revoked");
  assert.equal(
    await page.getByRole("link", { name: "CSV" }).getAttribute("href"),
    "/_/api/v1/audit/export?format=csv&action=token_revoked",
  );
  assert.deepEqual(complaints, []);
});

test("audit log and apps: on a phone in the dark nothing is wider than the window", async () => {
  const { admin } = await makeWorkspace(app.db);
  for (const path of ["/settings/audit", "/settings/clients", "/settings/people", "/settings/teams"]) {
    const { page, complaints } = await visit(app, path, {
      userId: admin.id,
      size: phone,
      colorScheme: "dark",
    });
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.waitForLoadState("networkidle");
    await assertAccessible(page);
    assert.ok(
      await page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"),
      path,
    );
    assert.deepEqual([...complaints], []);
  }
});
