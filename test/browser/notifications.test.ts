import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { call } from "../support/app.ts";
import { insertRecording, makeUser, makeWorkspace } from "../support/factories.ts";
import { assertAccessibleAtRest } from "./recording-support.ts";
import { phone, startBrowserApp, visit } from "./support.ts";

const app = await startBrowserApp();
const workspace = await makeWorkspace(app.db);
const { member } = workspace;
const ben = await makeUser(app.db, workspace, { name: "Ben Ito" });

async function share(title: string): Promise<string> {
  const id = await insertRecording(app.db, { recorderId: member.id, title, duration_ms: 60_000 });
  await call(app, "PUT", `/recordings/${id}/users`, { user_id: ben.id }, { token: member.token });
  return id;
}

async function picture(page: Page, name: string): Promise<void> {
  if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/${name}.png` });
}

test("the bell counts what is new while the page is open, lists it by recording, and opens it", async () => {
  const { page, complaints } = await visit(app, "/", { userId: ben.id });
  await page.getByRole("button", { name: "Notifications", exact: true }).click();
  await page.getByText("No notifications yet").waitFor();
  await page.keyboard.press("Escape");
  const heron = await share("Heron 2");
  await share("Standup");
  await call(
    app,
    "POST",
    `/_/api/v1/recordings/${heron}/comments`,
    { text: "@Ben Ito, is this final?", timestamp: 5000, mentions: [ben.id] },
    { token: member.token, version: null },
  );
  const bell = page.getByRole("button", { name: "Notifications, 3 unread" });
  await bell.click();
  const group = page.getByRole("region", { name: "Heron 2" });
  await group.getByText("@Ben Ito, is this final?").waitFor();
  assert.equal(await group.getByRole("listitem").count(), 2);
  await picture(page, "notifications-laptop");
  await assertAccessibleAtRest(page);
  await page.emulateMedia({ colorScheme: "dark" });
  await picture(page, "notifications-laptop-dark");
  await page.emulateMedia({ colorScheme: "light" });
  await group.getByRole("link", { name: /mentioned you/ }).click();
  await page.waitForURL(/\/recordings\/.*t=5/);
  await page.getByRole("button", { name: "Notifications, 2 unread" }).click();
  await page.getByRole("button", { name: "Mark all as read" }).click();
  await page.getByRole("button", { name: "Notifications", exact: true }).waitFor();
  assert.deepEqual(complaints, []);
});

test("on a phone the list fits; settings say how to be notified of each kind, and are saved", async () => {
  await share("Planning");
  const { page, complaints } = await visit(app, "/", { userId: ben.id, size: phone });
  await page.getByRole("button", { name: /^Notifications, \d+ unread$/ }).click();
  await page.getByRole("region", { name: "Planning" }).waitFor();
  await picture(page, "notifications-phone");
  await page.getByRole("link", { name: "Notification settings" }).click();
  const replies = page.getByRole("combobox", { name: "Someone replies in a thread that I commented in" });
  await replies.waitFor();
  assert.equal(await page.getByText("A backup fails").count(), 0, "not for members");
  await picture(page, "notification-settings-phone");
  await replies.click();
  await page.getByRole("option", { name: "In the app and a daily email" }).click();
  await page.reload();
  await replies.waitFor();
  assert.equal(await replies.inputValue(), "In the app and a daily email");
  await page.setViewportSize({ width: 1280, height: 800 });
  await assertAccessibleAtRest(page);
  await picture(page, "notification-settings-laptop");
  await page.emulateMedia({ colorScheme: "dark" });
  await picture(page, "notification-settings-laptop-dark");
  assert.deepEqual(complaints, []);
});
