import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { call } from "../support/app.ts";
import { insertRecording, makeUser, makeWorkspace } from "../support/factories.ts";
import { until } from "../support/until.ts";
import { assertAccessibleAtRest } from "./recording-support.ts";
import { phone, signInAs, startBrowserApp, visit, visitShared } from "./support.ts";

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
  const { page, complaints } = await visitShared(app, "/", { userId: ben.id });
  await page.getByRole("button", { name: "Notifications", exact: true }).click();
  await page.getByText("No notifications yet").waitFor();
  await page.keyboard.press("Escape");
  const heron = await share("Heron 2");
  const long = `Standup ${"of the whole harbour team ".repeat(5)}`;
  await share(long);
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
  const box = await page.getByText(long.trim()).first().boundingBox();
  assert.ok(box !== null && box.x + box.width <= 1280, "a long title ends within the list, with an ellipsis");
  await picture(page, "notifications-laptop");
  await assertAccessibleAtRest(page);
  await page.emulateMedia({ colorScheme: "dark" });
  await picture(page, "notifications-laptop-dark");
  await page.emulateMedia({ colorScheme: "light" });
  await group.getByRole("link", { name: /mentioned you/ }).click();
  await page.waitForURL(/\/recordings\/.*t=5/);
  await page.getByRole("button", { name: "Notifications, 1 unread" }).click();
  await page.getByRole("button", { name: "Mark all as read" }).click();
  await page.getByRole("button", { name: "Notifications", exact: true }).waitFor();
  assert.deepEqual(complaints, []);
});

test("eight tabs share one stream: each shows new comments and the unread count at once, also after the tab with the stream closes", async () => {
  const carl = await makeUser(app.db, workspace, { name: "Carl" });
  const id = await insertRecording(app.db, { recorderId: member.id, title: "Tabs", duration_ms: 60_000 });
  const other = await insertRecording(app.db, { recorderId: member.id, title: "Other", duration_ms: 60_000 });
  for (const shared of [id, other])
    await call(app, "PUT", `/recordings/${shared}/users`, { user_id: carl.id }, { token: member.token });
  const comment = async (text: string): Promise<void> => {
    const body = { text, mentions: [carl.id] };
    const options = { token: member.token, version: null };
    const { status } = await call(app, "POST", `/_/api/v1/recordings/${id}/comments`, body, options);
    assert.equal(status, 200);
  };
  const { page: first } = await visit(app, "/", { userId: carl.id });
  const open = new Set<unknown>();
  const context = first.context();
  await first.getByRole("button", { name: "Notifications, 2 unread", exact: true }).waitFor();
  context.on("request", (request) => {
    if (request.url().endsWith("/notifications/stream")) open.add(request);
  });
  const pages = [];
  for (let index = 0; index < 7; index += 1) {
    // In the process of the first one: starting another takes longer than loading the app.
    const [page] = await Promise.all([
      context.waitForEvent("page"),
      first.evaluate(`void window.open(${JSON.stringify(`/recordings/${id}?comment=none`)})`),
    ]);
    await page.getByRole("button", { name: "Notifications, 1 unread", exact: true }).waitFor();
    pages.push(page);
  }
  assert.equal(open.size, 0, "the first tab's stream serves them all");
  await comment("@Carl one");
  for (const page of pages) {
    await page.getByText("@Carl one").first().waitFor({ timeout: 10_000 });
    await page.getByRole("button", { name: "Notifications, 2 unread", exact: true }).waitFor();
  }
  await first.close();
  await until("another tab has the stream", async () => open.size === 1);
  await comment("@Carl two");
  for (const page of pages) await page.getByText("@Carl two").first().waitFor({ timeout: 10_000 });
});

test("after another user signs in, a tab shows that user's unread count, while a tab of the former user is still open", async () => {
  const [dora, emil] = [
    await makeUser(app.db, workspace, { name: "Dora" }),
    await makeUser(app.db, workspace, { name: "Emil" }),
  ];
  const id = await insertRecording(app.db, { recorderId: member.id, title: "Bells", duration_ms: 60_000 });
  await call(app, "PUT", `/recordings/${id}/users`, { user_id: dora.id }, { token: member.token });
  const { page: former, context } = await visitShared(app, "/", { userId: dora.id });
  await former.getByRole("button", { name: "Notifications, 1 unread", exact: true }).waitFor();
  await signInAs(app, context, emil.id);
  const page = await context.newPage();
  const streamed = page.waitForRequest((request) => request.url().endsWith("/notifications/stream"));
  await page.goto(app.url);
  await streamed;
  await page.getByRole("button", { name: "Notifications", exact: true }).waitFor();
});

test("on a phone the list fits; settings say how to be notified of each kind, and are saved", async () => {
  await share("Planning");
  const { page, complaints } = await visitShared(app, "/", { userId: ben.id, size: phone });
  await page.getByRole("button", { name: /^Notifications, \d+ unread$/ }).click();
  await page.getByRole("region", { name: "Planning" }).waitFor();
  await picture(page, "notifications-phone");
  await page.getByRole("link", { name: "Notification settings" }).click();
  const replies = page.getByRole("combobox", { name: "Someone replies in a thread that I commented in" });
  await replies.waitFor();
  assert.equal(await page.getByText("A backup fails").count(), 0, "not for members");
  await picture(page, "notification-settings-phone");
  await replies.click();
  await Promise.all([
    page.waitForResponse(
      (response) =>
        response.url().endsWith("/me/notification-settings") && response.request().method() !== "GET",
    ),
    page.getByRole("option", { name: "In the app and a daily email" }).click(),
  ]);
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
