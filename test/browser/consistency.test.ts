import assert from "node:assert/strict";
import { test } from "node:test";
import { call } from "../support/app.ts";
import { makeRecording, makeWorkspace } from "../support/factories.ts";
import { until } from "../support/until.ts";
import { makeMedia } from "./recording-support.ts";
import { startBrowserApp, visitShared } from "./support.ts";

const app = await startBrowserApp();
const { member, admin } = await makeWorkspace(app.db);

test("the search key opens the transcript, and no Follow button shows before anything plays", async () => {
  const id = await makeMedia(app, member.token);
  const { page } = await visitShared(app, `/recordings/${id}`, { userId: member.id });
  await page.getByRole("list", { name: "Transcript" }).waitFor();
  await page.getByRole("tab", { name: "Notes" }).click();
  await page.getByRole("heading", { level: 1 }).click();
  await page.keyboard.press("/");
  assert.equal(await page.getByRole("tab", { name: "Transcript" }).getAttribute("aria-selected"), "true");
  assert.equal(
    await page.evaluate<string>("document.activeElement.closest('section')?.getAttribute('aria-label')"),
    "Transcript",
  );
  await page.keyboard.press("Escape");
  await page.getByRole("list", { name: "Transcript" }).hover();
  await page.mouse.wheel(0, 300);
  assert.equal(await page.getByRole("button", { name: "Follow" }).count(), 0);
});

test("a highlight's length is the same everywhere", async () => {
  const id = await makeMedia(app, member.token);
  const created = await call(
    app,
    "POST",
    `/_/api/v1/recordings/${id}/highlights`,
    { text: "The contract", timestamp: 1000, duration: 7600 },
    { token: member.token, version: null },
  );
  assert.equal(created.status, 200);
  const { page } = await visitShared(app, `/recordings/${id}`, { userId: member.id });
  await page.getByRole("tab", { name: /Highlights/ }).click();
  await page.getByRole("tabpanel").getByText("7 s", { exact: true }).waitFor();
  await page.goto(`${app.url}/highlights`);
  const length = page.getByRole("img", { name: "7 s" }).first();
  assert.equal((await length.textContent())?.trim(), "0:07");
});

test("a failed rename is reported once, at its field, and keeps what was typed", async () => {
  const { recordingId } = await makeRecording(app, member.token, {});
  const { page } = await visitShared(app, `/recordings/${recordingId}`, { userId: member.id });
  let attempts = 0;
  await page.route(`**/_/api/v1/recordings/${recordingId}`, async (route) => {
    if (route.request().method() !== "PATCH") return route.continue();
    attempts += 1;
    await route.abort();
  });
  await page.getByRole("button", { name: "Edit title" }).click();
  const field = page.getByRole("textbox", { name: "Title" });
  await field.fill("A better title");
  await field.press("Enter");
  await page.getByText(/Couldn't rename/).waitFor();
  await page.getByRole("tab", { name: "Notes" }).click();
  await page.getByRole("tab", { name: "People" }).click();
  assert.equal(await page.getByText(/Couldn't rename/).count(), 1);
  assert.equal(attempts, 1);
  assert.equal(await field.inputValue(), "A better title");
});

test("the audit log has no JSON in it, and its calendar names every button", async () => {
  await call(
    app,
    "PATCH",
    "/_/api/v1/workspace",
    { email_domains: ["harbour.example", "quay.example"] },
    { token: admin.token, version: null },
  );
  const { page } = await visitShared(app, "/settings/audit", { userId: admin.id });
  const log = page.getByRole("list", { name: "Audit log" });
  await log.getByText(/quay\.example/).waitFor();
  assert.doesNotMatch(await log.innerText(), /[[\]{}"]/);
  await page.getByRole("button", { name: "Any date" }).click();
  await page.getByRole("button", { name: "Next month" }).waitFor();
  await until("every button has a name", () =>
    page.evaluate<boolean>(
      "[...document.querySelectorAll('#layers button')].every((one) => (one.getAttribute('aria-label') ?? one.textContent).trim() !== '')",
    ),
  );
});
