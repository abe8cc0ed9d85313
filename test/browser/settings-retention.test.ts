import assert from "node:assert/strict";
import { test } from "node:test";
import { call } from "../support/app.ts";
import { makeRecording, makeUser, makeWorkspace, type TestWorkspace } from "../support/factories.ts";
import { assertAccessible, phone, startBrowserApp, visitShared } from "./support.ts";

const app = await startBrowserApp();

const manage = async (method: string, path: string, token: string, body?: unknown) => {
  const response = await call(app, method, `/_/api/v1${path}`, body, { token, version: null });
  assert.ok(response.status < 300, response.text);
  return response.body;
};

/** Creates a recording old enough for rules. */
async function makeOld(token: string, title: string, more: object = {}): Promise<string> {
  const start_datetime = new Date(Date.now() - 400 * 86_400_000).toISOString();
  const { recordingId } = await makeRecording(app, token, { title, start_datetime, ...more });
  await app.db.pool.query("update recordings set created_at = now() - interval '2 days' where id = $1", [
    recordingId,
  ]);
  return recordingId;
}

const rulesOf = (workspace: TestWorkspace) =>
  manage("GET", "/retention/rules", workspace.admin.token).then(({ rules }) => rules);

test("retention: a rule is created only after a preview, then edited, disabled, enabled and deleted", async () => {
  const workspace = await makeWorkspace(app.db);
  const { admin, member } = workspace;
  await makeOld(admin.token, "Harbour contract");
  await makeOld(member.token, "Seen by the member alone");
  const held = await makeOld(admin.token, "Held");
  await manage("PUT", `/recordings/${held}/legal-hold`, admin.token, { reason: "A case" });
  const { page, complaints } = await visitShared(app, "/settings/retention", { userId: admin.id });
  await page.getByText("No rules. Recordings stay until someone deletes them.").waitFor();
  await page.getByText("No deletions by rules yet.").waitFor();
  await assertAccessible(page);

  await page.getByRole("button", { name: "Create rule" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Name" }).fill("Old ones");
  await assertAccessible(page);
  await dialog.getByRole("button", { name: "Preview" }).click();
  await dialog.getByText("Deletes recordings that started more than 365 days ago.").waitFor();
  await dialog.getByText("2 recordings match now").waitFor();
  await dialog.getByText(/1 more match is on legal hold/).waitFor();
  const goes = dialog.getByRole("region", { name: /Matching recordings/ });
  await goes.getByText("Seen by the member alone").waitFor();
  await dialog.getByText(/Includes recordings you can't open/).waitFor();
  await assertAccessible(page);
  assert.deepEqual(await rulesOf(workspace), []);
  await dialog.getByRole("button", { name: "Back" }).click();
  assert.equal(await dialog.getByRole("textbox", { name: "Name" }).inputValue(), "Old ones");
  await dialog.getByRole("textbox", { name: "Older than" }).fill("500");
  await dialog.getByRole("textbox", { name: "Tag" }).fill("draft");
  await dialog.getByRole("button", { name: "Preview" }).click();
  await dialog.getByText("Nothing matches now").waitFor();
  await dialog.getByRole("button", { name: "Create rule" }).click();
  await dialog.waitFor({ state: "detached" });
  const [rule] = await rulesOf(workspace);
  assert.deepEqual(
    [rule.name, rule.older_than_days, rule.tag, rule.enabled],
    ["Old ones", 500, "draft", true],
  );

  const row = page.getByRole("list", { name: "Rules" }).getByRole("listitem");
  await row.getByText(/^Starts/).waitFor();
  await row
    .getByText(
      "Deletes recordings that started more than 500 days ago. Only recordings with the tag “draft”.",
    )
    .waitFor();
  await row.getByRole("button", { name: "Edit Old ones" }).click();
  await dialog.getByRole("textbox", { name: "Tag" }).fill("");
  await dialog.getByRole("textbox", { name: "Older than" }).fill("365");
  await dialog.getByRole("button", { name: "Preview" }).click();
  await dialog.getByText("2 recordings match now").waitFor();
  await dialog.getByRole("button", { name: "Save rule" }).click();
  await dialog.waitFor({ state: "detached" });
  assert.equal((await rulesOf(workspace))[0].tag, null);

  await row.getByRole("button", { name: "Disable Old ones" }).click();
  await row.getByText("Disabled", { exact: true }).waitFor();
  await row.getByRole("button", { name: "Enable Old ones" }).click();
  await dialog.getByText("2 recordings match now").waitFor();
  await dialog.getByText("Harbour contract").waitFor();
  await dialog.getByRole("button", { name: "Enable" }).click();
  await row.getByText(/^Starts/).waitFor();
  await row.getByRole("button", { name: "Preview Old ones" }).click();
  await dialog.getByText("Harbour contract").waitFor();
  await page.keyboard.press("Escape");
  await row.getByRole("button", { name: "Delete Old ones" }).click();
  await dialog.getByRole("button", { name: "Delete rule" }).click();
  await page.getByText("No rules. Recordings stay").waitFor();
  assert.deepEqual(complaints, []);
});

test("legal holds: placed by title or URL, the reason edited, and released", async () => {
  const { admin, member } = await makeWorkspace(app.db);
  await makeOld(admin.token, "Harbour contract");
  const unseen = await makeOld(member.token, "Seen by the member alone");
  const { page, complaints } = await visitShared(app, "/settings/holds", { userId: admin.id });
  await page.getByText("No legal holds.").waitFor();
  const dialog = page.getByRole("dialog");
  const place = async (words: string, option: string | RegExp, reason: string) => {
    await page.getByRole("button", { name: "Place hold" }).click();
    await dialog.getByRole("combobox", { name: "Recording" }).fill(words);
    await page.getByRole("option", { name: option }).click();
    await dialog.getByRole("textbox", { name: "Reason" }).fill(reason);
    if (reason === "Case 1") await assertAccessible(page);
    await dialog.getByRole("button", { name: "Place hold" }).click();
    await dialog.waitFor({ state: "detached" });
  };
  await place("harb", /Harbour contract/, "Case 1");
  await place(`${app.url}/recordings/${unseen}`, `Recording ${unseen}`, "Case 2");
  const list = page.getByRole("list", { name: "Legal holds" });
  const hidden = list.getByRole("listitem").filter({ hasText: "A recording you can't see" });
  await hidden.getByText(unseen).waitFor();
  assert.equal(await list.getByText("Seen by the member alone").count(), 0);
  await assertAccessible(page);
  await hidden.getByRole("button", { name: /Change reason/ }).click();
  await dialog.getByRole("textbox", { name: "Reason" }).fill("Case 3");
  await dialog.getByRole("button", { name: "Save" }).click();
  await hidden.getByText("Case 3").waitFor();
  const seen = list.getByRole("listitem").filter({ hasText: "Harbour contract" });
  await seen.getByRole("button", { name: "Release Harbour contract" }).click();
  await dialog.getByText(/Reason for the hold: Case 1/).waitFor();
  await dialog.getByRole("button", { name: "Release hold" }).click();
  await seen.waitFor({ state: "detached" });
  const { legal_holds } = await manage("GET", "/legal-holds", admin.token);
  assert.deepEqual(
    legal_holds.map((hold: { recording_id: string; reason: string }) => [hold.recording_id, hold.reason]),
    [[unseen, "Case 3"]],
  );
  assert.deepEqual(complaints, []);
});

test("erase personal data: found, previewed, confirmed by typing, with a receipt", async () => {
  const workspace = await makeWorkspace(app.db);
  const { admin } = workspace;
  const zora = await makeUser(app.db, workspace, { name: "Zora Quimby" });
  const participants = [{ name: "Zora Quimby", email: zora.email }];
  await makeOld(admin.token, "Harbour contract", { participants });
  const held = await makeOld(admin.token, "Held", { participants });
  await manage("PUT", `/recordings/${held}/legal-hold`, admin.token, { reason: "A case" });
  const { page, complaints } = await visitShared(app, "/settings/erase-personal-data", { userId: admin.id });
  await page.getByText("No personal data erased yet.").waitFor();
  await page.getByRole("combobox", { name: "Email" }).fill("Zora Q");
  await page.getByRole("option", { name: /Zora Quimby/ }).click();
  await page.getByRole("button", { name: "Find data" }).click();
  await page
    .getByRole("region", { name: /Recordings with this person/ })
    .getByText("Harbour contract")
    .waitFor();
  await assertAccessible(page);
  await page.getByRole("radio", { name: "Delete them" }).check();
  await page.getByRole("button", { name: /^Erase personal data/ }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("the account of Zora Quimby").waitFor();
  await dialog.getByText("1 recording, for everyone").waitFor();
  await dialog.getByText("not included: 1 recording on legal hold").waitFor();
  const confirm = dialog.getByRole("button", { name: "Erase personal data" });
  const typed = dialog.getByRole("textbox", { name: /to confirm/ });
  await typed.fill("zora");
  assert.ok(await confirm.isDisabled());
  await typed.fill(zora.email);
  await assertAccessible(page);
  await confirm.click();
  const row = page.getByRole("list", { name: "History" }).getByRole("listitem");
  await row.getByText("Done").waitFor();
  await row.getByText("1 recording deleted").waitFor();
  await row.getByText(/On legal hold, not changed/).waitFor();
  assert.equal(await row.getByRole("link").getAttribute("href"), `/recordings/${held}`);
  await assertAccessible(page);
  assert.deepEqual(complaints, []);
});

test("erase personal data: admins can't erase themselves, and see why", async () => {
  const { admin } = await makeWorkspace(app.db);
  const { page, complaints } = await visitShared(app, "/settings/erase-personal-data", { userId: admin.id });
  await page.getByRole("combobox", { name: "Email" }).fill(admin.email);
  await page.keyboard.press("Escape");
  await page.keyboard.press("Enter");
  await page.getByText(/can't erase your own data/).waitFor();
  assert.ok(await page.getByRole("button", { name: /^Erase personal data/ }).isDisabled());
  assert.deepEqual(complaints, []);
});

test("data governance: nothing overflows on a phone in the dark", async () => {
  const { admin } = await makeWorkspace(app.db);
  const id = await makeOld(admin.token, "A long title that never ends ".repeat(4));
  await manage("PUT", `/recordings/${id}/legal-hold`, admin.token, { reason: "A case" });
  await manage("POST", "/retention/rules", admin.token, { name: "Old ones", older_than_days: 30 });
  const { page, complaints } = await visitShared(app, "/icon.svg", {
    userId: admin.id,
    size: phone,
    colorScheme: "dark",
  });
  for (const [path, text] of [
    ["/settings/retention", /started more than 30 days ago/],
    ["/settings/holds", /A case/],
    ["/settings/erase-personal-data", /No personal data erased/],
  ] as const) {
    await page.goto(app.url + path);
    await page.getByText(text).waitFor();
    await assertAccessible(page);
    assert.ok(
      await page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"),
      path,
    );
    assert.deepEqual(complaints, []);
  }
});
