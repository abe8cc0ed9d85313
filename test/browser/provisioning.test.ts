import assert from "node:assert/strict";
import { test } from "node:test";
import { makeScimToken, scimClient } from "../../server/people/scim/test/scim.ts";
import { makeWorkspace } from "../support/factories.ts";
import { assertAccessible, phone, startBrowserApp, visitShared } from "./support.ts";

const app = await startBrowserApp();
const shots = process.env.SCREENSHOTS;

test("provisioning: a SCIM token is created, shown once, used, listed with what isn't stored, and revoked", async () => {
  const workspace = await makeWorkspace(app.db);
  const userId = workspace.admin.id;
  const { page, complaints } = await visitShared(app, "/settings/provisioning", { userId });
  await page.getByText("No SCIM tokens yet.").waitFor();
  assert.equal(await page.getByLabel("URL for the provider").inputValue(), `${app.config.baseUrl}/_/scim/v2`);
  await page.getByRole("button", { name: "Create SCIM token", exact: true }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Provider" }).fill("Okta");
  await assertAccessible(page);
  if (shots) await page.screenshot({ path: `${shots}/provisioning-dialog.png` });
  await dialog.getByRole("button", { name: "Create token", exact: true }).click();
  const token = await dialog.getByLabel("SCIM token", { exact: true }).inputValue();
  await dialog.getByRole("button", { name: "Done", exact: true }).click();

  const created = await scimClient(app, token)("POST", "/Users", {
    userName: `ada@${workspace.domain}`,
    title: "Engineer",
    "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User": { department: "Research" },
  });
  assert.equal(created.status, 201);
  await makeScimToken(app.db, workspace);
  await page.reload();
  const list = page.getByRole("list", { name: "SCIM tokens" });
  await list.getByText("not stored: title (1 request), department (1 request)").waitFor();
  await list.getByText("created on the command line").waitFor();
  await assertAccessible(page);
  if (shots) await page.screenshot({ path: `${shots}/provisioning.png` });
  const small = await visitShared(app, "/settings/provisioning", {
    userId,
    size: phone,
    colorScheme: "dark",
  });
  await small.page.getByRole("list", { name: "SCIM tokens" }).waitFor();
  await assertAccessible(small.page);
  assert.ok(
    await small.page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"),
  );
  if (shots) await small.page.screenshot({ path: `${shots}/provisioning-phone.png`, fullPage: true });

  await page.getByRole("button", { name: "Revoke Okta", exact: true }).click();
  await dialog.getByRole("button", { name: "Revoke token", exact: true }).click();
  await page.getByText("Okta revoked.").waitFor();
  assert.equal((await scimClient(app, token)("GET", "/Users")).status, 401);
  assert.deepEqual([...complaints, ...small.complaints], []);
});
