import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { call, startTestApp } from "../../../test/support/app.ts";
import { makeRecording, makeUser, makeWorkspace, unknownId } from "../../../test/support/factories.ts";
import { sayJson, think } from "../../../test/support/model-server.ts";
import { until } from "../../../test/support/until.ts";
import { harbour, startIntelligence } from "./test/intelligence.ts";

const t = await startIntelligence();
const { model, workspace, manage } = t;
const other = await makeWorkspace(t.db);

beforeEach(() => model.reset());

const bullets = { title: "Risks", kind: "bullets", prompt: "Risks that were named" };

test("templates: made, read, changed and deleted; in their order", async () => {
  const made = await manage("POST", "/templates", bullets);
  assert.equal(made.status, 200, made.text);
  const { id, created_datetime, updated_datetime, ...rest } = made.body;
  assert.deepEqual(rest, { ...bullets, position: 0, enabled: true });
  assert.ok(created_datetime && updated_datetime);
  const second = await manage("POST", "/templates", { ...bullets, title: "Plans", position: 0 });
  assert.deepEqual((await manage("GET", `/templates/${id}`)).body, made.body);
  const changed = await manage("PATCH", `/templates/${id}`, { position: 5, enabled: false, kind: "table" });
  assert.deepEqual(
    [changed.body.position, changed.body.enabled, changed.body.kind, changed.body.title],
    [5, false, "table", "Risks"],
  );
  const titles = async (token?: string) =>
    (await manage("GET", "/templates", undefined, token)).body.templates.map(
      (one: { title: string }) => one.title,
    );
  assert.deepEqual(await titles(workspace.member.token), ["Plans", "Risks"], "members read them");
  assert.deepEqual(await titles(other.token), [], "other workspaces don't");
  for (const template of [id, second.body.id])
    assert.deepEqual((await manage("DELETE", `/templates/${template}`)).body, { success: true });
  assert.equal((await manage("GET", `/templates/${id}`)).status, 404);
});

test("templates: only admins and workspace tokens define them, each for their own workspace", async () => {
  const { body } = await manage("POST", "/templates", bullets, workspace.admin.token);
  for (const [method, path] of [
    ["POST", "/templates"],
    ["PATCH", `/templates/${body.id}`],
    ["DELETE", `/templates/${body.id}`],
  ] as const) {
    assert.equal((await manage(method, path, bullets, workspace.member.token)).status, 403);
    if (method !== "POST")
      assert.equal((await manage(method, path, { title: "X" }, other.token)).status, 404);
  }
  assert.equal((await manage("GET", `/templates/${body.id}`, undefined, other.token)).status, 404);
  await manage("DELETE", `/templates/${body.id}`);
});

test("templates: invalid input returns every violation; titles are unique ignoring case; at most twenty", async () => {
  const bad = await manage("POST", "/templates", { title: " ", kind: "poem", position: -1 });
  assert.equal(bad.status, 400);
  assert.deepEqual(bad.body.violations.map((one: { pointer: string }) => one.pointer).toSorted(), [
    "/kind",
    "/position",
    "/prompt",
    "/title",
  ]);
  const first = await manage("POST", "/templates", bullets);
  const taken = await manage("POST", "/templates", { ...bullets, title: "RISKS" });
  assert.equal(taken.body.violations[0].pointer, "/title");
  assert.equal(
    (await manage("PATCH", `/templates/${first.body.id}`, { title: "risks" })).status,
    200,
    "its own",
  );
  const full = await makeWorkspace(t.db);
  const answers = await Promise.all(
    Array.from({ length: 23 }, (_, index) =>
      manage("POST", "/templates", { ...bullets, title: `T${index}` }, full.token),
    ),
  );
  assert.equal(answers.filter((answer) => answer.status === 200).length, 20);
  assert.equal(answers.filter((answer) => answer.status === 409).length, 3);
  await manage("DELETE", `/templates/${first.body.id}`);
});

test("intelligence: how things stand, for admins and workspace tokens", async () => {
  assert.equal((await manage("GET", "/intelligence", undefined, workspace.member.token)).status, 403);
  const id = await t.make();
  await t.done(id);
  const { body } = await manage("GET", "/intelligence", undefined, workspace.admin.token);
  assert.equal(body.model, "small");
  assert.equal(body.enabled, true);
  assert.ok(body.used_tokens_today > 0 && body.requests_today > 0);
  assert.equal(body.resets_datetime.slice(10), "T00:00:00.000Z");
  assert.match(body.message, /small is active/);
  const run = await t.runOf(id);
  assert.ok(run.used_tokens > 0 && run.used_tokens <= body.used_tokens_today);
});

test("the switch: off, nothing is requested and manual runs are refused; on, waiting runs continue", async () => {
  const off = await manage("PATCH", "/intelligence", { enabled: false });
  assert.equal(off.body.enabled, false);
  assert.match(off.body.message, /switched off/);
  const id = await t.make();
  assert.equal((await t.runOf(id)).status, "none");
  assert.equal(model.requests.length, 0);
  assert.equal((await manage("POST", `/recordings/${id}/intelligence`)).status, 409);
  await manage("PATCH", "/intelligence", { enabled: true });
  model.script(async (request, response) => {
    await manage("PATCH", "/intelligence", { enabled: false });
    return sayJson({ summary: 1 })(request, response);
  });
  await manage("POST", `/recordings/${id}/intelligence`);
  const run = await until("it stops before the next request", async () => {
    const now = await t.runOf(id);
    return now.status === "waiting" && now;
  });
  assert.match(run.message, /switched off/);
  assert.equal(model.requests.length, 1);
  await manage("PATCH", "/intelligence", { enabled: true });
  await t.done(id);
});

test("the daily limit: runs beyond it wait until the next day, say so, and continue when it is raised", async () => {
  const limited = await startIntelligence({ env: { PARLEY_LLM_MAX_TOKENS_PER_DAY: "50000" } });
  const first = await limited.make();
  await limited.done(first);
  const used = (await limited.manage("GET", "/intelligence")).body.used_tokens_today;
  const max = used + 9000;
  await limited.manage("PATCH", "/intelligence", { max_tokens_per_day: max });
  const second = await limited.make();
  const run = await until("it waits", async () => {
    const now = await limited.runOf(second);
    return now.status === "waiting" && now;
  });
  const tomorrow = new Date(Math.floor(Date.now() / 86_400_000 + 1) * 86_400_000).toISOString();
  assert.equal(run.next_attempt_datetime, tomorrow);
  assert.match(
    run.message,
    new RegExp(`limit of ${max} tokens a day is used up. The run continues at ${tomorrow}`),
  );
  const { body } = await limited.manage("GET", "/intelligence");
  assert.equal(body.recordings.waiting, 1);
  assert.equal(body.server_max_tokens_per_day, 50_000);
  assert.ok(body.used_tokens_today <= max);
  await limited.manage("PATCH", "/intelligence", { max_tokens_per_day: 0 });
  await limited.done(second);
});

test("a limit below a single request: the run fails with the reason", async () => {
  const poor = await startIntelligence({ env: { PARLEY_LLM_MAX_TOKENS_PER_DAY: "500" } });
  const id = await poor.make();
  const run = await until("it fails", async () => {
    const now = await poor.runOf(id);
    return now.status === "failed" && now;
  });
  assert.match(run.message, /takes up to \d+ tokens, more than the limit of 500 tokens a day/);
  assert.equal(poor.model.requests.length, 0);
});

test("without a model: fields are empty, the status says that none is set up, and a run is refused", async () => {
  const app = await startTestApp();
  const own = await makeWorkspace(app.db);
  const { recordingId } = await makeRecording(app, own.member.token, { transcript: harbour });
  const { body } = await call(
    app,
    "POST",
    `/recordings/${recordingId}`,
    { include: ["ai_summary", "ai_action_items", "ai_template_sections"] },
    { token: own.token },
  );
  assert.deepEqual(
    [body.ai_summary, body.ai_action_items, body.ai_template_sections],
    [{ text: "" }, [], []],
  );
  const ask = (method: string, path: string) =>
    call(app, method, `/_/api/v1${path}`, undefined, { token: own.token });
  const status = (await ask("GET", "/intelligence")).body;
  assert.equal(status.model, null);
  assert.match(status.message, /need a language model, which an admin of this server can install/);
  assert.equal((await ask("GET", `/recordings/${recordingId}/intelligence`)).body.status, "none");
  const refused = await ask("POST", `/recordings/${recordingId}/intelligence`);
  assert.equal(refused.status, 409);
  assert.match(
    refused.body.detail,
    /^summaries need a language model, which an admin of this server can install/,
  );
});

test("a run by hand: recorders, admins and workspace tokens; others 403, who can't see it 404", async () => {
  const id = await t.make();
  await t.done(id);
  const path = `/recordings/${id}/intelligence`;
  assert.equal((await manage("POST", path, undefined, t.ben.token)).status, 403, "took part, did not record");
  assert.equal((await manage("GET", path, undefined, t.ben.token)).status, 200);
  const stranger = await makeUser(t.db, workspace);
  for (const token of [stranger.token, workspace.admin.token, other.token])
    for (const method of ["GET", "POST"])
      assert.equal((await manage(method, path, undefined, token)).status, 404);
  assert.equal((await manage("POST", `/recordings/${unknownId()}/intelligence`)).status, 404);
  for (const token of [workspace.member.token, workspace.token]) {
    assert.equal((await manage("POST", path, undefined, token)).status, 200);
    await t.done(id);
  }
});

test("action items: ticked by recorder and assignee, changed by the recorder; each change is an event", async () => {
  const id = await t.make();
  await t.done(id);
  const items = (await manage("GET", `/recordings/${id}/action-items`, undefined, t.ben.token)).body
    .action_items;
  assert.equal(items[0].quote, "I will send the harbour contract to the port on Friday.");
  const path = `/recordings/${id}/action-items/${items[0].id}`;
  const ticked = await manage("PATCH", path, { status: "completed" }, t.ben.token);
  assert.equal(ticked.body.status, "completed", ticked.text);
  await manage("PATCH", path, { status: "completed" });
  assert.equal((await t.events(id)).length, 3, "added, understood, ticked; ticked again is none");
  const notHis = `/recordings/${id}/action-items/${items[1].id}`;
  assert.equal((await manage("PATCH", notHis, { status: "completed" }, t.ben.token)).status, 403);
  assert.equal((await manage("PATCH", path, { text: "Mine" }, t.ben.token)).status, 403);
  const changed = await manage("PATCH", path, { text: "Send it", assignee_id: "" }, workspace.member.token);
  assert.deepEqual([changed.body.text, changed.body.assignee], ["Send it", null]);
  const { ai_action_items } = await t.read(id, ["ai_action_items"]);
  assert.deepEqual(ai_action_items[0], {
    status: "completed",
    timestamp: 4200,
    text: "Send it",
    assignee: null,
  });
  assert.equal((await t.events(id)).length, 4);
  const bad = await manage("PATCH", path, { assignee_id: unknownId() });
  assert.equal(bad.body.violations[0].pointer, "/assignee_id");
  assert.equal((await manage("PATCH", path, { status: "later" })).status, 400);
  assert.equal(
    (await manage("PATCH", `/recordings/${id}/action-items/${unknownId()}`, { text: "x" })).status,
    404,
  );
  const stranger = await makeUser(t.db, workspace);
  assert.equal((await manage("PATCH", path, { status: "pending" }, stranger.token)).status, 404);
  assert.equal(
    (await manage("GET", `/recordings/${id}/action-items`, undefined, stranger.token)).status,
    404,
  );
});

test("another run: what is the same is no event; ticks and words of people stay", async () => {
  const id = await t.make();
  await t.done(id);
  const rerun = async () => {
    await manage("POST", `/recordings/${id}/intelligence`);
    await t.done(id);
  };
  await rerun();
  assert.equal((await t.events(id)).length, 2, "nothing changed");
  const [first, second] = (await manage("GET", `/recordings/${id}/action-items`)).body.action_items;
  await manage("PATCH", `/recordings/${id}/action-items/${first.id}`, { status: "completed" });
  await manage("PATCH", `/recordings/${id}/action-items/${second.id}`, { text: "Sign the thing" });
  model.otherwise((request, response) => {
    const answer = think(request) as { action_items: { text: string }[] };
    for (const item of answer.action_items) item.text = `${item.text.replace("Task: ", "")} (please)`;
    return sayJson(answer)(request, response);
  });
  await rerun();
  const { ai_action_items } = await t.read(id, ["ai_action_items"]);
  assert.deepEqual(
    ai_action_items.map((item: { status: string; text: string }) => [item.status, item.text]),
    [
      ["completed", "I will send the harbour contract to the port on Friday. (please)"],
      ["pending", "Sign the thing"],
    ],
  );
  model.reset();
});

test("title: in the place of a default one, never of one that somebody gave, before or after", async () => {
  const title = async (id: string) => (await t.read(id, {})).title;
  const given = await t.make({ title: "Board" });
  const bare = await t.make({ title: undefined });
  await Promise.all([t.done(given), t.done(bare)]);
  assert.equal(await title(given), "Board");
  assert.equal(await title(bare), "Harbour contract");
  const found = await call(
    t.app,
    "POST",
    "/recordings",
    { filter: { title_search: "harbour contr" } },
    { token: workspace.token },
  );
  assert.ok(
    found.body.recordings.some((one: { id: string }) => one.id === bare),
    "lists find it by its new title",
  );
  model.otherwise((request, response) =>
    sayJson({ ...think(request), title: "Port **and** sea" })(request, response),
  );
  await manage("POST", `/recordings/${bare}/intelligence`);
  await t.done(bare);
  assert.equal(await title(bare), "Port and sea", "a run may change what a run gave");
  await call(t.app, "PATCH", `/recordings/${bare}`, { title: "By hand" }, { token: workspace.member.token });
  await manage("POST", `/recordings/${bare}/intelligence`);
  await t.done(bare);
  assert.equal(await title(bare), "By hand");
});

test("meeting type: one of the scope; none that somebody chose is changed, none is invented", async () => {
  const external = (
    await call(t.app, "POST", "/meeting_types", {}, { token: workspace.token })
  ).body.meeting_types.filter((type: { scope: string }) => type.scope === "external");
  const typeOf = async (id: string) => (await t.read(id, {})).meeting_type.name;
  const choose = (name: string | null) =>
    model.otherwise((request, response) =>
      sayJson({ ...think(request), meeting_type: name })(request, response),
    );
  const rerun = async (id: string) => {
    await manage("POST", `/recordings/${id}/intelligence`);
    await t.done(id);
  };
  choose("sales call");
  const id = await t.make();
  await t.done(id);
  assert.equal(await typeOf(id), "Sales Call", "Anna is from outside");
  assert.match(model.requests[0]?.user ?? "", /"Customer Meeting", "Sales Call"/);
  assert.doesNotMatch(model.requests[0]?.user ?? "", /Stand-up/);
  const listed = await call(
    t.app,
    "POST",
    "/recordings",
    { filter: { meeting_type: external[1].id } },
    { token: workspace.token },
  );
  assert.ok(
    listed.body.recordings.some((one: { id: string }) => one.id === id),
    "lists find it by its new type",
  );
  for (const name of ["Stand-up", "Boating", null]) {
    choose(name);
    await rerun(id);
    assert.equal(await typeOf(id), "Sales Call", `${name} is none of the list`);
  }
  // By hand, to the default: as the management API does it.
  await t.db.pool.query("update recordings set meeting_type_id = $2 where id = $1", [id, external[0].id]);
  choose("Interview");
  await rerun(id);
  assert.equal(await typeOf(id), "Customer Meeting");
  const chosen = await t.make();
  await t.done(chosen);
  await t.db.pool.query("update recordings set meeting_type_by_hand = true where id = $1", [chosen]);
  choose("Sales Call");
  await rerun(chosen);
  assert.equal(await typeOf(chosen), "Interview");
});
