import assert from "node:assert/strict";
import { test } from "node:test";
import { versionNames } from "../../contract/versions.ts";
import { call } from "../support/app.ts";
import { makeWorkspace, type TestUser } from "../support/factories.ts";
import { startHookReceiver } from "../support/hook-receiver.ts";
import { assertAccessible, phone, startBrowserApp, visitShared } from "./support.ts";

const app = await startBrowserApp({ env: { PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8" } });
const receiver = await startHookReceiver();

/** Creates a webhook of the first API version, which accepts URLs without TLS. */
async function makeHook(user: TestUser): Promise<string> {
  const body = { hook_url: `${receiver.url}/parley`, hook_type: "recording_added" };
  const created = await call(app, "POST", "/hooks/create", body, {
    token: user.token,
    version: versionNames[0],
  });
  assert.equal(created.status, 200, created.text);
  return created.body.id;
}

test("webhooks: errors of a new one are shown at its fields", async () => {
  const { member } = await makeWorkspace(app.db);
  const { page, complaints } = await visitShared(app, "/settings/webhooks", { userId: member.id });
  // A half-faded dialog would fail the contrast check.
  await page.emulateMedia({ reducedMotion: "reduce" });
  await page.getByText("No webhooks yet.").waitFor();
  await page.getByRole("button", { name: "Create webhook" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("URL").fill("http://example.com/hook");
  await assertAccessible(page);
  await dialog.getByRole("button", { name: "Create webhook" }).click();
  await dialog.locator("p", { hasText: "https" }).last().waitFor();
  await assertAccessible(page);
  // The browser itself reports the refused request; nothing else may be wrong.
  assert.deepEqual(
    complaints.filter((text) => !text.includes("status of 400")),
    [],
  );
});

test("webhooks: a test event is sent, logged, resent and replayed; the secret is rotated; the webhook is deleted", async () => {
  const { member } = await makeWorkspace(app.db);
  const hookId = await makeHook(member);
  const { page, complaints } = await visitShared(app, "/settings/webhooks", { userId: member.id });
  // A half-faded dialog would fail the contrast check.
  await page.emulateMedia({ reducedMotion: "reduce" });
  await page.getByRole("link", { name: "Recording added" }).click();
  await page.waitForURL(new RegExp(`/settings/webhooks/${hookId}$`));
  await page.getByRole("button", { name: "Send test" }).click();
  const row = page.getByRole("list", { name: "Deliveries" }).getByRole("listitem");
  await row.getByText("Delivered").waitFor();
  await row.getByText("test event").waitFor();
  await assertAccessible(page);

  await row.getByRole("button", { name: /Details/ }).click();
  const dialog = page.getByRole("dialog", { name: "Delivery" });
  await dialog.getByRole("region", { name: "URL and headers" }).getByText("webhook-signature").waitFor();
  await dialog.getByRole("region", { name: "Body" }).getByText('"test": true').waitFor();
  await assertAccessible(page);
  const before = receiver.requests.length;
  await dialog.getByRole("button", { name: "Resend" }).click();
  await receiver.waitFor(before + 1);
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });

  await page.getByRole("button", { name: "Replay" }).click();
  await page.getByRole("radio", { name: "Everything" }).check();
  await assertAccessible(page);
  await page.getByRole("button", { name: "Replay events" }).click();
  await page
    .getByText(/queued\.$/)
    .last()
    .waitFor();

  await page.getByRole("button", { name: "Rotate secret" }).click();
  await page.getByRole("button", { name: "Create secret" }).click();
  assert.match(await page.getByLabel("Signing secret").inputValue(), /^whsec_/);
  await page.getByRole("button", { name: "Done" }).click();

  await page.getByRole("button", { name: "Disable" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Disable" }).click();
  await page.getByText("Webhook disabled.", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Enable" }).click();
  await page.getByRole("button", { name: "Send test" }).waitFor();
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Delete webhook" }).click();
  await page.getByText("No webhooks yet.").waitFor();
  assert.deepEqual(complaints, []);
});

test("webhooks: nothing overflows on a phone in the dark", async () => {
  const { member } = await makeWorkspace(app.db);
  const hookId = await makeHook(member);
  const { page, complaints } = await visitShared(app, `/settings/webhooks/${hookId}`, {
    userId: member.id,
    size: phone,
    colorScheme: "dark",
  });
  await page.getByRole("heading", { name: "Deliveries" }).waitFor();
  await page.getByText("No deliveries yet.").waitFor();
  await assertAccessible(page);
  assert.ok(
    await page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"),
  );
  assert.deepEqual(complaints, []);
});
