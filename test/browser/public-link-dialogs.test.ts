import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { buildWebApp } from "../../server/operations/web/build.ts";
import { makeHighlight, makeRecording, makeUser, makeWorkspace } from "../support/factories.ts";
import { until } from "../support/until.ts";
import { assertFits, linkTools, pathOf, untilMedia, withoutRefusals } from "./link-support.ts";
import { assertAccessibleAtRest, makeMedia } from "./recording-support.ts";
import { phone, startBrowserApp, visitShared } from "./support.ts";
import { createTour } from "./tour.ts";

const app = await startBrowserApp();
const workspace = await makeWorkspace(app.db);
const { member } = workspace;
const { manage, publish } = linkTools(app, member.token);
/** A recording with a transcript only. */
const makeWritten = async (token = member.token) =>
  (await makeRecording(app, token, { title: "Harbour plan" })).recordingId;
const linksOf = async (kind: string, id: string) => (await manage("GET", `/${kind}/${id}/links`)).links;

/** Presses Tab until the focused element has this name. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  const named = () =>
    page.evaluate<string>(
      "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent ?? ''",
    );
  for (let i = 0; i < 60; i++) {
    if (name.test(await named())) return;
    await page.keyboard.press("Tab");
  }
  assert.fail(`${name} is not reachable with Tab`);
}

test("share dialog: keyboard only, a link is created and deleted, and the recording unpublished", async () => {
  const id = await makeWritten();
  const { page, complaints } = await visitShared(app, `/recordings/${id}`, { userId: member.id });
  await page.getByRole("list", { name: "Transcript" }).waitFor();
  await tabTo(page, /^Share$/);
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Share" });
  await dialog.getByLabel("Restricted").waitFor();
  await dialog.getByLabel("Restricted").focus();
  await page.keyboard.press("ArrowDown");
  await dialog.getByText(/^Visible to everyone in/).waitFor();
  await dialog.getByLabel("Workspace").focus();
  await page.keyboard.press("ArrowDown");
  await dialog.getByText(/anyone with a public link, without signing in/).waitFor();
  await dialog.getByRole("textbox", { name: "Link 1" }).waitFor();
  await assertAccessibleAtRest(page);

  await tabTo(page, /^Add link$/);
  await page.keyboard.press("Enter");
  const second = dialog.getByRole("region", { name: "Link 2" });
  const url = await second.getByRole("textbox", { name: "Link 2" }).inputValue();
  assert.equal((await fetch(url)).status, 200);
  await second.getByRole("button", { name: "Delete" }).focus();
  await page.keyboard.press("Enter");
  await dialog.getByText(/It stops working immediately for everyone/).waitFor();
  await assertAccessibleAtRest(page);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await second.waitFor({ state: "detached" });
  assert.equal((await fetch(url)).status, 404);
  await until("focus moves to a remaining element", () =>
    page.evaluate<boolean>("document.activeElement.textContent === 'Add link'"),
  );

  const [first] = await linksOf("recordings", id);
  await dialog.getByLabel("Restricted").click();
  await dialog.getByText("Remove all public links?").waitFor();
  await assertAccessibleAtRest(page);
  await dialog.getByRole("button", { name: "Keep public" }).click();
  assert.equal((await fetch(first.url)).status, 200);
  await dialog.getByLabel("Restricted").click();
  await dialog.getByRole("button", { name: "Remove links" }).click();
  await dialog.getByText(/^Visible to .*workspace apps/).waitFor();
  assert.equal((await fetch(first.url)).status, 404);
  assert.deepEqual(complaints, []);
});

test("share dialog: deleting the last link makes the recording visible to the workspace only; an expired one is shown, and one click adds another", async () => {
  const withoutLink = await makeWritten();
  await manage("DELETE", `/links/${(await publish(withoutLink)).id}`);
  const { page, complaints } = await visitShared(app, `/recordings/${withoutLink}`, { userId: member.id });
  await page.getByRole("button", { name: "Share", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Share" });
  await dialog
    .getByText(/workspace/i)
    .first()
    .waitFor();
  assert.equal(await dialog.getByText(/anyone with a public link/).count(), 0);
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });

  const id = await makeWritten();
  const link = await publish(id);
  await app.db.pool.query("update public_links set expires_at = now() - interval '1 minute' where id = $1", [
    link.id,
  ]);
  await createTour(page)(`/recordings/${id}`);
  await page.getByRole("button", { name: "Share", exact: true }).click();
  await dialog.getByText(/Its public links have expired/).waitFor();
  assert.equal(await dialog.getByText(/anyone with a public link/).count(), 0);
  await assertAccessibleAtRest(page);
  await dialog.getByRole("button", { name: "Add link" }).click();
  await dialog.getByText(/anyone with a public link/).waitFor();
  const links = await linksOf("recordings", id);
  assert.ok(links.some((other: { id: string }) => other.id !== link.id));
  assert.deepEqual(complaints, []);
});

test("story: before a link is created, a warning says which highlights it would not show", async () => {
  const rosa = await makeUser(app.db, workspace, { name: "Rosa Lang" });
  const theirs = await makeWritten(rosa.token);
  await linkTools(app, rosa.token).manage("PATCH", `/recordings/${theirs}`, { share_state: "workspace" });
  const hers = await makeHighlight(app, rosa.token, theirs, { text: "Hers" });
  const own = await makeHighlight(app, member.token, await makeWritten(), { text: "Mine" });
  const story = await manage("POST", "/stories", { title: "Bare" });
  const { page, complaints } = await visitShared(app, `/stories/${story.id}`, { userId: member.id });
  const said = async (highlightIds: string[], words: RegExp) => {
    await manage("PATCH", `/stories/${story.id}`, { highlight_ids: highlightIds });
    // The page keeps the story for a while.
    if (highlightIds.length > 0) await page.reload();
    await page.getByRole("button", { name: "Share", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Public links" });
    await dialog.getByRole("status").filter({ hasText: words }).waitFor();
    await dialog.getByRole("button", { name: "Create link" }).waitFor();
    await assertAccessibleAtRest(page);
  };
  await said([], /This story is empty/);
  await said([hers], /shows nothing of this story/);
  await said([hers, own], /shows 1 of the 2 highlights/);
  assert.deepEqual(complaints, []);
});

test("link settings: expiry, password, download and start are saved, and errors are shown at their fields", async () => {
  const id = await makeMedia(app, member.token);
  await publish(id);
  const { page, complaints } = await visitShared(app, `/recordings/${id}?t=5`, { userId: member.id });
  await untilMedia(page, "it is at the position", ({ currentTime }) => Math.abs(currentTime - 5) < 0.3);
  await page.getByRole("button", { name: "Share", exact: true }).click();
  const card = page.getByRole("region", { name: "Link 1" });
  await card.getByRole("button", { name: "Settings" }).click();
  await card.getByRole("button", { name: "Use current time" }).click();
  assert.equal(await card.getByLabel("Start at").inputValue(), "0:05");
  await card.getByLabel("Start at").fill("9:99:99:9");
  await card.getByText(/Enter a time like 1:05, up to 0:12/).waitFor();
  assert.ok(await card.getByRole("button", { name: "Save" }).isDisabled());
  await card.getByLabel("Start at").fill("0:07");
  await card.getByLabel("Require password").check({ force: true });
  await card.getByLabel("Password", { exact: true }).fill("abc");
  await card.getByLabel("Allow download").check({ force: true });
  await card.getByLabel("Include summary").check({ force: true });
  await card.getByRole("button", { name: "Save" }).click();
  await card
    .getByText(/at least 6 characters/i)
    .last()
    .waitFor();
  await card.getByLabel("Password", { exact: true }).fill("harbour");
  await card.getByLabel("Expires").click();
  await page.getByRole("button", { name: "In 7 days" }).click();
  await page.keyboard.press("Escape");
  await assertAccessibleAtRest(page);
  await card.getByRole("button", { name: "Save" }).click();
  await card.getByText("Starts at 0:07").waitFor();
  for (const rule of ["Password", "Download allowed", "Summary included", /^Until /])
    await card.getByText(rule).waitFor();
  await assertAccessibleAtRest(page);
  const [link] = await linksOf("recordings", id);
  const days = (Date.parse(link.expires_datetime) - Date.now()) / 86_400_000;
  assert.ok(days > 6.9 && days < 7.1, link.expires_datetime);
  assert.deepEqual(
    [link.has_password, link.allow_download, link.include_summary, link.start],
    [true, true, true, 7000],
  );

  // Saved without touching the password: it is kept.
  await card.getByRole("button", { name: "Settings" }).click();
  await card.getByLabel("Start at").fill("");
  await card.getByRole("button", { name: "Save" }).click();
  await card.getByText("Starts at 0:07").waitFor({ state: "detached" });
  const [after] = await linksOf("recordings", id);
  assert.deepEqual([after.has_password, after.start], [true, null]);

  await card.getByRole("button", { name: "Embed" }).click();
  const code = await card.getByLabel("Embed code").inputValue();
  assert.ok(code.startsWith(`<iframe src="${link.embed_url}?transcript=0" title="Harbour contract"`), code);
  await assertAccessibleAtRest(page);
  assert.deepEqual(
    complaints.filter((one) => !one.includes("400")),
    [],
  );
});

test("highlight: links are managed from the list and the recording; users who can't share see why", async () => {
  const id = await makeWritten();
  const clip = await makeHighlight(app, member.token, id, { text: "Signed by Friday" });
  const { page, leave, complaints } = await visitShared(app, "/highlights", { userId: member.id });
  const choosePublicLinks = async (on: Page, actions: string | RegExp) => {
    await on.getByRole("button", { name: actions }).click();
    await on.getByRole("menuitem", { name: "Public links" }).click();
  };
  await choosePublicLinks(page, "Actions for Signed by Friday");
  const dialog = page.getByRole("dialog", { name: "Public links" });
  await dialog.getByText(/Not shared outside/).waitFor();
  await assertAccessibleAtRest(page);
  await dialog.getByRole("button", { name: "Create link" }).click();
  await dialog.getByRole("textbox", { name: "Link 1" }).waitFor();
  await assertAccessibleAtRest(page);
  const [link] = await linksOf("highlights", clip);
  const shown = await visitShared(app, pathOf(link.url));
  await shown.page.getByRole("heading", { level: 1, name: "Signed by Friday" }).waitFor();
  await shown.leave();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });

  await createTour(page)(`/recordings/${id}`);
  await page.getByRole("tab", { name: /Highlights/ }).click();
  await choosePublicLinks(page, /Actions for highlight/);
  await dialog.getByRole("button", { name: "Delete" }).click();
  await dialog.getByRole("button", { name: "Delete link" }).click();
  await dialog.getByText(/Not shared outside/).waitFor();
  assert.equal((await fetch(link.url)).status, 404);
  await leave();

  await manage("PATCH", `/recordings/${id}`, { share_state: "workspace" });
  const other = await makeUser(app.db, workspace);
  const seen = await visitShared(app, "/highlights", { userId: other.id });
  await choosePublicLinks(seen.page, "Actions for Signed by Friday");
  await seen.page.getByText(/owners and admins can share this highlight/).waitFor();
  assert.equal(await seen.page.getByRole("button", { name: "Create link" }).count(), 0);
  await assertAccessibleAtRest(seen.page);
  assert.deepEqual(withoutRefusals([complaints, shown.complaints, seen.complaints].flat()), []);
});

test("story: a link shows how many highlights it hides, and they can be approved (phone)", async () => {
  const own = await makeWritten();
  const first = await makeHighlight(app, member.token, own, { text: "Mine" });
  const rosa = await makeUser(app.db, workspace, { name: "Rosa Lang" });
  const rosas = linkTools(app, rosa.token);
  const theirs = await makeWritten(rosa.token);
  await rosas.manage("PATCH", `/recordings/${theirs}`, { share_state: "workspace" });
  const second = await makeHighlight(app, rosa.token, theirs, { text: "Hers" });
  const story = await manage("POST", "/stories", { title: "Both", highlight_ids: [first, second] });
  const { page, leave, complaints } = await visitShared(app, `/stories/${story.id}`, {
    userId: member.id,
    size: phone,
    colorScheme: "dark",
  });
  await page.getByRole("button", { name: "Share", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Public links" });
  await dialog.getByRole("button", { name: "Create link" }).click();
  await dialog.getByText(/1 highlight hidden/).waitFor();
  await assertAccessibleAtRest(page);
  await assertFits(page);
  await dialog.getByRole("button", { name: "Include it" }).click();
  await dialog.getByText(/Its owner or an admin can approve it/).waitFor();
  await leave();
  const { admin } = workspace;
  const asked = await visitShared(app, `/stories/${story.id}`, { userId: admin.id });
  await asked.page.getByRole("button", { name: "Share", exact: true }).click();
  await asked.page.getByRole("button", { name: "Include it" }).click();
  await asked.page.getByText(/hidden until/).waitFor({ state: "detached" });
  const [link] = await linksOf("stories", story.id);
  assert.equal(link.left_out, 0);
  assert.deepEqual(withoutRefusals([...complaints, ...asked.complaints]), []);
});

test("the public link page stays small: less than 200 kB of scripts", async () => {
  const folder = await buildWebApp(() => undefined);
  const document = readFileSync(join(folder, "public-link.html"), "utf8");
  const scripts = [...document.matchAll(/"\/(assets\/[^"]+\.js)"/g)].map(([, path = ""]) =>
    join(folder, path),
  );
  assert.ok(scripts.length > 0);
  const bytes = scripts
    .map((path) => statSync(existsSync(`${path}.br`) ? `${path}.br` : path).size)
    .reduce((sum, size) => sum + size, 0);
  assert.ok(bytes < 200_000, `${bytes} bytes compressed`);
});
