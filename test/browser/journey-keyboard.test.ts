import assert from "node:assert/strict";
import { test } from "node:test";
import { givePassword, password } from "../../server/people/accounts/test/accounts.ts";
import { makeUser, makeWorkspace, mediaFile } from "../support/factories.ts";
import { isFullRun } from "../support/full.ts";
import { startSpeechServer } from "../support/speech-server.ts";
import { assertFocused, keyboardOf } from "./keyboard.ts";
import { startBrowserApp, visitShared } from "./support.ts";
import { createTour } from "./tour.ts";

const speech = await startSpeechServer();
const app = await startBrowserApp({ env: { PARLEY_TRANSCRIPTION_URL: speech.url } });
speech.otherwise((_request, response) => {
  const texts = [
    "Good morning, shall we begin?",
    "The harbour contract first.",
    "It is signed.",
    "Thank you.",
  ];
  const segments = texts.map((text, i) => ({ id: i, start: i * 2.4, end: i * 2.4 + 2.2, text }));
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ language: "english", text: texts.join(" "), duration: 10, segments }));
});

test("keyboard only: sign in, upload, review, play, search, clip, share, tag, rename, sign out", async () => {
  const workspace = await makeWorkspace(app.db);
  const { member } = workspace;
  await givePassword(app.db, member);
  const other = await makeUser(app.db, workspace, { name: "Zoe Last" });
  const { page, context, complaints } = await visitShared(app, "/sign-in");
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  // Registered early: without a listener the browser opens a native file chooser.
  const chooser = page.waitForEvent("filechooser", { timeout: 120_000 });
  chooser.catch(() => undefined);
  const keys = keyboardOf(page);
  const button = (name: string | RegExp) =>
    page.getByRole("button", { name, exact: typeof name === "string" });

  await keys.tabTo(page.getByLabel("Email"));
  await keys.type(member.email);
  await keys.tabTo(page.getByLabel("Password"));
  await keys.type(password);
  await keys.press("Enter");
  await page.getByRole("heading", { name: "Library" }).waitFor();

  // The first Tab stop skips the navigation.
  await keys.press("Tab");
  await assertFocused(page, page.getByRole("link", { name: "Skip to content" }), "Tab");
  await keys.tabTo(page.getByRole("navigation").getByRole("link", { name: "Uploads" }));
  await keys.press("Enter");
  await page.getByRole("heading", { name: "Uploads", exact: true }).waitFor();
  await assertFocused(page, page.locator("main"), "going to another page");

  await keys.tabTo(page.getByRole("switch", { name: /Review uploads/ }));
  await keys.press("Space");
  // The choice of language and the joining of files are between them.
  for (let stop = 0; stop < 3; stop += 1) await page.keyboard.press("Shift+Tab");
  await assertFocused(page, button("choose files"), "Shift and Tab");
  await keys.press("Enter");
  await (await chooser).setFiles(mediaFile("good-faststart.mp4"));
  const upload = page
    .getByRole("region", { name: "Your uploads" })
    .getByRole("link", { name: "good-faststart" });
  await upload.waitFor();
  await keys.tabTo(upload);
  await keys.press("Enter");
  await keys.tabTo(page.getByLabel("Title"));
  await keys.press("End");
  await keys.type(", the harbour");
  await keys.tabTo(button("Publish"));
  await keys.press("Enter");
  await page.getByRole("heading", { name: "Recording ready" }).waitFor({ timeout: 60_000 });
  await assertFocused(page, page.locator("main"), "publishing");
  await keys.tabTo(page.getByRole("link", { name: "Open recording" }));
  await keys.press("Enter");
  await page.getByRole("heading", { name: "good-faststart, the harbour" }).waitFor();

  const lines = page.getByRole("list", { name: "Transcript" });
  await lines.getByText("The harbour contract first.").waitFor({ timeout: 60_000 });
  await keys.tabTo(button("Play"));
  await keys.press("Enter");
  await button("Pause").waitFor();
  await keys.press("Enter");
  await button("Play").waitFor();
  await assertFocused(page, button("Play"), "playing and pausing");

  await keys.press("/");
  const find = page.getByRole("searchbox", { name: "Search transcript" });
  await assertFocused(page, find, "the search shortcut");
  await keys.type("harbour");
  await lines.locator("mark[data-current]").waitFor();

  // Shift and arrow keys select lines; the toolbar follows in the Tab order.
  await keys.tabTo(lines.getByRole("button", { name: /^0:00, / }));
  await keys.press("ArrowDown");
  await assertFocused(page, lines.getByRole("button", { name: /^0:02, / }), "an arrow");
  await keys.press("Shift+ArrowDown");
  await page.getByText("2 lines selected").waitFor();
  await keys.tabTo(
    page.getByRole("toolbar", { name: "Selected lines" }).getByRole("button", { name: "Clip" }),
  );
  await keys.press("Enter");
  const clip = page.getByRole("dialog", { name: "New clip" });
  await assertFocused(page, clip.getByLabel("Title"), "opening a dialog");
  assert.equal(await clip.getByLabel("Title").inputValue(), "The harbour contract first. It is signed.");
  await clip.getByText("From 0:02 to 0:07").waitFor();
  await keys.tabTo(clip.getByRole("button", { name: "Create clip" }));
  await keys.press("Enter");
  await clip.waitFor({ state: "detached" });
  await assertFocused(page, lines, "closing the dialog");

  await keys.tabTo(button("Share"));
  await keys.press("Enter");
  const share = page.getByRole("dialog", { name: "Share" });
  await share.waitFor();
  await keys.tabTo(share.getByRole("radio", { name: "Restricted" }));
  await keys.press("ArrowDown");
  await share
    .getByText(/^Visible to everyone in/)
    .or(share.getByRole("status"))
    .first()
    .waitFor();
  await assertFocused(page, share, "changing the sharing");
  await keys.tabTo(share.getByRole("combobox", { name: "People" }));
  await keys.type("Zoe");
  await page.getByRole("option", { name: /Zoe Last/ }).waitFor();
  await keys.press("ArrowDown");
  await keys.press("Enter");
  await share.getByRole("list", { name: "People with access" }).getByText(other.email).waitFor();
  await assertFocused(page, share, "sharing with a user");
  await keys.tabTo(share.getByRole("button", { name: `Stop sharing with ${other.name}` }));
  await keys.press("Enter");
  await share.getByText(other.email).waitFor({ state: "detached" });
  await assertFocused(page, share, "removing a share");
  await keys.tabTo(share.getByRole("button", { name: "Copy internal link" }));
  await keys.press("Enter");
  await page.getByText("Link copied").waitFor();
  assert.match(await page.evaluate<string>("navigator.clipboard.readText()"), /\/recordings\/[0-9a-f-]{36}$/);
  await keys.press("Escape");
  await share.waitFor({ state: "detached" });
  await assertFocused(page, button("Share"), "closing the dialog");

  await keys.tabTo(button("Add tag"));
  await keys.press("Enter");
  await assertFocused(page, page.getByRole("textbox", { name: "New tag" }), "opening a popover");
  await keys.type("harbour");
  await keys.press("Enter");
  await button("Remove tag harbour").waitFor();
  await assertFocused(page, button("Add tag"), "adding a tag");
  await keys.tabTo(button("Remove tag harbour"));
  await keys.press("Enter");
  await button("Remove tag harbour").waitFor({ state: "detached" });
  await assertFocused(page, page.locator("main button"), "removing a tag");

  await keys.tabTo(button("Edit title"));
  await keys.press("Enter");
  await keys.type("Signed and sealed");
  await keys.press("Enter");
  await page.getByRole("heading", { name: "Signed and sealed" }).waitFor();
  await assertFocused(page, button("Edit title"), "changing the title");
  assert.match(await page.title(), /^Signed and sealed/);

  await keys.tabTo(button(/, account menu of /));
  await keys.press("Enter");
  await assertFocused(page, page.getByRole("menuitem", { name: "Settings" }), "opening a menu");
  await keys.press("End");
  await assertFocused(page, page.getByRole("menuitem", { name: "Sign out" }), "going to its end");
  await keys.press("Enter");
  await page.waitForURL(/\/sign-in/);
  assert.deepEqual([...keys.issues], []);
  assert.deepEqual(complaints, []);
});

test("keyboard only: no page traps focus, and each focus stop is visible and unobscured", async () => {
  const { admin, id } = await makeWorkspace(app.db);
  await app.db.kysely.updateTable("installation").set({ operator_workspace_id: id }).execute();
  const { page, complaints } = await visitShared(app, "/", { userId: admin.id });
  const keys = keyboardOf(page);
  await page.getByRole("heading", { level: 1 }).waitFor();
  const goTo = createTour(page);
  const skip = page.getByRole("link", { name: "Skip to content" });
  const paths = ["/", "/search?q=harbour", "/uploads", "/settings"];
  if (isFullRun) {
    paths.push("/highlights", "/stories", "/settings/users", "/settings/tokens", "/settings/teams");
    paths.push("/settings/webhooks", "/settings/templates", "/settings/audit", "/settings/system");
  }
  for (const path of paths) {
    await goTo(path);
    await page.locator("h1").first().waitFor();
    // One cycle: from the skip link through the page and back to the skip link.
    await skip.focus();
    await page.keyboard.press("Tab");
    await keys.tabTo(skip);
  }
  assert.deepEqual([...keys.issues], []);
  assert.deepEqual(complaints, []);
});
