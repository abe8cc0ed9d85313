import assert from "node:assert/strict";
import { test } from "node:test";
import { makeRecording, makeWorkspace } from "../support/factories.ts";
import { until } from "../support/until.ts";
import { assertAccessible, phone, startBrowserApp, visitShared } from "./support.ts";

const app = await startBrowserApp();

/** A transcript with one word on many lines. */
const longTranscript = {
  language: "en",
  segments: Array.from({ length: 8 }, (_, index) => ({
    speaker_key: index % 2 === 0 ? "s1" : "s2",
    start: index * 60_000,
    end: index * 60_000 + 5000,
    text: `The lighthouse needs paint, item ${index + 1}.`,
  })),
};

async function makeSearchable() {
  const workspace = await makeWorkspace(app.db);
  const { recordingId } = await makeRecording(app, workspace.member.token, {
    title: "Lighthouse repairs",
    tags: ["harbour"],
    transcript: longTranscript,
    participants: [{ name: "Ana Lima", email: "ana@other.example", speaker_key: "s1" }],
  });
  await makeRecording(app, workspace.member.token, { title: "Weekly", transcript: longTranscript });
  await until("both are indexed", async () => {
    const response = await fetch(`${app.url}/_/api/v1/search?q=lighthouse`, {
      headers: { authorization: `Bearer ${workspace.member.token}` },
    });
    const { results } = (await response.json()) as { results: { hits: { kind: string }[] }[] };
    const found = results.filter(({ hits }) => hits.some(({ kind }) => kind === "transcript"));
    return found.length === 2 ? true : undefined;
  });
  return { workspace, recordingId };
}

const { workspace, recordingId } = await makeSearchable();

test("search: from the header to matches that link into the recording, with filters in the URL", async () => {
  const { page, complaints } = await visitShared(app, "/", { userId: workspace.member.id });
  await page.getByRole("searchbox", { name: "Search recordings and transcripts" }).fill("lighthouse");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/search\?q=lighthouse/);
  const results = page.getByRole("list", { name: "Results" });
  const repairs = results.getByRole("article", { name: "Lighthouse repairs" });
  await repairs.waitFor();
  assert.equal(await repairs.getByRole("heading").locator("mark").innerText(), "Lighthouse");
  const moments = repairs.getByRole("link", { name: /needs paint/ });
  assert.equal(await moments.count(), 3);
  await assertAccessible(page);

  await repairs.getByRole("button", { name: "Show more matches in Lighthouse repairs" }).click();
  await moments.nth(7).waitFor();
  assert.equal(await moments.nth(2).getAttribute("href"), `/recordings/${recordingId}?t=120&find=lighthouse`);
  assert.match(await moments.nth(2).innerText(), /2:00\s+Ana Lima: The lighthouse needs/);

  await page.getByRole("textbox", { name: "Tag" }).fill("harbour");
  await results.getByRole("article", { name: "Weekly" }).waitFor({ state: "detached" });
  assert.equal(new URL(page.url()).searchParams.get("tag"), "harbour");
  await page.getByRole("button", { name: "Clear filters" }).click();
  await results.getByRole("article", { name: "Weekly" }).waitFor();
  await page.getByText("2 recordings", { exact: true }).waitFor();
  await page.getByRole("combobox", { name: "Sort" }).click();
  await page.getByRole("option", { name: "Oldest first" }).click();
  await page.waitForURL(/sort=oldest/);

  await moments.nth(2).click();
  await page.waitForURL(/find=lighthouse/);
  await page.getByText("3 of 8").waitFor();
  assert.equal(await page.getByRole("searchbox", { name: "Search transcript" }).inputValue(), "lighthouse");
  assert.ok((await page.locator("mark").count()) >= 3);
  await page.getByRole("button", { name: "Next match" }).click();
  await page.getByText("4 of 8").waitFor();
  assert.deepEqual(complaints, []);
});

test("search: a misspelled word leads to the results of the right one", async () => {
  const { page, complaints } = await visitShared(app, "/search?q=lihgthouse", {
    userId: workspace.member.id,
  });
  await page.getByText("Did you mean").waitFor();
  await assertAccessible(page);
  await page.getByRole("link", { name: "lighthouse" }).click();
  await page.waitForURL(/q=lighthouse/);
  await page.getByText("2 recordings", { exact: true }).waitFor();
  assert.deepEqual(complaints, []);
});

test("search: the page without a query, without results and with an invalid query explains the syntax (phone)", async () => {
  const workspace = await makeWorkspace(app.db);
  const { page, complaints } = await visitShared(app, "/search", {
    userId: workspace.member.id,
    size: phone,
    colorScheme: "dark",
  });
  await page.getByRole("heading", { name: "Search recordings and transcripts" }).waitFor();
  await assertAccessible(page);
  await page.goto(`${app.url}/search?q=xylophone&media=video`);
  await page.getByRole("heading", { name: "No results" }).waitFor();
  await page.getByRole("button", { name: "Search without filters" }).click();
  await page.waitForURL(/\/search\?q=xylophone$/);
  await assertAccessible(page);
  assert.ok(
    await page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"),
  );
  assert.deepEqual([...complaints], []);

  // The browser itself reports the refused request; nothing else may be wrong.
  await page.goto(`${app.url}/search?q=-budget`);
  await page.getByText("Only excludes words").waitFor();
  assert.deepEqual(
    complaints.filter((text) => !text.includes("status of 400")),
    [],
  );
});

test("search: the person filter keeps what is typed during a pause, and clearing stops what was typed right before", async () => {
  const { member } = await makeWorkspace(app.db);
  const { page, complaints } = await visitShared(app, "/search?q=budget", { userId: member.id });
  const person = page.getByRole("combobox", { name: "Person" });
  await person.pressSequentially("Ann ");
  await page.waitForURL(/person=Ann/);
  await person.pressSequentially("Lee");
  assert.equal(await person.inputValue(), "Ann Lee");
  await page.waitForURL(/person=Ann(\+|%20)Lee/);
  const tag = page.getByRole("textbox", { name: "Tag" });
  await tag.fill("harbour");
  await page.getByRole("button", { name: "Clear filters" }).click();
  assert.deepEqual([await person.inputValue(), await tag.inputValue()], ["", ""]);
  await person.fill("Bo");
  await page.waitForURL(/person=Bo/);
  assert.equal(new URL(page.url()).searchParams.get("tag"), null);
  assert.deepEqual(complaints, []);
});
