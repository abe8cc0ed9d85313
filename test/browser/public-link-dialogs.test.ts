import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { buildWebApp } from "../../server/web/build.ts";
import { makeUser, makeWorkspace } from "../support/factories.ts";
import { until } from "../support/until.ts";
import { assertFits, linkTools, pathOf, untilMedia, withoutRefusals } from "./link-support.ts";
import { makeClip } from "./media.ts";
import { assertAccessibleAtRest, makeMedia } from "./recording-support.ts";
import { phone, startBrowserApp, visit } from "./support.ts";

const app = await startBrowserApp();
const workspace = await makeWorkspace(app.db);
const { member } = workspace;
const { manage, publish } = linkTools(app, member.token);
const make = (title = "Harbour contract") => makeMedia(app, member.token, { title });
const linksOf = async (kind: string, id: string) => (await manage("GET", `/${kind}/${id}/links`)).links;

/** Goes on with Tab until what has the focus is called so. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  const named = () =>
    page.evaluate<string>(
      "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent ?? ''",
    );
  for (let i = 0; i < 60; i++) {
    if (name.test(await named())) return;
    await page.keyboard.press("Tab");
  }
  assert.fail(`no way to ${name} by Tab`);
}

test("share dialog: a link is made and taken back by keyboard alone, and the recording leaves the public for good", async () => {
  const id = await make();
  const { page, complaints } = await visit(app, `/recordings/${id}`, { userId: member.id });
  await page.getByRole("list", { name: "Transcript" }).waitFor();
  await tabTo(page, /^Share$/);
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Share" });
  await dialog.getByLabel("Restricted").waitFor();
  await dialog.getByLabel("Restricted").focus();
  await page.keyboard.press("ArrowDown");
  await dialog.getByText(/^Everybody in .* can see this/).waitFor();
  await dialog.getByLabel("Workspace").focus();
  await page.keyboard.press("ArrowDown");
  await dialog.getByText(/^Anyone with a public link can see this, without signing in/).waitFor();
  await dialog.getByRole("textbox", { name: "Link 1" }).waitFor();
  await assertAccessibleAtRest(page);

  await tabTo(page, /^Make another link$/);
  await page.keyboard.press("Enter");
  const second = dialog.getByRole("region", { name: "Link 2" });
  const url = await second.getByRole("textbox", { name: "Link 2" }).inputValue();
  assert.equal((await fetch(url)).status, 200);
  await second.getByRole("button", { name: "Take back" }).focus();
  await page.keyboard.press("Enter");
  await dialog.getByText(/It ends at once, for everybody who has it/).waitFor();
  await assertAccessibleAtRest(page);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await second.waitFor({ state: "detached" });
  assert.equal((await fetch(url)).status, 404);
  await until("the focus is at a place that is there", () =>
    page.evaluate<boolean>("document.activeElement.textContent === 'Make another link'"),
  );

  const [first] = await linksOf("recordings", id);
  await dialog.getByLabel("Restricted").click();
  await dialog.getByText("Its public links end for good").waitFor();
  await assertAccessibleAtRest(page);
  await dialog.getByRole("button", { name: "Keep it public" }).click();
  assert.equal((await fetch(first.url)).status, 200);
  await dialog.getByLabel("Restricted").click();
  await dialog.getByRole("button", { name: "End the links" }).click();
  await dialog.getByText(/^Only .* can see this/).waitFor();
  assert.equal((await fetch(first.url)).status, 404);
  assert.deepEqual(complaints, []);
});

test("share dialog: a public recording whose links were taken back says so, and one click makes another", async () => {
  const id = await make();
  const link = await publish(id);
  await manage("DELETE", `/links/${link.id}`);
  const { page, complaints } = await visit(app, `/recordings/${id}`, { userId: member.id });
  await page.getByRole("button", { name: "Share", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Share" });
  await dialog.getByText(/It has no public link at the moment, so nobody else can/).waitFor();
  assert.equal(await dialog.getByText(/Anyone with a public link can see this/).count(), 0);
  await assertAccessibleAtRest(page);
  await dialog.getByRole("button", { name: "Make a link" }).click();
  await dialog.getByText(/^Anyone with a public link can see this/).waitFor();
  assert.equal((await linksOf("recordings", id)).length, 1);
  assert.deepEqual(complaints, []);
});

test("story: before a link is made it is said that nothing, or not all, of it would be seen", async () => {
  const rosa = await makeUser(app.db, workspace, { name: "Rosa Lang" });
  const theirs = await makeMedia(app, rosa.token, { title: "Theirs" });
  await linkTools(app, rosa.token).manage("PATCH", `/recordings/${theirs}`, { share_state: "workspace" });
  const hers = await makeClip(app, rosa.token, theirs, { text: "Hers" });
  const own = await makeClip(app, member.token, await make("Own"), { text: "Mine" });
  const story = await manage("POST", "/stories", { title: "Bare" });
  const said = async (highlightIds: string[], words: RegExp) => {
    await manage("PATCH", `/stories/${story.id}`, { highlight_ids: highlightIds });
    const { page, context, complaints } = await visit(app, `/stories/${story.id}`, { userId: member.id });
    await page.getByRole("button", { name: "Share", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Public links" });
    await dialog.getByRole("status").filter({ hasText: words }).waitFor();
    await dialog.getByRole("button", { name: "Make a link" }).waitFor();
    await assertAccessibleAtRest(page);
    assert.deepEqual(complaints, []);
    await context.close();
  };
  await said([], /This story is empty/);
  await said([hers], /shows nothing of this story/);
  await said([hers, own], /shows 1 of the 2 highlights/);
});

test("link settings: expiry, password, download and the current moment are kept, and what is wrong is said at its field", async () => {
  const id = await make();
  await publish(id);
  const { page, complaints } = await visit(app, `/recordings/${id}?t=5`, { userId: member.id });
  await untilMedia(page, "it stands at the moment", ({ currentTime }) => Math.abs(currentTime - 5) < 0.3);
  await page.getByRole("button", { name: "Share", exact: true }).click();
  const card = page.getByRole("region", { name: "Link 1" });
  await card.getByRole("button", { name: "Settings" }).click();
  await card.getByRole("button", { name: "Current moment" }).click();
  assert.equal(await card.getByLabel("Begin at").inputValue(), "0:05");
  await card.getByLabel("Begin at").fill("9:99:99:9");
  await card.getByText(/A moment like 1:05, up to 0:12/).waitFor();
  assert.ok(await card.getByRole("button", { name: "Save" }).isDisabled());
  await card.getByLabel("Begin at").fill("0:07");
  await card.getByLabel("Ask for a password").check({ force: true });
  await card.getByLabel("Password", { exact: true }).fill("abc");
  await card.getByLabel("Offer the file for download").check({ force: true });
  await card.getByRole("button", { name: "Save" }).click();
  await card
    .getByText(/at least 6 characters/i)
    .last()
    .waitFor();
  await card.getByLabel("Password", { exact: true }).fill("harbour");
  await card.getByLabel("Expires").click();
  await page.getByRole("button", { name: "In a week" }).click();
  await page.keyboard.press("Escape");
  await assertAccessibleAtRest(page);
  await card.getByRole("button", { name: "Save" }).click();
  await card.getByText("Begins at 0:07").waitFor();
  for (const rule of ["Password", "Can be downloaded", /^Until /]) await card.getByText(rule).waitFor();
  await assertAccessibleAtRest(page);
  const [link] = await linksOf("recordings", id);
  const days = (Date.parse(link.expires_datetime) - Date.now()) / 86_400_000;
  assert.ok(days > 6.9 && days < 7.1, link.expires_datetime);
  assert.deepEqual([link.has_password, link.allow_download, link.start], [true, true, 7000]);

  // Saved again without a look at the password: it stays.
  await card.getByRole("button", { name: "Settings" }).click();
  await card.getByLabel("Begin at").fill("");
  await card.getByRole("button", { name: "Save" }).click();
  await card.getByText("Begins at 0:07").waitFor({ state: "detached" });
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

test("highlight: a link is made from the list and from the recording; who may not share it is told so", async () => {
  const id = await make();
  const clip = await makeClip(app, member.token, id, { text: "Signed by Friday" });
  const { page, complaints } = await visit(app, "/highlights", { userId: member.id });
  await page.getByRole("button", { name: "More for Signed by Friday" }).click();
  await page.getByRole("menuitem", { name: "Public links" }).click();
  const dialog = page.getByRole("dialog", { name: "Public links" });
  await dialog.getByText(/Nobody outside can see it yet/).waitFor();
  await assertAccessibleAtRest(page);
  await dialog.getByRole("button", { name: "Make a link" }).click();
  await dialog.getByRole("textbox", { name: "Link 1" }).waitFor();
  await assertAccessibleAtRest(page);
  const [link] = await linksOf("highlights", clip);
  const shown = await visit(app, pathOf(link.url));
  await shown.page.getByRole("heading", { level: 1, name: "Signed by Friday" }).waitFor();

  await page.goto(`${app.url}/recordings/${id}`);
  await page.getByRole("tab", { name: /Highlights/ }).click();
  await page.getByRole("button", { name: /More for the highlight/ }).click();
  await page.getByRole("menuitem", { name: "Public links" }).click();
  await dialog.getByRole("button", { name: "Take back" }).click();
  await dialog.getByRole("button", { name: "Take it back" }).click();
  await dialog.getByText(/Nobody outside can see it yet/).waitFor();
  assert.equal((await fetch(link.url)).status, 404);

  await manage("PATCH", `/recordings/${id}`, { share_state: "workspace" });
  const other = await makeUser(app.db, workspace);
  const seen = await visit(app, "/highlights", { userId: other.id });
  await seen.page.getByRole("button", { name: "More for Signed by Friday" }).click();
  await seen.page.getByRole("menuitem", { name: "Public links" }).click();
  await seen.page.getByText(/Only those who may share the recording can make one/).waitFor();
  assert.equal(await seen.page.getByRole("button", { name: "Make a link" }).count(), 0);
  await assertAccessibleAtRest(seen.page);
  assert.deepEqual(withoutRefusals([...complaints, ...shown.complaints, ...seen.complaints]), []);
});

test("story: on a phone a link is made; what it leaves out is said, and can be agreed to", async () => {
  const own = await make("Own");
  const first = await makeClip(app, member.token, own, { text: "Mine" });
  const rosa = await makeUser(app.db, workspace, { name: "Rosa Lang" });
  const rosas = linkTools(app, rosa.token);
  const theirs = await makeMedia(app, rosa.token, { title: "Theirs" });
  await rosas.manage("PATCH", `/recordings/${theirs}`, { share_state: "workspace" });
  const second = await makeClip(app, rosa.token, theirs, { text: "Hers" });
  const story = await manage("POST", "/stories", { title: "Both", highlight_ids: [first, second] });
  const { page, complaints } = await visit(app, `/stories/${story.id}`, {
    userId: member.id,
    size: phone,
    colorScheme: "dark",
  });
  await page.getByRole("button", { name: "Share", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Public links" });
  await dialog.getByRole("button", { name: "Make a link" }).click();
  await dialog.getByText(/1 highlight is left out/).waitFor();
  await assertAccessibleAtRest(page);
  await assertFits(page);
  await dialog.getByRole("button", { name: "Include it" }).click();
  await dialog.getByText(/Somebody who recorded it, or an admin, can do that/).waitFor();
  const { admin } = workspace;
  const asked = await visit(app, `/stories/${story.id}`, { userId: admin.id });
  await asked.page.getByRole("button", { name: "Share", exact: true }).click();
  await asked.page.getByRole("button", { name: "Include it" }).click();
  await asked.page.getByText(/left out/).waitFor({ state: "detached" });
  const [link] = await linksOf("stories", story.id);
  assert.equal(link.left_out, 0);
  assert.deepEqual(withoutRefusals([...complaints, ...asked.complaints]), []);
});

test("the shared page stays small: all of its script is less than 200 kB", async () => {
  const folder = await buildWebApp(() => undefined);
  const document = readFileSync(join(folder, "shared.html"), "utf8");
  const scripts = [...document.matchAll(/"\/(assets\/[^"]+\.js)"/g)].map(([, path = ""]) =>
    join(folder, path),
  );
  assert.ok(scripts.length > 0);
  const bytes = scripts
    .map((path) => statSync(existsSync(`${path}.br`) ? `${path}.br` : path).size)
    .reduce((sum, size) => sum + size, 0);
  assert.ok(bytes < 200_000, `${bytes} bytes compressed`);
});
