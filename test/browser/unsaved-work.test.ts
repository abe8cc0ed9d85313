import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { call } from "../support/app.ts";
import { makeRecording, makeUser, makeWorkspace } from "../support/factories.ts";
import { cheapHash } from "../support/passwords.ts";
import { until } from "../support/until.ts";
import { assertAccessibleAtRest, people, talk } from "./recording-support.ts";
import { phone, startBrowserApp, type VisitOptions, visit, visitShared } from "./support.ts";

const app = await startBrowserApp();
const workspace = await makeWorkspace(app.db);
const { member, admin } = workspace;
const password = "correct horse battery";
await app.db.kysely
  .updateTable("users")
  .set({ password_hash: await cheapHash(password) })
  .where("id", "in", [member.id, admin.id])
  .execute();

const viewOf = async (id: string) =>
  (await call(app, "GET", `/_/api/v1/recordings/${id}`, undefined, { token: member.token, version: null }))
    .body;
const make = async () =>
  (await makeRecording(app, member.token, { transcript: talk, participants: people })).recordingId;

async function open(path: string, options: Pick<VisitOptions, "size"> = {}) {
  const visited = await visitShared(app, path, { userId: member.id, ...options });
  await visited.page.getByRole("heading", { level: 1 }).waitFor();
  return visited;
}

/** Opens a page that the test closes. */
async function openToClose(path: string) {
  const visited = await visit(app, path, { userId: member.id });
  await visited.page.getByRole("heading", { level: 1 }).waitFor();
  return visited;
}

const endSessions = (userId: string) =>
  app.db.kysely.deleteFrom("sessions").where("user_id", "=", userId).execute();
const overlay = (page: Page) => page.getByRole("dialog", { name: "You've been signed out. Sign in again." });
const storedDrafts = (page: Page) =>
  page.evaluate<number>("Object.keys(localStorage).filter((key) => key.startsWith('parley.draft:')).length");

test("an ended session covers the page, keeps it and its drafts, and continues after signing in there", async () => {
  const id = await make();
  const { page } = await open(`/recordings/${id}`);
  await page.getByRole("tab", { name: "Notes" }).click();
  await endSessions(member.id);
  await page.getByLabel("Your notes").fill("Ask about the harbour.");
  await overlay(page).waitFor();
  await assertAccessibleAtRest(page);
  assert.doesNotMatch(await page.locator("body").innerText(), /header|Authorization|Bearer|token/i);
  await page.keyboard.press("Escape");
  await overlay(page).waitFor();
  assert.equal(await page.getByLabel("Your notes").inputValue(), "Ask about the harbour.");
  await overlay(page)
    .getByLabel(/^Password/)
    .fill("wrong password");
  await overlay(page).getByRole("button", { name: "Sign in", exact: true }).click();
  await overlay(page)
    .getByText(/Incorrect email or password/i)
    .waitFor();
  await overlay(page)
    .getByLabel(/^Password/)
    .fill(password);
  await page.keyboard.press("Enter");
  await overlay(page).waitFor({ state: "detached" });
  await until("the notes are saved", async () =>
    (await viewOf(id)).recording.private_notes?.text === "Ask about the harbour." ? true : undefined,
  );
  assert.equal(page.url(), `${app.url}/recordings/${id}?tab=notes`);
  await page.getByText("Saved", { exact: true }).waitFor();
  await until("no draft is left", async () => (await storedDrafts(page)) === 0);
});

test("an ended session: a form waits for the sign-in in another tab, and is then saved once", async () => {
  const id = await make();
  const { page, context } = await open(`/recordings/${id}`, { size: phone });
  await page.getByRole("button", { name: "Edit title" }).click();
  await endSessions(member.id);
  await page.getByRole("textbox", { name: "Title" }).fill("Harbour talks");
  await page.keyboard.press("Enter");
  await overlay(page).waitFor();
  const [tab] = await Promise.all([
    context.waitForEvent("page"),
    overlay(page).getByRole("link", { name: "Sign in in a new tab" }).click(),
  ]);
  await tab.getByLabel("Email").fill(member.email);
  await tab.getByLabel("Password").fill(password);
  await tab.getByRole("button", { name: "Sign in", exact: true }).click();
  await tab.waitForURL(`${app.url}/recordings/${id}`);
  await tab.close();
  await overlay(page).waitFor({ state: "detached" });
  await page.getByRole("heading", { name: "Harbour talks", level: 1 }).waitFor();
});

test("an ended session: another account in the other tab never sends this page's unsaved changes", async () => {
  const id = await make();
  const { page, context } = await open(`/recordings/${id}`);
  await page.getByRole("tab", { name: "Notes" }).click();
  await endSessions(member.id);
  await page.getByLabel("Your notes").fill("For Ana alone.");
  await overlay(page).waitFor();
  const signedIn = await context.request.post(`${app.url}/_/api/v1/session`, {
    data: { email: admin.email, password },
    headers: { origin: app.url },
  });
  assert.equal(signedIn.status(), 200);
  await overlay(page)
    .getByRole("button", { name: `Continue as ${admin.name}` })
    .click();
  await page.getByRole("button", { name: `account menu of ${admin.name}`, exact: false }).waitFor();
  const { body } = await call(app, "GET", `/_/api/v1/recordings/${id}`, undefined, {
    token: admin.token,
    version: null,
  });
  assert.equal(body.recording?.private_notes ?? null, null);
  assert.equal((await viewOf(id)).recording.private_notes, null);
});

test("drafts of notes, a line, the title and forms survive a reload and a closed tab, and are removed once saved", async () => {
  const id = await make();
  const { page, context } = await openToClose(`/recordings/${id}`);
  // The transcript is requested for itself, and may arrive after the rest.
  await page.getByText("Good morning").waitFor();
  await context.setOffline(true);
  await page.getByRole("tab", { name: "Notes" }).click();
  await page.getByLabel("Your notes").fill("Typed on a train.");
  await page.getByRole("tab", { name: "Transcript" }).click();
  await page.getByText("Good morning").dblclick();
  await page.getByLabel("Line text").fill("Good evening, shall we begin?");
  await page.keyboard.press("Enter");
  await page
    .getByText(/The server can't be reached/)
    .first()
    .waitFor();
  assert.equal(await page.getByText(/Someone else just edited/).count(), 0);
  await page.getByRole("button", { name: "Save", exact: true }).waitFor();
  await page.getByRole("button", { name: "Edit title" }).click();
  await page.getByRole("textbox", { name: "Title" }).pressSequentially("Train talk");
  await until("all are stored", async () => (await storedDrafts(page)) === 3);
  // Leaving the field saves the title, also where the page is closed, which may be online again before it is gone.
  await page.keyboard.press("Tab");
  await page.getByText(/Couldn't rename/).waitFor();
  assert.equal(await storedDrafts(page), 3);
  await page.close();

  await context.setOffline(false);
  const again = await context.newPage();
  await again.goto(`${app.url}/recordings/${id}`);
  assert.equal(await again.getByLabel("Line text").inputValue(), "Good evening, shall we begin?");
  assert.equal(await again.getByRole("textbox", { name: "Title" }).inputValue(), "Train talk");
  await again.getByLabel("Line text").press("Enter");
  await again.getByLabel("Line text").waitFor({ state: "detached" });
  await again.getByRole("textbox", { name: "Title" }).press("Enter");
  await again.getByRole("heading", { name: "Train talk" }).waitFor();
  await again.getByRole("tab", { name: "Notes" }).click();
  assert.equal(await again.getByLabel("Your notes").inputValue(), "Typed on a train.");
  await until("the notes are saved", async () =>
    (await viewOf(id)).recording.private_notes?.text === "Typed on a train." ? true : undefined,
  );
  await until("no draft is left", async () => (await storedDrafts(again)) === 0);
});

test("notes changed elsewhere since are not replaced by a draft: the user chooses", async () => {
  const id = await make();
  const { page, context } = await openToClose(`/recordings/${id}`);
  await page.getByRole("tab", { name: "Notes" }).click();
  await context.setOffline(true);
  await page.getByLabel("Your notes").fill("From this device.");
  await until("it is stored", async () => (await storedDrafts(page)) === 1);
  await page.close();
  await call(
    app,
    "PUT",
    `/_/api/v1/recordings/${id}/private_notes`,
    { text: "From the phone." },
    { token: member.token, version: null },
  );
  await context.setOffline(false);
  const again = await context.newPage();
  await again.goto(`${app.url}/recordings/${id}`);
  await again.getByRole("tab", { name: "Notes" }).click();
  assert.equal(await again.getByLabel("Your notes").inputValue(), "From the phone.");
  await again.getByText("From this device.").waitFor();
  await assertAccessibleAtRest(again);
  await again.getByRole("button", { name: "Use this version" }).click();
  await until("it is saved", async () =>
    (await viewOf(id)).recording.private_notes?.text === "From this device." ? true : undefined,
  );
});

test("dialogs: a half-filled form stays on an outside click, asks on Escape, and is restored after a reload", async () => {
  const { page, complaints } = await open("/stories");
  const dialog = page.getByRole("dialog", { name: "New story" });
  await page.getByRole("button", { name: "Create story" }).first().click();
  // Without changes, it closes like any dialog.
  await dialog.getByLabel("Title").waitFor();
  await page.mouse.click(5, 5);
  await dialog.waitFor({ state: "detached" });

  await page.getByRole("button", { name: "Create story" }).first().click();
  await dialog.getByLabel("Title").fill("Harbour");
  await dialog.getByLabel("Description").fill("What was agreed.");
  await page.mouse.click(5, 5);
  assert.equal(await dialog.getByLabel("Title").inputValue(), "Harbour");
  await page.keyboard.press("Escape");
  await dialog.getByText("Your changes have not been saved.").waitFor();
  await assertAccessibleAtRest(page);
  await page.keyboard.press("Escape");
  await dialog.getByLabel("Title").waitFor();
  await page.reload();
  await page.getByRole("button", { name: "Create story" }).first().click();
  await dialog.getByText(/Unsaved changes restored/).waitFor();
  assert.equal(await dialog.getByLabel("Description").inputValue(), "What was agreed.");
  await assertAccessibleAtRest(page);
  await page.keyboard.press("Escape");
  await dialog.getByRole("button", { name: "Discard changes" }).click();
  await dialog.waitFor({ state: "detached" });
  assert.equal(await storedDrafts(page), 0);
  assert.deepEqual(complaints, []);
});

test("one-time secrets: neither an outside click nor Escape closes them without confirmation; none is stored", async () => {
  const { page, complaints } = await open("/settings/tokens");
  await page.getByRole("button", { name: "Create token" }).click();
  await page.getByRole("dialog").getByRole("textbox", { name: "Name" }).fill("Nightly export");
  await page.mouse.click(5, 5);
  assert.equal(
    await page.getByRole("dialog").getByRole("textbox", { name: "Name" }).inputValue(),
    "Nightly export",
  );
  await page.getByRole("dialog").getByRole("button", { name: "Create token" }).click();
  const dialog = page.getByRole("dialog", { name: "Token created" });
  const value = await dialog.getByLabel("Token", { exact: true }).inputValue();
  assert.match(value, /^parley_pat_/);
  await page.mouse.click(5, 5);
  await page.keyboard.press("Escape");
  await dialog.getByText("This can't be shown again.", { exact: false }).waitFor();
  await assertAccessibleAtRest(page);
  await dialog.getByRole("button", { name: "Back" }).click();
  assert.equal(await dialog.getByLabel("Token", { exact: true }).inputValue(), value);
  assert.equal(await page.evaluate<boolean>("JSON.stringify(localStorage).includes('parley_pat_')"), false);
  await dialog.getByRole("button", { name: "Done" }).click();
  await dialog.waitFor({ state: "detached" });
  assert.deepEqual(complaints, []);
});

test("signing out removes the user's drafts from the browser and leaves those of others", async () => {
  const other = await makeUser(app.db, workspace);
  const id = await make();
  const { page, context } = await open(`/recordings/${id}`);
  await page.evaluate(
    `localStorage.setItem('parley.draft:${workspace.id}:${other.id}:notes:x', '{"at":${Date.now()}}')`,
  );
  await context.setOffline(true);
  await page.getByRole("tab", { name: "Notes" }).click();
  await page.getByLabel("Your notes").fill("Not yet sent.");
  await until("it is stored", async () => (await storedDrafts(page)) === 2);
  await context.setOffline(false);
  await until("it is sent", async () => (await storedDrafts(page)) === 1);
  await page.getByLabel("Your notes").fill("Not yet sent, again.");
  await page.getByRole("button", { name: /account menu of/ }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.waitForURL(/sign-in/);
  assert.deepEqual(
    await page.evaluate<string[]>(
      "Object.keys(localStorage).filter((key) => key.startsWith('parley.draft:'))",
    ),
    [`parley.draft:${workspace.id}:${other.id}:notes:x`],
  );
});
