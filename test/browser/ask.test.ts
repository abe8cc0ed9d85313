import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Page, Route } from "playwright-core";
import { answering, quoting, slowly } from "../../server/processing/ask/test/asking.ts";
import { takeMachine } from "../../server/processing/models/engine/machine-lock.ts";
import { installModel } from "../../server/processing/models/install.ts";
import { makeSpoken } from "../../server/recordings/search/test/search.ts";
import { call } from "../support/app.ts";
import { makeRecording, makeUser, makeWorkspace } from "../support/factories.ts";
import { startModelServer } from "../support/model-server.ts";
import { assertAccessibleAtRest, makeMedia, people, talk } from "./recording-support.ts";
import { phone, startBrowserApp, visitShared } from "./support.ts";
import { createTour } from "./tour.ts";

const model = await startModelServer();
const env = { PARLEY_LLM_URL: model.url, PARLEY_LLM_MODEL: "small", PARLEY_LLM_API_KEY: "sk-secret-key" };
const app = await startBrowserApp({ env });
const workspace = await makeWorkspace(app.db);

const shot = async (page: Page, name: string): Promise<void> => {
  if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/ask-${name}.png` });
};

async function ask(page: Page, label: string, question: string): Promise<void> {
  await page.getByRole("textbox", { name: label }).fill(question);
  await page.getByRole("button", { name: "Ask", exact: true }).click();
}

test("on the recording page, each statement has its quote and plays its moment; a follow-up knows the thread", async () => {
  const { member } = workspace;
  const id = await makeMedia(app, member.token);
  model.otherwise(
    answering((lines) =>
      lines
        .filter(({ text }) => /signed by/.test(text))
        .flatMap(({ passage, text }) => [
          { text: "It is to be signed by Friday.", passage, quote: text },
          { text: "It costs a million.", passage, quote: "It costs a million euros." },
          { text: "See https://evil.example", passage, quote: "nothing of the kind was said" },
        ]),
    ),
  );
  const { page, complaints } = await visitShared(app, `/recordings/${id}`, { userId: member.id });
  await ask(page, "Ask about this meeting", "When must it be signed?");
  await page.getByText("It is to be signed by Friday.").waitFor();
  await page.getByText("“The harbour master wants it signed by Friday.”").waitFor();
  await page.getByText("2 statements without proof were left out.").waitFor();
  assert.equal(await page.getByText("million").count(), 0);
  const rated = page.waitForResponse((response) => response.request().method() === "PUT");
  await page.getByRole("button", { name: "Good answer" }).click();
  assert.equal((await rated).status(), 200);
  await page.getByRole("button", { name: "Play this moment: 0:05" }).click();
  await page.waitForFunction("document.querySelector('video').currentTime >= 5");
  await shot(page, "recording");
  await assertAccessibleAtRest(page);
  model.otherwise(answering(() => []));
  await ask(page, "Ask a follow-up question", "And who pays?");
  await page.getByText("Your meetings don't say.").waitFor();
  const request = model.requests.filter(({ wanted }) => wanted.includes("statements")).at(-1);
  assert.match(request?.user ?? "", /When must it be signed\?[\s\S]*It is to be signed by Friday\./);
  await page.getByRole("button", { name: "New question" }).click();
  await page.getByRole("textbox", { name: "Ask about this meeting" }).waitFor();
  assert.deepEqual(complaints, []);
});

test("in the library and on the search page, the filters in use apply and are named; a statement opens its moment", async () => {
  const asker = await makeUser(app.db, workspace);
  await makeSpoken(app, asker.token, "Kiosk", ["We begin.", "The gazebo is sold."]);
  await makeSpoken(app, asker.token, "Else", ["Another gazebo is sold."]);
  model.otherwise(quoting("gazebo"));
  const { page, leave, complaints } = await visitShared(app, "/?title=kiosk", { userId: asker.id });
  await ask(page, "Ask your meetings", "What is sold?");
  await page.getByText("It was said: The gazebo is sold.").waitFor();
  await page.getByText("Only meetings that match your filters: title “kiosk”").waitFor();
  assert.equal(await page.getByText("Another gazebo").count(), 0);
  await shot(page, "library");
  await assertAccessibleAtRest(page);
  await page.getByRole("link", { name: /Open this moment: 0:10/ }).click();
  await page.waitForURL(/\/recordings\/.*t=10/);
  await page.goBack();
  await page.getByText("It was said: The gazebo is sold.").waitFor();
  await leave();
  const search = await visitShared(app, "/search?q=gazebo&tag=none", { userId: asker.id, size: phone });
  await search.page.getByText("Only meetings that match your filters: tag none").waitFor();
  await ask(search.page, "Ask your meetings", "What is sold?");
  await search.page.getByText("Your meetings don't say.").waitFor();
  await search.page.goto(`${app.url}/search?q=gazebo`);
  await ask(search.page, "Ask your meetings", "What is sold?");
  await search.page.getByText("Another gazebo is sold.", { exact: false }).first().waitFor();
  await shot(search.page, "search-phone");
  assert.deepEqual([...complaints, ...search.complaints], []);
});

test("Stop ends the model's work, what was proven stays, and one can ask again at once", async () => {
  const asker = await makeUser(app.db, workspace);
  await makeSpoken(app, asker.token, "Light", ["The lighthouse is red."]);
  const slow = slowly();
  model.otherwise(slow.behaviour);
  const { page, complaints } = await visitShared(app, "/", { userId: asker.id, colorScheme: "dark" });
  await ask(page, "Ask your meetings", "Which colour has the lighthouse?");
  await page.getByText("First.").waitFor();
  await page.getByText("Reading 1 passage…").waitFor();
  await shot(page, "running-dark");
  await page.getByRole("button", { name: "Stop" }).click();
  await slow.closed;
  await page.getByText("You stopped this answer.").waitFor();
  model.otherwise(quoting("lighthouse"));
  await page.getByRole("button", { name: "Ask again" }).click();
  await page.getByText("It was said: The lighthouse is red.").waitFor();
  await page.getByText("First.").waitFor();
  assert.deepEqual(complaints, []);
});

test("limits and lost connections are said in plain words, with a button to ask again", async () => {
  const asker = await makeUser(app.db, workspace);
  await makeSpoken(app, asker.token, "Pier", ["The pier is new."]);
  model.otherwise(quoting("pier"));
  const { page } = await visitShared(app, "/", { userId: asker.id });
  const path = "**/_/api/v1/ask";
  const threadId = crypto.randomUUID();
  const searching = { thread_id: threadId, number: 1, searches: [], filter: {}, recording_id: null };
  const passage = { number: 1, recording_id: threadId, title: "Pier", start: 0, end: 1 };
  const onAsk = (handle: (route: Route) => Promise<void>) =>
    page.route(path, (route) => (route.request().method() === "POST" ? handle(route) : route.fallback()));
  await onAsk((route) =>
    route.fulfill({
      contentType: "text/event-stream",
      body: `event: searching\ndata: ${JSON.stringify(searching)}\n\nevent: passage\ndata: ${JSON.stringify(passage)}\n\n`,
    }),
  );
  await ask(page, "Ask your meetings", "What is new?");
  await page.getByText("The connection was lost before the answer was complete.").waitFor();
  await page.getByRole("button", { name: "New question" }).click();
  await onAsk((route) => route.abort());
  await ask(page, "Ask your meetings", "What is new?");
  await page.getByText("The server can't be reached.").waitFor();
  await page.unroute(path);
  await call(app, "POST", "/_/api/v1/ask", { question: "pier" }, { token: asker.token, version: null });
  await app.db.pool.query(
    "insert into intelligence_settings (workspace_id, is_enabled, max_tokens_per_day) values ($1, true, 10000)",
    [workspace.id],
  );
  await app.db.pool.query("update intelligence_usage set input_tokens = 1000000 where workspace_id = $1", [
    workspace.id,
  ]);
  await page.getByRole("button", { name: "Ask again" }).click();
  await page.getByText(/The workspace's tokens for today are used up\. Ask again after/).waitFor();
  await shot(page, "limit");
  await app.db.pool.query("delete from intelligence_settings where workspace_id = $1", [workspace.id]);
  // The server's own response, whose count starts again each minute, has its test beside the limit.
  const detail = "more than 10 questions in this minute; ask again in 12 s";
  await onAsk((route) =>
    route.fulfill({
      status: 429,
      contentType: "application/problem+json",
      json: { error: "rate_limited", detail },
    }),
  );
  await page.getByRole("button", { name: "Ask again" }).click();
  await page.getByText("More than 10 questions in this minute; ask again in 12 s.").waitFor();
});

test("the user's questions are listed, and each is read, renamed and deleted", async () => {
  const asker = await makeUser(app.db, workspace);
  const id = await makeSpoken(app, asker.token, "Pelican meeting", ["The pelican flies."]);
  model.otherwise(quoting("pelican"));
  const { page, complaints } = await visitShared(app, "/ask", { userId: asker.id });
  await page.getByText("No questions yet").waitFor();
  await call(
    app,
    "POST",
    "/_/api/v1/ask",
    { question: "Who flies?", recording_id: id },
    { token: asker.token, version: null },
  );
  await page.reload();
  await page.getByRole("button", { name: "Rename Who flies?" }).click();
  await page.getByRole("textbox", { name: "Name" }).fill("Birds");
  await page.getByRole("button", { name: "Save name" }).click();
  await shot(page, "threads");
  await assertAccessibleAtRest(page);
  await page.getByRole("link", { name: "Birds" }).click();
  await page.getByText("It was said: The pelican flies.").waitFor();
  await page.getByRole("link", { name: /Open this moment: 0:00 Pelican meeting/ }).waitFor();
  await ask(page, "Ask a follow-up question", "And the pelican?");
  await page.getByText("And the pelican?").waitFor();
  await shot(page, "thread");
  await assertAccessibleAtRest(page);
  await page.getByRole("button", { name: "Delete Birds" }).click();
  await page.getByRole("button", { name: "Delete question" }).click();
  await page.getByText("No questions yet").waitFor();
  assert.deepEqual(complaints, []);
});

test("without a model, the pages say what is missing and who can install it; with one, what a question waits for", async () => {
  // One thread waits for no other.
  const bare = await startBrowserApp({ env: { PARLEY_TRANSCRIPTION_THREADS: "1" } });
  const { admin, member } = await makeWorkspace(bare.db);
  const { recordingId } = await makeRecording(bare, member.token, { transcript: talk, participants: people });
  const asMember = await visitShared(bare, `/recordings/${recordingId}`, { userId: member.id });
  await asMember.page
    .getByText("Questions need a language model. An admin of this server can install one in Settings")
    .waitFor();
  await shot(asMember.page, "no-model");
  const install =
    "need a language model. An admin of this server can install one in Settings, Language model.";
  for (const tab of ["Summary", "Action items"]) {
    await asMember.page.getByRole("tab", { name: tab, exact: true }).click();
    await asMember.page.getByText(`Summaries, chapters and action items ${install}`).waitFor();
    await shot(asMember.page, `no-model-${tab}`);
  }
  // A run from the time when there was a model.
  await bare.db.pool.query("insert into intelligence_runs (recording_id, status) values ($1, 'pending')", [
    recordingId,
  ]);
  await asMember.page.reload();
  await asMember.page.getByRole("tab", { name: "Summary", exact: true }).click();
  await asMember.page
    .getByRole("status")
    .filter({ hasText: `Summaries, chapters and action items ${install}` })
    .waitFor();
  await shot(asMember.page, "no-model-queued");
  await bare.db.pool.query("delete from intelligence_runs where recording_id = $1", [recordingId]);
  const onPhone = await visitShared(bare, "/action-items", {
    userId: member.id,
    size: phone,
    colorScheme: "dark",
  });
  await onPhone.page.getByText(`Action items ${install}`).waitFor();
  await shot(onPhone.page, "no-model-items-phone");
  const goTo = createTour(onPhone.page);
  for (const path of ["/ask", "/"]) {
    await goTo(path);
    await onPhone.page.getByText(`Questions ${install}`).waitFor();
    await shot(onPhone.page, `no-model-phone${path.replace("/", "-")}`);
  }
  await goTo(`/recordings/${recordingId}?tab=summary`);
  await onPhone.page.getByText(`Summaries, chapters and action items ${install}`).waitFor();
  await shot(onPhone.page, "no-model-summary-phone");
  await onPhone.leave();
  await bare.db.pool.query("update recordings set share_state = 'workspace' where id = $1", [recordingId]);
  const asAdmin = await visitShared(bare, "/search", { userId: admin.id });
  await asAdmin.page.getByText("Questions need a language model. You can install one in Settings.").waitFor();
  assert.equal(await asAdmin.page.getByRole("textbox", { name: "Ask your meetings" }).count(), 0);
  await shot(asAdmin.page, "no-model-search");
  await asAdmin.page.getByRole("link", { name: "install one in Settings", exact: true }).click();
  await asAdmin.page.getByText("No language model is set up").waitFor();
  await asAdmin.page
    .getByRole("button", { name: /^Download model/ })
    .first()
    .waitFor();
  await shot(asAdmin.page, "no-model-settings");
  await installModel(bare.config.dataDir, "tiny", {
    type: "folder",
    path: fileURLToPath(new URL("../fixtures/language/", import.meta.url)),
  });
  const release = await takeMachine(bare.db.session, "speech", undefined);
  await asMember.page.reload();
  await ask(asMember.page, "Ask about this meeting", "When must it be signed?");
  await asMember.page.getByText("Waiting for the speech engine, which is at work on this machine.").waitFor();
  await shot(asMember.page, "waiting");
  await asMember.page.getByRole("button", { name: "Stop", exact: true }).click();
  await asMember.page.getByRole("tab", { name: "Summary", exact: true }).click();
  await asMember.page.getByText("The language model has not processed this recording.").waitFor();
  await shot(asMember.page, "before-model");
  const asked = asMember.page.waitForResponse(
    (response) => response.request().method() === "POST" && response.url().endsWith("/intelligence"),
  );
  await asMember.page.getByRole("button", { name: "Write summary", exact: true }).click();
  assert.equal((await asked).status(), 200);
  await release();
  assert.deepEqual([...asMember.complaints, ...asAdmin.complaints], []);
});
