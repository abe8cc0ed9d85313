import assert from "node:assert/strict";
import { test } from "node:test";
import { makeRecording, makeWorkspace } from "../support/factories.ts";
import { until } from "../support/until.ts";
import { assertAccessibleAtRest } from "./recording-support.ts";
import { phone, startBrowserApp, visit, visitShared } from "./support.ts";

const app = await startBrowserApp();
const { member } = await makeWorkspace(app.db);
const { recordingId } = await makeRecording(app, member.token, { title: "Harbour contract" });

test("a page whose code can't be loaded offline shows an error inside the app, and opens automatically once back online", async () => {
  const { page, context } = await visit(app, "/", { userId: member.id });
  await page.getByRole("link", { name: "Harbour contract" }).first().waitFor();
  await page.waitForLoadState("networkidle");
  await context.setOffline(true);
  await page.getByRole("link", { name: "Highlights" }).click();
  await page.getByRole("heading", { name: "Couldn't load this part of the app" }).waitFor();
  await page.getByRole("navigation", { name: "Main" }).waitFor();
  await page.mouse.move(700, 600);
  await assertAccessibleAtRest(page);
  // Offline, a reload would leave the app.
  await page.getByRole("button", { name: "Reload" }).click();
  await page.getByText("The server still can't be reached.").waitFor();
  await context.setOffline(false);
  await page.getByRole("heading", { name: "Highlights", level: 1 }).waitFor();
});

test("after an upgrade that removed the page's code, a reload recovers", async () => {
  const { page } = await visitShared(app, "/", { userId: member.id, size: phone });
  await page.getByRole("link", { name: "Harbour contract" }).first().waitFor();
  await page.waitForLoadState("networkidle");
  await page.route(/\/assets\/.*\.js$/, (route) => route.fulfill({ status: 404, body: "gone" }));
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Stories" }).click();
  await page.getByRole("heading", { name: "Couldn't load this part of the app" }).waitFor();
  await page.unroute(/\/assets\/.*\.js$/);
  await page.getByRole("button", { name: "Reload" }).click();
  await page.getByRole("heading", { name: "Stories", level: 1 }).waitFor();
});

test("a dialog whose code can't be loaded offers a reload, and opens after it", async () => {
  const { page, context } = await visit(app, `/recordings/${recordingId}`, { userId: member.id });
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.waitForLoadState("networkidle");
  await context.setOffline(true);
  await page.getByRole("button", { name: "Share", exact: true }).click();
  await page.getByText("Couldn't open").waitFor();
  await context.setOffline(false);
  await page.getByRole("button", { name: "Reload" }).click();
  await page.getByRole("button", { name: "Reload" }).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Share", exact: true }).click();
  await page.getByRole("dialog", { name: "Share" }).waitFor();
});

test("lists recover automatically when the server is back; placeholders don't move for users who want less motion", async () => {
  const { page } = await visitShared(app, "/stories", { userId: member.id });
  await page.getByRole("heading", { name: "Stories", level: 1 }).waitFor();
  for (const status of [0, 502]) {
    await page.route("**/api/v1/library", (route) =>
      status === 0 ? route.abort() : route.fulfill({ status, body: "bad gateway" }),
    );
    await page.goto(`${app.url}/`);
    await page.locator(".mantine-Skeleton-root").first().waitFor();
    assert.deepEqual(
      await page.evaluate("document.getAnimations().map(({ animationName }) => animationName)"),
      [],
    );
    await page.getByRole("button", { name: "Try again" }).waitFor();
    assert.equal(await page.getByRole("link", { name: "Harbour contract" }).count(), 0);
    await page.unroute("**/api/v1/library");
    await page.getByRole("link", { name: "Harbour contract" }).first().waitFor();
    await until("the error has gone", async () => (await page.getByRole("alert").count()) === 0);
  }
});
