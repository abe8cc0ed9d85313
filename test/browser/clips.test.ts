import assert from "node:assert/strict";
import { test } from "node:test";
import { clippedParts } from "../../web/common/words.ts";
import { makeWorkspace } from "../support/factories.ts";
import { until } from "../support/until.ts";
import { assertAccessibleAtRest, makeMedia, talk } from "./recording-support.ts";
import { startBrowserApp, visitShared } from "./support.ts";

const app = await startBrowserApp();
const { member } = await makeWorkspace(app.db);
const id = await makeMedia(app, member.token);

/** Opens the recording and selects the third line. */
async function selectLine() {
  const visited = await visitShared(app, `/recordings/${id}`, { userId: member.id });
  await visited.context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await visited.page.locator('li[data-index="2"] [data-text]').waitFor();
  await visited.page.evaluate(
    "window.getSelection().selectAllChildren(document.querySelector('li[data-index=\"2\"] [data-text]'))",
  );
  return visited;
}

test("from selected words to a public link in the clipboard in three clicks; the words stay marked", async () => {
  const { page, complaints } = await selectLine();
  await page.getByRole("toolbar", { name: "Selected words" }).getByRole("button", { name: "Clip" }).click();
  const dialog = page.getByRole("dialog", { name: "New clip" });
  await dialog.getByRole("radio", { name: /Anyone with the link/ }).click();
  await assertAccessibleAtRest(page);
  await dialog.getByRole("button", { name: "Create and copy link" }).click();
  await page.getByText("Clip created, link copied").waitFor();
  const link = await page.evaluate<string>("navigator.clipboard.readText()");
  assert.equal((await fetch(link)).status, 200);
  await until(
    "the words are marked",
    async () =>
      (await page.evaluate<string>("[...(CSS.highlights.get('clipped-words') ?? [])].map(String).join()")) ===
      talk.segments[2]?.text,
  );
  // What people do next is in the notification.
  await page.getByRole("button", { name: "Add to story" }).click();
  const story = page.getByRole("dialog", { name: "Add to story" });
  await story.getByLabel("Title").fill("Harbour");
  await story.getByRole("button", { name: "Add" }).click();
  await story.waitFor({ state: "detached" });
  assert.deepEqual(complaints, []);
});

test("the link of a clip gets the password and expiry chosen with it, and the choice of link is kept", async () => {
  const { page, complaints } = await selectLine();
  await page.evaluate("localStorage.setItem('parley.clip-link', 'public')");
  await page.getByRole("toolbar", { name: "Selected words" }).getByRole("button", { name: "Clip" }).click();
  const dialog = page.getByRole("dialog", { name: "New clip" });
  await dialog.getByLabel("Title").fill("With a password");
  await dialog.getByLabel("Password", { exact: true }).fill("short");
  assert.equal(await dialog.getByRole("button", { name: "Create and copy link" }).isDisabled(), true);
  await dialog.getByLabel("Password", { exact: true }).fill("harbour master");
  await dialog.getByRole("combobox", { name: "Expires" }).click();
  await page.getByRole("option", { name: "In 7 days" }).click();
  await dialog.getByRole("button", { name: "Create and copy link" }).click();
  await page.getByText("Clip created, link copied").waitFor();
  const { rows } = await app.db.pool.query(
    `select l.password_hash is not null as has_password, l.expires_at - now() between '6 days' and '7 days' as is_week
     from public_links l join highlights h on h.id = l.highlight_id where h.text = 'With a password'`,
  );
  assert.deepEqual(rows, [{ has_password: true, is_week: true }]);
  assert.deepEqual(complaints, []);
});

test("the link of a clip for colleagues is not public", async () => {
  const { page } = await selectLine();
  await page.getByRole("toolbar", { name: "Selected words" }).getByRole("button", { name: "Clip" }).click();
  const dialog = page.getByRole("dialog", { name: "New clip" });
  await dialog.getByLabel("Title").fill("For colleagues");
  await dialog.getByRole("button", { name: "Create and copy link" }).click();
  await page.getByText("Clip created, link copied").waitFor();
  const link = await page.evaluate<string>("navigator.clipboard.readText()");
  assert.match(new URL(link).pathname, /^\/highlights\//);
  const { rows } = await app.db.pool.query(
    "select 1 from public_links l join highlights h on h.id = l.highlight_id where h.text = 'For colleagues'",
  );
  assert.deepEqual(rows, []);
});

test("at 1280 by 720 all tabs and the player are visible together, and the open tab is part of the URL", async () => {
  const { page } = await visitShared(app, `/recordings/${id}`, {
    userId: member.id,
    size: { width: 1280, height: 720 },
  });
  await page.getByRole("list", { name: "Transcript" }).waitFor();
  const isVisible = async (role: "tab" | "button", name: string): Promise<boolean> => {
    const box = await page.getByRole(role, { name }).first().boundingBox();
    return box !== null && box.x >= 0 && box.x + box.width <= 1280 && box.y + box.height <= 720;
  };
  for (const name of [
    "Transcript",
    "Summary",
    "Action items",
    "Highlights",
    "Comments",
    "Notes",
    "People",
    "Details",
  ])
    assert.equal(await isVisible("tab", name), true, name);
  assert.equal(await isVisible("button", "Full screen"), true);
  await page.getByRole("tab", { name: "People" }).click();
  await page.waitForURL(/\?tab=people$/);
  await page.reload();
  await page.getByRole("tabpanel", { name: "People" }).waitFor();
  await page.keyboard.press("/");
  await page.getByLabel("Search transcript").waitFor();
  await page.waitForURL(/\?tab=transcript$/);
});

test("the marked part of a line: whole words, by their times where they are known", () => {
  const segment = {
    index: 0,
    speaker: "Ana",
    participant_id: null,
    start: 1000,
    end: 5000,
    text: "one two three four",
    is_edited: false,
  };
  const parts = (timestamp: number, duration: number, words: object[] = []) =>
    clippedParts(segment, words as Parameters<typeof clippedParts>[1], [{ timestamp, duration }]).map(
      ([from, to]) => segment.text.slice(from, to),
    );
  assert.deepEqual(parts(0, 9000), ["one two three four"]);
  assert.deepEqual(parts(5000, 1000), []);
  const times = [1000, 2000, 3000, 4000].map((start) => ({ start, end: start + 900 }));
  assert.deepEqual(parts(2000, 1900, times), ["two three"]);
});
