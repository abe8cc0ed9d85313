import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { makeRecording, makeWorkspace } from "../support/factories.ts";
import { until } from "../support/until.ts";
import { makeMedia, people } from "./recording-support.ts";
import { startBrowserApp, visitShared } from "./support.ts";

const app = await startBrowserApp();
const { member } = await makeWorkspace(app.db);

/** Lines that start between whole seconds, some with times that are not exact in binary. */
const starts = [0, 1005, 2050, 4350, 5450, 7600, 9900];
const transcript = {
  language: "en",
  segments: starts.map((start, index) => ({
    speaker_key: `s${(index % 2) + 1}`,
    start,
    end: starts[index + 1] ?? 11_900,
    text: `Line number ${index} names the harbour`,
  })),
};
const videoId = await makeMedia(app, member.token, { transcript, participants: people });

const activeLine = (page: Page) =>
  page.locator("li[data-index]").filter({ has: page.locator('button[aria-current="true"]') });

async function activeIndex(page: Page): Promise<number> {
  return Number(await activeLine(page).getAttribute("data-index"));
}

test("every line's copied link opens that line", async () => {
  const { page, context, complaints } = await visitShared(app, `/recordings/${videoId}`, {
    userId: member.id,
  });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const lines = page.getByRole("list", { name: "Transcript" });
  await lines.waitFor();
  const links: string[] = [];
  for (const index of starts.keys()) {
    const line = lines.locator(`li[data-index="${index}"]`);
    await line.hover();
    await line.getByRole("button", { name: /^Actions for/ }).click();
    await page.evaluate("navigator.clipboard.writeText('')");
    await page.getByRole("menuitem", { name: "Copy link to this moment" }).click();
    links.push(
      await until("the link is copied", () => page.evaluate<string>("navigator.clipboard.readText()")),
    );
    await page.getByRole("menuitem").first().waitFor({ state: "detached" });
  }
  for (const [index, link] of links.entries()) {
    await page.goto(link);
    await activeLine(page).waitFor();
    await until("the player is there", () =>
      page.evaluate<boolean>(
        "(document.querySelector('video')?.readyState ?? 0) >= 2 && !document.querySelector('video').seeking",
      ),
    );
    assert.equal(await activeIndex(page), index, link);
  }
  assert.deepEqual(complaints, []);
});

test("a search result opens the matching line", async () => {
  const { page } = await visitShared(app, "/search?q=harbour", { userId: member.id });
  const hits = page.getByRole("article").first().getByRole("listitem");
  await hits.first().waitFor();
  const more = page.getByRole("button", { name: /Show more matches/ });
  if ((await more.count()) > 0) await more.click();
  await until("all hits are listed", async () => (await hits.count()) >= starts.length);
  const found = await Promise.all(
    (await hits.getByRole("link").all()).map(async (link) => ({
      line: Number(/Line number (\d)/.exec((await link.textContent()) ?? "")?.[1]),
      at: new URL((await link.getAttribute("href")) ?? "", app.url).searchParams.get("t"),
    })),
  );
  // The same positions as those of the copied links, each of which opens its line.
  for (const { line, at } of found) assert.equal(Math.round(Number(at) * 1000), starts[line], `line ${line}`);
  assert.deepEqual([...new Set(found.map(({ line }) => line))].sort(), [...starts.keys()]);
  await hits.getByRole("link").filter({ hasText: "Line number 1" }).click();
  await activeLine(page).waitFor();
  assert.equal(await activeIndex(page), 1);
});

test("without media: a link to a position or a whole second shows its line", async () => {
  const { recordingId } = await makeRecording(app, member.token, { transcript, participants: people });
  const { page } = await visitShared(app, `/recordings/${recordingId}?t=7.6`, { userId: member.id });
  await activeLine(page).waitFor();
  assert.equal(await activeIndex(page), 5);
  await page.goto(`${app.url}/recordings/${recordingId}?t=7`);
  await until("the line of second 7 is active", async () => (await activeIndex(page)) === 5);
});

test("a link to a whole second opens the line that starts within that second", async () => {
  const { page } = await visitShared(app, "/icon.svg", { userId: member.id });
  for (const [second, line] of [
    [1, 1],
    [2, 2],
    [3, 2],
    [4, 3],
    [7, 5],
  ]) {
    await page.goto(`${app.url}/recordings/${videoId}?t=${second}`);
    await activeLine(page).waitFor();
    await until(
      `line ${line} is active for second ${second}`,
      async () => (await activeIndex(page)) === line,
    );
  }
});

test("the clip of a line shorter than a second ends before the next line", async () => {
  const lines = [
    [0, 400],
    [400, 3000],
    [3000, 3300],
    [5000, 5600],
  ].map(([start = 0, end = 0], index) => ({
    speaker_key: `s${(index % 2) + 1}`,
    start,
    end,
    text: `Line ${index}`,
  }));
  const id = await makeMedia(app, member.token, {
    transcript: { language: "en", segments: lines },
    participants: people,
  });
  const { page } = await visitShared(app, `/recordings/${id}`, { userId: member.id });
  for (const index of [0, 2]) {
    const line = page.locator(`li[data-index="${index}"]`);
    await line.hover();
    await line.getByRole("button", { name: /^Actions for/ }).click();
    await page.getByRole("menuitem", { name: /clip/i }).click();
    const dialog = page.getByRole("dialog", { name: "New clip" });
    await dialog.getByRole("button", { name: "Create clip" }).click();
    await dialog.waitFor({ state: "detached" });
  }
  const { rows } = await app.db.pool.query(
    "select start_ms, duration_ms from highlights where recording_id = $1 order by start_ms",
    [id],
  );
  assert.deepEqual(rows, [
    { start_ms: 0, duration_ms: 400 },
    // A pause follows, so the clip is extended to one second.
    { start_ms: 3000, duration_ms: 1000 },
  ]);
});

test("a clip of selected words starts within their line and ends before the next one", async () => {
  const { page } = await visitShared(app, `/recordings/${videoId}`, { userId: member.id });
  const text = page.locator('li[data-index="3"] [data-text]');
  await text.waitFor();
  await page.evaluate(
    "window.getSelection().selectAllChildren(document.querySelector('li[data-index=\"3\"] [data-text]'))",
  );
  await page.getByRole("toolbar", { name: "Selected words" }).getByRole("button", { name: "Clip" }).click();
  const dialog = page.getByRole("dialog", { name: "New clip" });
  await dialog.getByRole("button", { name: "Create clip" }).click();
  await dialog.waitFor({ state: "detached" });
  const { rows } = await app.db.pool.query(
    "select start_ms, duration_ms from highlights where recording_id = $1",
    [videoId],
  );
  assert.deepEqual(rows, [{ start_ms: 4350, duration_ms: 1100 }]);
});

test("words with times: the spoken one is highlighted, a click plays from its word, a clip ends where its last word does", async () => {
  const id = await makeMedia(app, member.token, {
    transcript: { language: "en", segments: transcript.segments.slice(0, 1) },
    participants: people,
  });
  const webvtt = `WEBVTT

00:00:01.000 --> 00:00:04.000
<v Ada>Meet <00:00:01.700>at <00:00:02.300>the <00:00:03.100>harbour</v>
`;
  const supplied = await fetch(`${app.url}/_/api/v1/recordings/${id}/transcript`, {
    method: "PUT",
    headers: { authorization: `Bearer ${member.token}`, "content-type": "application/json" },
    body: JSON.stringify({ transcript_version: 0, webvtt, edits: "discard" }),
  });
  assert.equal(supplied.status, 200, await supplied.clone().text());
  const { page, complaints } = await visitShared(app, `/recordings/${id}`, { userId: member.id });
  const text = page.locator('li[data-index="0"] [data-text]');
  await text.waitFor();
  const spoken = (): Promise<string> =>
    page.evaluate("[...(CSS.highlights.get('spoken-word') ?? [])].map(String).join()");
  const timeMs = async (): Promise<number> =>
    Math.round((await page.evaluate<number>("document.querySelector('video').currentTime")) * 1000);
  for (const [word, start] of [
    ["harbour", 3100],
    ["at", 1700],
    ["Meet", 1000],
  ] as const) {
    const box = await page.evaluate<{ x: number; y: number }>(`{
      const node = document.querySelector('li[data-index="0"] [data-text]').firstChild;
      const range = document.createRange();
      const from = node.data.indexOf(${JSON.stringify(word)});
      range.setStart(node, from);
      range.setEnd(node, from + ${word.length});
      const { x, y, width, height } = range.getBoundingClientRect();
      ({ x: x + width / 2, y: y + height / 2 });
    }`);
    await until(`a click on ${word} plays from it`, async () => {
      await page.mouse.click(box.x, box.y);
      return Math.abs((await timeMs()) - start) < 400 && (await spoken()) === word;
    });
    await page.evaluate("document.querySelector('video').pause()");
  }
  await page.evaluate(`{
    const node = document.querySelector('li[data-index="0"] [data-text]').firstChild;
    window.getSelection().setBaseAndExtent(node, 5, node, 9);
  }`);
  await page.getByRole("toolbar", { name: "Selected words" }).getByRole("button", { name: "Clip" }).click();
  const dialog = page.getByRole("dialog", { name: "New clip" });
  await dialog.getByRole("button", { name: "Create clip" }).click();
  await dialog.waitFor({ state: "detached" });
  const { rows } = await app.db.pool.query(
    "select start_ms, duration_ms from highlights where recording_id = $1",
    [id],
  );
  // "at the": the second word ends where the next begins.
  assert.deepEqual(rows, [{ start_ms: 1700, duration_ms: 1400 }]);
  assert.deepEqual(complaints, []);
});

test("silence is skipped on request, also for the next recording", async () => {
  const id = await makeMedia(app, member.token, {
    transcript: {
      language: "en",
      segments: [
        { speaker_key: "s1", start: 0, end: 1000, text: "Before the silence" },
        { speaker_key: "s1", start: 9000, end: 10_000, text: "After the silence" },
      ],
    },
    participants: people,
  });
  const { page, complaints } = await visitShared(app, `/recordings/${id}`, { userId: member.id });
  await page.getByRole("button", { name: "1× speed" }).click();
  const choice = page.getByRole("menuitemcheckbox", { name: "Skip silence" });
  await choice.click();
  await until("the choice is shown", async () => (await choice.getAttribute("aria-checked")) === "true");
  await page.keyboard.press("Escape");
  await page.reload();
  await page.getByRole("button", { name: "Play", exact: true }).first().click();
  const seen: number[] = [];
  await until("the second line plays", async () => {
    const time = await page.evaluate<number>("document.querySelector('video').currentTime");
    seen.push(time);
    return time > 9;
  });
  assert.ok(!seen.some((time) => time > 2 && time < 8.5), `${seen}`);
  assert.deepEqual(complaints, []);
});
