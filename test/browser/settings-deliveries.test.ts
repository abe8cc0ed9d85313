import assert from "node:assert/strict";
import { test } from "node:test";
import { makeRecording, makeWorkspace } from "../support/factories.ts";
import { startHookReceiver, status } from "../support/hook-receiver.ts";
import { assertAccessible, phone, startBrowserApp, visitShared } from "./support.ts";

const app = await startBrowserApp({ env: { PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.1/32" } });
const receiver = await startHookReceiver();

type Page = Awaited<ReturnType<typeof visitShared>>["page"];
async function shot(page: Page, name: string): Promise<void> {
  if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/${name}.png` });
}

test("deliveries: one for Slack is created with a preview, tested, edited, read in the log, resent and deleted", async () => {
  const { member } = await makeWorkspace(app.db);
  const { recordingId } = await makeRecording(app, member.token, { title: "Harbour contract" });
  await app.db.pool.query("update recordings set ai_summary = $2 where id = $1", [
    recordingId,
    "The harbour contract is **signed**.\n\n- Work starts in May",
  ]);
  const { page, complaints } = await visitShared(app, "/settings/deliveries", { userId: member.id });
  // A half-faded dialog would fail the contrast check.
  await page.emulateMedia({ reducedMotion: "reduce" });
  await page.getByText("No deliveries yet.").waitFor();
  await shot(page, "deliveries-empty");
  await page.getByRole("button", { name: "Create delivery" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Work starts in May").waitFor();
  await dialog.getByLabel("Text").fill("## Result\n{summary}\n\n## Next\n{action_items}");
  await dialog.getByRole("heading", { name: "Result" }).waitFor();
  await dialog.getByLabel("Name").fill("#harbour");
  await dialog.getByLabel("Webhook URL").fill(`${receiver.url}/services/secret`);
  await dialog.getByLabel("Tag").fill("launch");
  await assertAccessible(page);
  await shot(page, "deliveries-create");
  await dialog.getByRole("button", { name: "Create delivery" }).click();
  await dialog.waitFor({ state: "detached" });
  const row = page.getByRole("list", { name: "Deliveries" }).getByRole("listitem").first();
  await row.getByText("recordings tagged launch").waitFor();

  receiver.at("/services/secret", status(404, "no_service"));
  await row.getByRole("button", { name: "Test #harbour" }).click();
  await row.getByText("The test failed").waitFor();
  await row.getByText("no_service").waitFor();
  await shot(page, "deliveries-test");
  receiver.at("/services/secret", status(200, "ok"));
  await row.getByRole("button", { name: "Test #harbour" }).click();
  await row.getByText("The test succeeded (status 200)").waitFor();

  await row.getByRole("button", { name: "Edit #harbour" }).click();
  await dialog.getByLabel("Tag").fill("");
  assert.equal(await dialog.getByLabel("Webhook URL").inputValue(), "");
  await dialog.getByRole("button", { name: "Save" }).click();
  await row.getByText("every recording").waitFor();
  await assertAccessible(page);

  await makeRecording(app, member.token, { title: "Second meeting" });
  await row.getByRole("button", { name: "Log of #harbour" }).click();
  const log = page.getByRole("dialog", { name: "Sent to #harbour" });
  await log.getByText("Second meeting").waitFor();
  await log.getByText("Delivered").waitFor();
  await assertAccessible(page);
  await shot(page, "deliveries-log");
  const before = receiver.requests.length;
  await log.getByRole("button", { name: "Resend Second meeting" }).click();
  await receiver.waitFor(before + 1);
  await page.keyboard.press("Escape");
  await log.waitFor({ state: "detached" });
  await row.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Delete delivery" }).click();
  await page.getByText("No deliveries yet.").waitFor();
  assert.deepEqual(complaints, []);
});

test("deliveries: nothing overflows on a phone in the dark; admins also choose email and files", async () => {
  const { admin } = await makeWorkspace(app.db);
  await makeRecording(app, admin.token, { title: "Harbour contract" });
  const { page, complaints } = await visitShared(app, "/settings/deliveries", {
    userId: admin.id,
    size: phone,
    colorScheme: "dark",
  });
  await page.emulateMedia({ reducedMotion: "reduce" });
  await page.getByRole("button", { name: "Create delivery" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("combobox", { name: "Send to" }).click();
  await page.getByRole("option", { name: "Markdown files" }).click();
  await dialog.getByLabel("Folder").fill("meetings");
  await dialog.getByText("## Transcript").waitFor();
  await assertAccessible(page);
  await shot(page, "deliveries-phone-form");
  await dialog.getByRole("button", { name: "Create delivery" }).click();
  await page.getByText("folder meetings").waitFor();
  await page.getByRole("button", { name: "Test Markdown" }).click();
  await page.getByText("The test succeeded").waitFor();
  await shot(page, "deliveries-phone");
  assert.ok(
    await page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"),
  );
  assert.deepEqual(complaints, []);
});
