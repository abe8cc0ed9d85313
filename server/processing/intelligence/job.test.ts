import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { call } from "../../../test/support/app.ts";
import { startHookReceiver } from "../../../test/support/hook-receiver.ts";
import {
  cutShort,
  failInStream,
  minutes,
  neverAnswer,
  refuse,
  say,
  sayJson,
  think,
  without,
} from "../../../test/support/model-server.ts";
import { until } from "../../../test/support/until.ts";
import { startIntelligence } from "./test/intelligence.ts";

const t = await startIntelligence({ worker: false });
const { model } = t;

beforeEach(() => model.reset());

/** A recording whose run waits for somebody to work on it: promoted by hand, since no worker is there. */
async function waiting(attributes: Record<string, unknown> = {}): Promise<string> {
  const { promoteUploadJob } = await import("../uploads/promotion/promote.ts");
  const { harbour } = await import("./test/intelligence.ts");
  const created = await call(
    t.app,
    "POST",
    "/uploads/create",
    {
      media_type: "transcript",
      attributes: {
        title: "Harbour meeting",
        transcript: harbour,
        participants: [
          { name: "Anna Adams", speaker_key: "a" },
          { name: t.ben.name, email: t.ben.email, speaker_key: "b" },
        ],
        ...attributes,
      },
    },
    { token: t.workspace.member.token },
  );
  await promoteUploadJob({ db: t.db, jobs: t.app.jobs, config: t.app.config }, created.body.id);
  const upload = await call(
    t.app,
    "POST",
    `/uploads/${created.body.id}`,
    {},
    { token: t.workspace.member.token },
  );
  return upload.body.recording_id;
}

test("a run is asked for in the transaction of the promotion, and ends with one recording_updated", async () => {
  const id = await waiting();
  const before = await t.runOf(id);
  assert.equal(before.status, "pending");
  const { rows } = await t.db.pool.query("select 1 from jobs where name = 'analyze_recording' and key = $1", [
    id,
  ]);
  assert.equal(rows.length, 1);
  await t.run(id);
  assert.equal((await t.runOf(id)).status, "done");
  assert.deepEqual(await t.events(id), ["recording_added", "recording_updated"]);
  await t.run(id);
  assert.equal(model.requests.length, 1, "done is done");
});

for (const [name, behaviour] of [
  ["429 with Retry-After", refuse(429, {}, { "retry-after": "0.2" })],
  ["500", refuse(500)],
  ["503", refuse(503)],
  ["a cut connection", cutShort],
  ["an error within the stream", failInStream],
  ["a page of a proxy", refuse(200, "<html></html>")],
] as const) {
  test(`${name}: retried after a while, and then done`, async () => {
    const id = await waiting();
    model.script(behaviour);
    await t.run(id);
    assert.equal((await t.runOf(id)).status, "done");
    assert.equal(model.requests.length, 2);
  });
}

test("a long Retry-After: the run waits, reports until when and why, and then continues", async () => {
  const id = await waiting();
  model.script(refuse(429, {}, { "retry-after": "120" }));
  await t.run(id);
  const run = await t.runOf(id);
  assert.equal(run.status, "waiting");
  assert.match(run.message, /receives too many requests \(429\)/);
  const inMs = Date.parse(run.next_attempt_datetime ?? "") - Date.now();
  assert.ok(inMs > 110_000 && inMs <= 120_000, `${inMs}`);
  await t.run(id);
  assert.equal(model.requests.length, 1, "not before its time");
  await t.db.pool.query(
    "update intelligence_runs set not_before = now() - interval '1 second' where recording_id = $1",
    [id],
  );
  await t.run(id);
  assert.equal((await t.runOf(id)).status, "done");
});

test("a silent model: the time of silence ends the request, which is asked again", async () => {
  const { openAiModel } = await import("./server/openai.ts");
  const { languageModel } = t.app.config;
  if (languageModel?.engine !== "server") throw new Error("not set up");
  const id = await waiting();
  model.script(neverAnswer);
  const impatient = openAiModel(languageModel, { silenceMs: 200 });
  await t.run(id, { model: impatient });
  await impatient.close();
  assert.equal((await t.runOf(id)).status, "done");
  assert.equal(model.requests.length, 2);
});

for (const [status, words] of [
  [401, /does not accept the key/],
  [404, /no such URL or model/],
] as const) {
  test(`${status}: fails with the reason, is retried slowly, and immediately on request`, async () => {
    const id = await waiting();
    model.script(refuse(status, { error: { message: "no: sk-secret-key" } }));
    await t.run(id);
    const run = await t.runOf(id);
    assert.equal(run.status, "failed");
    assert.match(run.last_error ?? "", words);
    assert.doesNotMatch(JSON.stringify(run), /sk-secret-key/);
    const inMs = Date.parse(run.next_attempt_datetime ?? "") - Date.now();
    assert.ok(inMs > 5 * 3_600_000 && inMs <= 6 * 3_600_000);
    await t.run(id);
    assert.equal(model.requests.length, 1);
    const again = await t.manage("POST", `/recordings/${id}/intelligence`);
    assert.equal(again.body.status, "pending");
    await t.run(id);
    assert.equal((await t.runOf(id)).status, "done");
  });
}

test("invalid JSON: corrected once, with the error and the schema", async () => {
  const id = await waiting();
  model.script(say("Sure! Here are your minutes: they were long."));
  await t.run(id);
  assert.equal((await t.runOf(id)).status, "done");
  const [, second] = model.requests;
  const roles = second?.body.messages.map((message: { role: string }) => message.role);
  assert.deepEqual(roles, ["system", "user", "assistant", "user"]);
  assert.match(second?.body.messages[3].content, /is invalid: .*no JSON[\s\S]*"action_items"/);
});

test("a response that violates the schema is corrected once; after a few failures the run fails", async () => {
  const id = await waiting();
  model.otherwise(sayJson({ summary: 7, title: null }));
  await t.run(id);
  const run = await t.runOf(id);
  assert.equal(run.status, "failed");
  assert.match(run.last_error ?? "", /had the wrong format twice/);
  assert.equal(run.next_attempt_datetime, null, "only by hand");
  assert.equal(model.requests.length, 6, "three attempts, each with a correction");
  const { ai_summary, ai_action_items } = await t.read(id, ["ai_summary", "ai_action_items"]);
  assert.deepEqual([ai_summary, ai_action_items], [{ text: "" }, []], "nothing is invented");
});

test("a model that refuses: the run fails immediately", async () => {
  const id = await waiting();
  model.otherwise(say("", { finish: "content_filter" }));
  await t.run(id);
  assert.equal((await t.runOf(id)).status, "failed");
  assert.equal(model.requests.length, 1);
});

test("a server without JSON schema: asked for JSON, then in words, with the same result", async () => {
  for (const [isRefused, message] of [
    [(body: Record<string, unknown>) => JSON.stringify(body).includes('"json_schema"'), "json_schema?"],
    [(body: Record<string, unknown>) => "response_format" in body, "unknown field response_format"],
    [(body: Record<string, unknown>) => body.stream === true, "stream is not supported"],
  ] as const) {
    model.reset();
    model.otherwise(without(isRefused, message));
    const id = await waiting();
    const { openAiModel } = await import("./server/openai.ts");
    const { languageModel } = t.app.config;
    if (languageModel?.engine !== "server") throw new Error("not set up");
    const fresh = openAiModel(languageModel);
    await t.run(id, { model: fresh });
    await fresh.close();
    const { ai_action_items } = await t.read(id, ["ai_action_items"]);
    assert.equal(ai_action_items.length, 2);
  }
});

test("a truncated response: the meeting is processed in halves", async () => {
  const id = await waiting();
  model.script(say('{"summary": "So', { finish: "length" }));
  await t.run(id);
  assert.equal((await t.runOf(id)).status, "done");
  const { ai_summary, ai_action_items } = await t.read(id, ["ai_summary", "ai_action_items"]);
  assert.deepEqual(ai_summary, { text: "- Spoken of: 4 notes." });
  assert.equal(ai_action_items.length, 2);
});

test("responses that are always truncated: the run fails with the reason", async () => {
  const id = await waiting();
  model.otherwise(say('{"notes": ["So', { finish: "length" }));
  await t.run(id);
  const run = await t.runOf(id);
  assert.equal(run.status, "failed");
  assert.match(run.last_error ?? "", /cut off after \d+ tokens/);
  assert.ok(model.requests.length < 30, `${model.requests.length} requests`);
});

test("a section that can't be made is left out, and told; the rest is there", async () => {
  const template = await t.manage("POST", "/templates", { title: "Risks", kind: "bullets", prompt: "Risks" });
  const id = await waiting();
  model.otherwise((request, response) =>
    request.wanted.includes("items") ? say("no")(request, response) : minutes(request, response),
  );
  await t.run(id);
  const run = await t.runOf(id);
  assert.equal(run.status, "done");
  assert.match(run.message, /The section “Risks” could not be generated/);
  const body = await t.read(id, ["ai_summary", "ai_template_sections"]);
  assert.deepEqual(body.ai_template_sections, []);
  assert.notEqual(body.ai_summary.text, "");
  await t.manage("DELETE", `/templates/${template.body.id}`);
});

test("killed at any point: stored responses are not requested or paid for again", async () => {
  const template = await t.manage("POST", "/templates", {
    title: "Next",
    kind: "text",
    prompt: "What is next",
  });
  const id = await waiting();
  const stop = new AbortController();
  model.script(minutes, () => stop.abort(new Error("killed")));
  await assert.rejects(t.run(id, {}, stop.signal), /killed/);
  assert.equal((await t.runOf(id)).status, "running");
  assert.deepEqual(await t.events(id), ["recording_added"]);
  await t.run(id);
  assert.equal((await t.runOf(id)).status, "done");
  assert.deepEqual(
    model.requests.map((request) => request.wanted[0]),
    ["summary", "items", "items"],
  );
  await t.manage("DELETE", `/templates/${template.body.id}`);
});

test("two workers at once write once", async () => {
  const id = await waiting();
  await Promise.all([t.run(id), t.run(id)]);
  assert.deepEqual(await t.events(id), ["recording_added", "recording_updated"]);
});

test("a recording deleted during a run: nothing is left and nothing fails", async () => {
  await t.db.pool.query("update workspaces set trash_days = 0");
  const id = await waiting();
  model.script(async (request, response) => {
    await t.manage("DELETE", `/recordings/${id}`);
    return minutes(request, response);
  });
  await t.run(id);
  const { rows } = await t.db.pool.query("select 1 from intelligence_runs where recording_id = $1", [id]);
  assert.equal(rows.length, 0);
});

test("a new request during a run: the earlier results are not written", async () => {
  const id = await waiting();
  model.script(async (request, response) => {
    await t.manage("POST", `/recordings/${id}/intelligence`);
    return minutes(request, response);
  });
  await t.run(id);
  assert.equal((await t.runOf(id)).status, "done");
  assert.deepEqual(await t.events(id), ["recording_added", "recording_updated"]);
});

test("a transcript that changes during a run is read again", async () => {
  const id = await waiting();
  model.script(async (request, response) => {
    await t.db.pool.query("delete from transcript_segments where recording_id = $1 and position = 3", [id]);
    await t.db.pool.query("update recordings set transcript_version = transcript_version + 1 where id = $1", [
      id,
    ]);
    return minutes(request, response);
  });
  await t.run(id);
  const { ai_summary, ai_action_items } = await t.read(id, ["ai_summary", "ai_action_items"]);
  assert.deepEqual(ai_summary, { text: "- Spoken of: 3 lines." });
  assert.equal(ai_action_items.length, 1);
});

test("hooks: recording_updated carries the summary its include asks for", async () => {
  const receiver = await startHookReceiver();
  const withHooks = await startIntelligence({ env: { PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8" } });
  const hook = await call(
    withHooks.app,
    "POST",
    "/hooks/create",
    {
      hook_url: receiver.url,
      hook_type: "recording_updated",
      include: { ai_summary: true, ai_action_items: true, ai_template_sections: { format: "text" } },
    },
    { token: withHooks.workspace.token, version: "2025-10-31" },
  );
  assert.equal(hook.status, 200, hook.text);
  const id = await withHooks.make();
  const payload = await until("the hook is notified", () =>
    receiver.requests
      .map((request) => JSON.parse(request.body.toString()))
      .find((body) => body.type === "recording_updated" && body.data.id === id),
  );
  assert.deepEqual(payload.data.ai_summary, { text: "- Spoken of: 4 lines." });
  assert.deepEqual(
    payload.data.ai_action_items.map((item: { timestamp: number }) => item.timestamp),
    [4200, 12_500],
  );
  assert.deepEqual(payload.data.ai_template_sections, []);
});

test("the language model of these tests returns only the parts that are asked for", () => {
  const user = "[1] 00:00:01 Anna: I will go.\nP1 = Anna";
  assert.deepEqual(
    think({ user, wanted: ["action_items"], system: "", path: "", authorization: "", body: {} }),
    {
      action_items: [{ text: "Task: I will go.", quote: "I will go.", line: 1, assignee: "P1" }],
    },
  );
});
