import assert from "node:assert/strict";
import { test } from "node:test";
import { Webhook } from "standardwebhooks";
import { call, currentVersion, olderVersion, startTestApp } from "../../../../test/support/app.ts";
import {
  insertHook,
  makeRecording,
  makeUser,
  makeWorkspace,
  unknownId,
} from "../../../../test/support/factories.ts";
import { hangUp, startHookReceiver, status } from "../../../../test/support/hook-receiver.ts";
import { until } from "../../../../test/support/until.ts";

const app = await startTestApp({ env: { PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8" } });
const workspace = await makeWorkspace(app.db);
const { member } = workspace;
const receiver = await startHookReceiver();

interface Options {
  readonly token?: string;
  readonly version?: string;
}

function create(body: object, { token = member.token, version = olderVersion }: Options = {}) {
  return call(app, "POST", "/hooks/create", body, { token, version });
}

async function list(filter: object = {}, { token = member.token, version = olderVersion }: Options = {}) {
  const { body } = await call(app, "POST", "/hooks", { filter }, { token, version });
  return body.hooks;
}

/** Requests to a path of the receiver, except reachability tests. */
function received(path: string) {
  return receiver.requests
    .filter((request) => request.path === path && request.body !== "{}")
    .map((request) => ({ ...request, json: JSON.parse(request.body) }));
}

test("create: tests the URL with a POST, stores the include, and shows the secret only once", async () => {
  const answer = await create({
    hook_url: `${receiver.url}/made`,
    hook_type: "recording_added",
    include: { participants: true, unknown: 1 },
  });
  assert.equal(answer.status, 200, answer.text);
  const { secret, ...hook } = answer.body;
  assert.match(secret, /^whsec_/);
  assert.deepEqual(
    { ...hook, id: "", inserted_at: "" },
    {
      id: "",
      enabled: true,
      hook_url: `${receiver.url}/made`,
      hook_type: "recording_added",
      include: { participants: true },
      inserted_at: "",
    },
  );
  const tests = receiver.requests.filter((request) => request.path === "/made");
  assert.deepEqual(
    tests.map((request) => [request.method, request.body, request.headers["content-type"]]),
    [["POST", "{}", "application/json"]],
  );
  assert.deepEqual(await list({ hook_type: "recording_added" }), [hook]);
  const { rows } = await app.db.pool.query("select * from hooks where id = $1", [hook.id]);
  assert.ok(!JSON.stringify(rows).includes(secret.slice(6)), "the secret is not in the database");
  assert.ok(!Buffer.from(rows[0].secret).includes(Buffer.from(secret)));
});

test("create: no hook without a 2xx from the URL; the error says why", async () => {
  receiver.at("/status/404", status(404));
  receiver.at("/status/302", status(302));
  receiver.at("/close", hangUp);
  for (const [path, reason] of [
    ["/status/404", /status 404/],
    ["/status/302", /status 302/],
    ["/close", /.+/],
  ] as const) {
    const { status: code, body } = await create({
      hook_url: receiver.url + path,
      hook_type: "recording_added",
    });
    assert.deepEqual([code, body.error], [400, "hook_unreachable"], path);
    assert.match(body.detail, reason);
  }
  assert.equal(
    (await list()).filter((hook: { hook_url: string }) => /status|close/.test(hook.hook_url)).length,
    0,
  );
});

test("create: violations of version, type and scope are reported together", async () => {
  const faults = async (body: object, options: Options) =>
    ((await create(body, options)).body.violations ?? []).map((fault: { pointer: string }) => fault.pointer);
  const url = `${receiver.url}/x`;
  assert.deepEqual(
    await faults({ hook_url: url, hook_type: "recording_added" }, { version: currentVersion }),
    ["/hook_url"],
  );
  assert.deepEqual(
    await faults({ hook_url: url, hook_type: "upload_status", include: 5 }, { version: currentVersion }),
    ["/include", "/hook_type", "/hook_url"],
  );
  assert.deepEqual(await faults({ hook_url: url, hook_type: "upload_status" }, { version: currentVersion }), [
    "/hook_type",
    "/hook_url",
  ]);
  assert.deepEqual(await faults({ hook_url: url, hook_type: "upload_added" }, {}), ["/hook_type"]);
  assert.deepEqual(
    await faults({ hook_url: "ftp://x", hook_type: "recording_added", include: { crm: "yes" } }, {}),
    ["/hook_url", "/include/crm"],
  );
  assert.deepEqual(
    await faults(
      { hook_url: url, hook_type: "recording_added", include: { private_notes: true } },
      { token: workspace.token },
    ),
    ["/include/private_notes"],
  );
  const nulls = {
    hook_url: url,
    hook_type: "recording_added",
    include: { highlights: null, ai_template_sections: { format: null, allowed_sections: null } },
  };
  assert.deepEqual((await create(nulls)).body.include, { ai_template_sections: {} });
  assert.deepEqual(await faults(nulls, { version: currentVersion }), ["/hook_url"]);
  const stored = await create({ hook_url: url, hook_type: "story_added", include: { transcript: true } });
  assert.deepEqual(stored.body.include, {});
});

test("list and delete: only types of the version and hooks of the scope", async () => {
  const legacy = await create({ hook_url: `${receiver.url}/l`, hook_type: "upload_status" });
  assert.equal(legacy.status, 200, legacy.text);
  const types = async (options: Options) =>
    new Set((await list({}, options)).map((hook: { hook_type: string }) => hook.hook_type));
  assert.ok((await types({})).has("upload_status"));
  assert.ok(!(await types({ version: currentVersion })).has("upload_status"));
  assert.ok((await types({ version: currentVersion })).has("recording_added"));
  assert.equal((await list({}, { token: workspace.token })).length, 0);
  const other = await makeUser(app.db, workspace);
  assert.equal((await list({}, { token: other.token })).length, 0);
  const remove = (id: string, token: string) =>
    call(app, "DELETE", `/hooks/${id}`, undefined, { token, version: olderVersion });
  assert.equal((await remove(legacy.body.id, other.token)).status, 404);
  assert.equal((await remove(legacy.body.id, workspace.token)).status, 404);
  assert.deepEqual((await remove(legacy.body.id, member.token)).body, { success: true });
  assert.equal((await remove(legacy.body.id, member.token)).status, 404);
  assert.equal((await remove(unknownId(), member.token)).status, 404);
  await app.db.pool.query("update hooks set disabled_at = now() where hook_url = $1", [
    `${receiver.url}/made`,
  ]);
  assert.equal((await list({ state: "disabled" })).length, 1);
  assert.ok((await list({ state: "enabled" })).every((hook: { enabled: boolean }) => hook.enabled));
});

test("an unknown hook type returns the version's types", async () => {
  for (const [version, own, other] of [
    [olderVersion, "upload_status", "upload_updated"],
    [currentVersion, "upload_updated", "upload_status"],
  ] as const) {
    const detailOf = (
      { body }: { body: { violations: { pointer: string; detail: string }[] } },
      pointer: string,
    ) => body.violations.find((one) => one.pointer === pointer)?.detail ?? "";
    const created = await create({ hook_url: "nonsense", hook_type: "recording_deletd" }, { version });
    const listed = await call(
      app,
      "POST",
      "/hooks",
      { filter: { hook_type: "x" } },
      { token: member.token, version },
    );
    assert.equal(listed.status, 400);
    for (const detail of [detailOf(created, "/hook_type"), detailOf(listed, "/filter/hook_type")]) {
      assert.match(detail, /^must be one of: recording_added, /);
      assert.ok(detail.includes(own) && !detail.includes(other), detail);
    }
    assert.notEqual(detailOf(created, "/hook_url"), "", "every violation is reported");
    const foreign = detailOf(
      await create({ hook_url: receiver.url, hook_type: other }, { version }),
      "/hook_type",
    );
    assert.match(foreign, /not part of version/);
    assert.ok(foreign.includes(own), foreign);
    for (const hook_type of [5, null, "constructor", "x".repeat(101)])
      assert.equal((await create({ hook_url: receiver.url, hook_type }, { version })).status, 400);
  }
});

test("delivered: the contract's payload with the hook's include, with a signature that a library verifies", async () => {
  const { body: hook } = await create({
    hook_url: `${receiver.url}/full`,
    hook_type: "recording_added",
    include: { participants: true, highlights: true },
  });
  const { recordingId } = await makeRecording(app, member.token, { title: "Heard of" });
  const [request] = await until("the event arrives", () => {
    const found = received("/full");
    return found.length > 0 ? found : undefined;
  });
  assert.ok(request);
  const verified = new Webhook(hook.secret).verify(request.body, request.headers as Record<string, string>);
  assert.deepEqual(verified, request.json);
  const { body: recording } = await call(
    app,
    "POST",
    `/recordings/${recordingId}`,
    { include: { participants: true, highlights: true } },
    { token: member.token },
  );
  const recorders = recording.recorders.map(
    ({ participant_id: _, ...rest }: { participant_id: unknown }) => rest,
  );
  assert.deepEqual(request.json, {
    type: "recording_added",
    user_id: member.id,
    data: { ...recording, recorders },
  });
});

test("uploads: each event has the status of its own change, in order across two hooks with one URL", async () => {
  const secure = await startHookReceiver();
  for (const hook_type of ["upload_added", "upload_updated"] as const)
    await insertHook(app, {
      created_by: member.id,
      scope: "personal",
      version: "2026-10-01",
      hook_url: `${secure.url}/uploads`,
      hook_type,
      include: '{"attributes": true}',
    });
  const { uploadId } = await makeRecording(app, member.token, { title: "Stages" });
  await until("all have arrived", () => secure.requests.length >= 4);
  const told = secure.requests
    .map((request) => JSON.parse(request.body))
    .filter((payload) => payload.data.id === uploadId);
  assert.deepEqual(
    told.map((payload) => [payload.type, payload.data.status]),
    [
      ["upload_added", "initial"],
      ["upload_updated", "staged"],
      ["upload_updated", "promoting"],
      ["upload_updated", "success"],
    ],
  );
  assert.equal(told[0].data.attributes.title, "Stages");
});

test("visibility: a personal hook receives what its owner can see at that moment, a workspace hook everything", async () => {
  const other = await makeUser(app.db, workspace);
  for (const [token, path] of [
    [other.token, "/other"],
    [workspace.token, "/all"],
  ] as const)
    for (const hook_type of ["recording_added", "recording_updated"])
      assert.equal((await create({ hook_url: receiver.url + path, hook_type }, { token })).status, 200);
  const { recordingId } = await makeRecording(app, member.token, { title: "Private" });
  const change = (method: string, path: string, body?: object) =>
    call(app, method, `/recordings/${recordingId}${path}`, body, { token: member.token });
  const heard = (path: string) =>
    received(path)
      .filter((request) => request.json.data.id === recordingId)
      .map((request) => request.json.type);
  await until("the workspace hook receives it", () => heard("/all").length === 1);
  assert.deepEqual(heard("/other"), []);
  await change("PUT", "/users", { user_id: other.id });
  await until("shared: both receive it", () => heard("/all").length === 2 && heard("/other").length === 1);
  await change("DELETE", `/users/${other.id}`);
  await change("PATCH", "", { title: "Private again" });
  await until("the workspace hook receives the rest", () => heard("/all").length === 4);
  assert.deepEqual(heard("/other"), ["recording_updated"]);
  const { rows } = await app.db.pool.query(
    "select user_id from users, lateral (select id as user_id) u where id = $1",
    [workspace.admin.id],
  );
  assert.equal(received("/all")[0]?.json.user_id, rows[0].user_id);
});

test("an event without hooks creates no delivery", async () => {
  const quiet = await makeWorkspace(app.db);
  const { recordingId } = await makeRecording(app, quiet.member.token);
  await until("its events are processed", async () => {
    const { rows } = await app.db.pool.query(
      "select count(*)::int as n from events where workspace_id = $1 and id in (select event_id from waiting_events)",
      [quiet.id],
    );
    return rows[0].n === 0;
  });
  const { rows } = await app.db.pool.query("select 1 from deliveries where subject_id = $1", [recordingId]);
  assert.equal(rows.length, 0);
});
