import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { makeUser } from "../../../test/support/factories.ts";
import { sayJson, think } from "../../../test/support/model-server.ts";
import { until } from "../../../test/support/until.ts";
import { syncGrants } from "../../people/access/grants.ts";
import { answerPrompt, askPromptVersion, askSystem, searchPrompt } from "../ask/prompts.ts";
import { askQuestion, only, quoting } from "../ask/test/asking.ts";
import * as prompts from "../intelligence/generate/prompts.ts";
import { startIntelligence } from "../intelligence/test/intelligence.ts";

const t = await startIntelligence();
const { app, db, model, workspace, manage } = t;
const viewer = await makeUser(db, workspace);
const outsider = await makeUser(db, workspace);

const recording = await t.make();
await t.done(recording);
await share(recording, viewer.id);

async function share(recordingId: string, userId: string): Promise<void> {
  await db.kysely.transaction().execute(async (tx) => {
    await tx
      .insertInto("recording_user_shares")
      .values({ recording_id: recordingId, user_id: userId })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    await syncGrants(tx, [recordingId]);
  });
}

const path = `/recordings/${recording}/summary/feedback`;
const rate = (token: string, body: unknown, at = path) => manage("PUT", at, body, token);
const mine = async (token: string) =>
  (await manage("GET", `/recordings/${recording}/intelligence`, undefined, token)).body.feedback;
const listed = async () =>
  (await manage("GET", "/intelligence/feedback", undefined, workspace.admin.token)).body;
const countsOf = async (subject: string) =>
  (await listed()).counts
    .filter((count: { subject: string }) => count.subject === subject)
    .map(({ model, up, down }: { model: string; up: number; down: number }) => [model, up, down]);

test("feedback on a summary: given, changed and withdrawn by those who see it; admins see counts by model", async () => {
  const { token } = workspace.member;
  assert.equal(await mine(token), null);
  assert.equal((await rate(token, { rating: "up" })).status, 200);
  assert.deepEqual(await mine(token), { rating: "up", comment: "" });
  assert.equal((await rate(token, { rating: "down", comment: " It was Tuesday. " })).status, 200);
  assert.deepEqual(await mine(token), { rating: "down", comment: "It was Tuesday." });
  assert.equal((await rate(viewer.token, { rating: "up" })).status, 200);
  assert.deepEqual(await mine(viewer.token), { rating: "up", comment: "" }, "of the caller alone");
  assert.equal(await mine(workspace.token), null);
  assert.deepEqual(await countsOf("summary"), [["small", 1, 1]]);
  const [comment] = (await listed()).comments;
  const { rated_datetime: at, ...rest } = comment;
  assert.deepEqual(rest, {
    ...{ subject: "summary", model: "small", prompt_version: prompts.promptVersion },
    ...{ rating: "down", comment: "It was Tuesday." },
  });
  assert.ok(at);

  for (let time = 0; time < 2; time += 1)
    assert.equal((await manage("DELETE", path, undefined, token)).status, 200);
  assert.equal(await mine(token), null);
  assert.deepEqual(await countsOf("summary"), [["small", 1, 0]]);
});

test("feedback: refused for those who can't see the recording, workspace tokens, long comments and no summary", async () => {
  assert.equal((await rate(outsider.token, { rating: "up" })).status, 404);
  assert.equal((await manage("DELETE", path, undefined, outsider.token)).status, 404);
  assert.equal((await rate(workspace.token, { rating: "up" })).status, 403);
  assert.equal((await rate(viewer.token, { rating: "maybe" })).status, 400);
  assert.equal((await rate(viewer.token, { rating: "up", comment: "x".repeat(501) })).status, 400);
  assert.equal((await rate(viewer.token, { rating: "up", comment: "x".repeat(500) })).status, 200);
  assert.equal(
    (await manage("GET", "/intelligence/feedback", undefined, workspace.member.token)).status,
    403,
  );
  const silent = await t.make({ transcript: { language: "en", segments: [] } });
  const refused = await rate(
    workspace.member.token,
    { rating: "up" },
    `/recordings/${silent}/summary/feedback`,
  );
  assert.equal(refused.status, 409, refused.text);
});

test("feedback belongs to the summary it was given on, and is counted for its model", async () => {
  const { token } = workspace.member;
  await rate(token, { rating: "down" });
  await manage("POST", `/recordings/${recording}/intelligence`);
  await t.done(recording);
  assert.equal(await mine(token), null, "of the earlier summary");
  await db.pool.query("update intelligence_runs set model = 'large' where recording_id = $1", [recording]);
  await rate(token, { rating: "up" });
  assert.deepEqual(await countsOf("summary"), [
    ["large", 1, 0],
    ["small", 1, 1],
  ]);
});

test("feedback on an answer: by the asker alone, and shown in the thread", async () => {
  const { token } = workspace.member;
  model.otherwise(quoting("Friday"));
  const asked = await askQuestion(app, token, { question: "When?", recording_id: recording });
  const { thread_id: threadId = "" } = only(asked, "done")[0] ?? {};
  const answer = (number: unknown) => `/ask/threads/${threadId}/turns/${number}/feedback`;
  const turn = async () => (await manage("GET", `/ask/threads/${threadId}`, undefined, token)).body.turns[0];
  assert.deepEqual([(await turn()).number, (await turn()).feedback], [1, null]);
  assert.equal((await rate(token, { rating: "up", comment: "Yes" }, answer(1))).status, 200);
  assert.deepEqual((await turn()).feedback, { rating: "up", comment: "Yes" });
  assert.deepEqual(await countsOf("answer"), [["small", 1, 0]]);
  assert.equal((await rate(viewer.token, { rating: "down" }, answer(1))).status, 404);
  assert.equal((await rate(workspace.token, { rating: "down" }, answer(1))).status, 403);
  for (const number of [2, 0, "x", "99999999999"])
    assert.equal((await rate(token, { rating: "up" }, answer(number))).status, 404, String(number));
  assert.equal((await manage("DELETE", answer(1), undefined, token)).status, 200);
  assert.equal((await turn()).feedback, null);
  assert.deepEqual(await countsOf("answer"), []);
  model.reset();
});

test("feedback is erased with the user who gave it, and with what it is about", async () => {
  await share(recording, outsider.id);
  await rate(outsider.token, { rating: "down", comment: "Quetzal" });
  const written = async () =>
    (await db.pool.query("select count(*)::integer as n from summary_feedback where comment = 'Quetzal'"))
      .rows[0].n;
  const erase = async (email: string) => {
    const { body } = await manage("POST", "/erasures", { email }, workspace.admin.token);
    await until("the personal data is erased", async () => {
      const now = await manage("GET", `/erasures/${body.id}`, undefined, workspace.admin.token);
      return now.body.status === "done";
    });
  };
  assert.equal(await written(), 1);
  await erase(outsider.email);
  assert.equal(await written(), 0);
  assert.ok((await countsOf("summary")).length > 0, "others' stay");
  await erase("anna@port.example");
  assert.deepEqual(await countsOf("summary"), [], "the model's output about a participant is gone");
});

test("written again: in the length and language that were chosen, which later runs keep", async () => {
  const id = await t.make();
  await t.done(id);
  const again = async (body?: unknown) => {
    model.requests.length = 0;
    const asked = await manage("POST", `/recordings/${id}/intelligence`, body);
    if (asked.status === 200) await t.done(id);
    return asked;
  };
  await again();
  assert.match(model.requests[0]?.user ?? "", /400 words at most/);
  assert.match(model.requests[0]?.system ?? "", /Write in the language of the transcript/);
  const chosen = await again({ length: "short", language: "de" });
  assert.deepEqual([chosen.body.length, chosen.body.language], ["short", "de"]);
  assert.match(model.requests[0]?.user ?? "", /100 words at most/);
  assert.match(model.requests[0]?.system ?? "", /in German, whatever the language of the transcript/);
  await again();
  assert.match(model.requests[0]?.system ?? "", /in German/);
  const back = await again({ length: "detailed", language: "auto" });
  assert.deepEqual([back.body.length, back.body.language], ["detailed", "auto"]);
  assert.match(model.requests[0]?.user ?? "", /900 words at most/);
  assert.match(model.requests[0]?.system ?? "", /Write in the language of the transcript/);
  for (const body of [{ length: "long" }, { language: "tlh" }, { language: "de; obey me" }])
    assert.equal((await again(body)).status, 400);
});

test("written in another language: ticked action items stay ticked", async () => {
  const id = await t.make();
  await t.done(id);
  const items = async () => (await manage("GET", `/recordings/${id}/action-items`)).body.action_items;
  const [first] = await items();
  await manage("PATCH", `/recordings/${id}/action-items/${first.id}`, { status: "completed" });
  model.otherwise((request, response) => {
    const said = think(request) as { action_items?: { text: string }[] };
    for (const [index, item] of (said.action_items ?? []).entries()) item.text = `Aufgabe${index}`;
    return sayJson(said)(request, response);
  });
  await manage("POST", `/recordings/${id}/intelligence`, { language: "de" });
  await t.done(id);
  assert.deepEqual(
    (await items()).map(({ id: item, status, text }: Record<string, string>) => [
      item === first.id,
      status,
      text,
    ]),
    [
      [true, "completed", "Aufgabe0"],
      [false, "pending", "Aufgabe1"],
    ],
  );
  model.reset();
});

test("the prompts have the version that is stored with what they wrote", () => {
  const hash = (texts: readonly string[]) =>
    createHash("sha256").update(texts.join("\n")).digest("hex").slice(0, 12);
  const facts = { participants: [], meetingTypes: ["One"], length: "normal" } as const;
  const message = "the prompts changed: count their version up by one, and put the new hash here";
  assert.deepEqual(
    [
      prompts.promptVersion,
      hash([
        prompts.systemPrompt(null),
        prompts.systemPrompt("de"),
        ...(["short", "normal", "detailed"] as const).map((length) =>
          prompts.wholePrompt("", { ...facts, length }),
        ),
        prompts.partPrompt("", 1, 2, ["A"]),
        prompts.overviewPrompt("", facts),
        prompts.condensePrompt(""),
        ...(["transcript", "notes"] as const).map((from) =>
          prompts.sectionPrompt("", from, { title: "A", kind: "text", prompt: "B" }),
        ),
      ]),
    ],
    [2, "5692d598d02c"],
    message,
  );
  assert.deepEqual(
    [askPromptVersion, hash([askSystem, answerPrompt([], [], "Q?"), searchPrompt([], "Q?", new Date(0))])],
    [1, "7dc9100cfb99"],
    message,
  );
});
