import assert from "node:assert/strict";
import { test } from "node:test";
import { versionNames } from "../../contract/versions.ts";
import { call } from "../support/app.ts";
import { makeWorkspace, type TestUser } from "../support/factories.ts";
import { startHookReceiver } from "../support/hook-receiver.ts";
import { assertAccessible, phone, startBrowserApp, visit } from "./support.ts";

const app = await startBrowserApp({ env: { PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8" } });
const receiver = await startHookReceiver();

/** A hook of the first version, which takes addresses without TLS. */
async function makeHook(user: TestUser): Promise<string> {
  const body = { hook_url: `${receiver.url}/parley`, hook_type: "recording_added" };
  const made = await call(app, "POST", "/hooks/create", body, {
    token: user.token,
    version: versionNames[0],
  });
  assert.equal(made.status, 200, made.text);
  return made.body.id;
}

test("hooks: the faults of a new one stand at its fields", async () => {
  const { member } = await makeWorkspace(app.db);
  const { page, complaints } = await visit(app, "/settings/hooks", { userId: member.id });
  await page.getByText("No hooks yet.").waitFor();
  await page.getByRole("button", { name: "New hook" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Address").fill("http://example.com/hook");
  await assertAccessible(page);
  await dialog.getByRole("button", { name: "Make hook" }).click();
  await dialog.locator("p", { hasText: "https" }).waitFor();
  await assertAccessible(page);
  // The browser itself reports the refused request; nothing else may be wrong.
  assert.deepEqual(
    complaints.filter((text) => !text.includes("status of 400")),
    [],
  );
});

test("hooks: a test event is sent and logged, sent again, replayed, the secret changed, and the hook deleted", async () => {
  const { member } = await makeWorkspace(app.db);
  const hookId = await makeHook(member);
  const { page, complaints } = await visit(app, "/settings/hooks", { userId: member.id });
  // No half-faded dialog for the check of the contrast.
  await page.emulateMedia({ reducedMotion: "reduce" });
  await page.getByRole("link", { name: "Recording added" }).click();
  await page.waitForURL(new RegExp(`/settings/hooks/${hookId}$`));
  await page.getByRole("button", { name: "Send test" }).click();
  const row = page.getByRole("list", { name: "Deliveries" }).getByRole("listitem");
  await row.getByText("Delivered").waitFor();
  await row.getByText("test event").waitFor();
  await assertAccessible(page);

  await row.getByRole("button", { name: /Details/ }).click();
  const dialog = page.getByRole("dialog", { name: "Delivery" });
  await dialog.getByRole("region", { name: "Address and headers" }).getByText("webhook-signature").waitFor();
  await dialog.getByRole("region", { name: "Body" }).getByText('"test": true').waitFor();
  await assertAccessible(page);
  const before = receiver.requests.length;
  await dialog.getByRole("button", { name: "Send again" }).click();
  await receiver.waitFor(before + 1);
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });

  await page.getByRole("button", { name: "Replay" }).click();
  await page.getByRole("radio", { name: "Everything" }).check();
  await assertAccessible(page);
  await page.getByRole("button", { name: "Send again" }).click();
  await page
    .getByText(/sent again\.$/)
    .last()
    .waitFor();

  await page.getByRole("button", { name: "New secret" }).click();
  await page.getByRole("button", { name: "Make new secret" }).click();
  assert.match(await page.getByLabel("Signing secret").inputValue(), /^whsec_/);
  await page.getByRole("button", { name: "Done" }).click();

  await page.getByRole("button", { name: "Switch off" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Switch off" }).click();
  await page.getByText("The hook is off", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Switch on" }).click();
  await page.getByRole("button", { name: "Send test" }).waitFor();
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Delete hook" }).click();
  await page.getByText("No hooks yet.").waitFor();
  assert.deepEqual(complaints, []);
});

test("hooks: on a phone in the dark nothing is wider than the window", async () => {
  const { member } = await makeWorkspace(app.db);
  const hookId = await makeHook(member);
  const { page, complaints } = await visit(app, `/settings/hooks/${hookId}`, {
    userId: member.id,
    size: phone,
    colorScheme: "dark",
  });
  await page.getByRole("heading", { name: "Deliveries" }).waitFor();
  await page.getByText("Nothing was sent yet.").waitFor();
  await assertAccessible(page);
  assert.ok(
    await page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"),
  );
  assert.deepEqual(complaints, []);
});
