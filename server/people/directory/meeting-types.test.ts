import assert from "node:assert/strict";
import { test } from "node:test";
import { call, everyVersion, startTestApp } from "../../../test/support/app.ts";
import { makeRecording, makeWorkspace, unknownId } from "../../../test/support/factories.ts";

const app = await startTestApp();
const workspace = await makeWorkspace(app.db);
const { admin, member } = workspace;
const stranger = await makeWorkspace(app.db);

const manage = (method: string, path: string, token: string | null, body?: unknown) =>
  call(app, method, `/_/api/v1/meeting_types${path}`, body, { token, version: null });

interface Type {
  readonly id: string;
  readonly name: string;
  readonly scope: string;
  readonly is_default: boolean;
  readonly recordings: number;
}
const all = async (): Promise<Type[]> => (await manage("GET", "", admin.token)).body.meeting_types;
const named = async (name: string): Promise<Type> =>
  (await all()).find((type) => type.name === name) ?? assert.fail(`there is no ${name}`);

test("create and update: listed by the contract in both versions, after the others", async () => {
  const created = await manage("POST", "", admin.token, { name: " Board ", scope: "internal" });
  assert.equal(created.status, 200, created.text);
  const { id, ...rest } = created.body;
  assert.deepEqual(rest, {
    name: "Board",
    scope: "internal",
    is_default: false,
    recordings: 0,
    spoken_language: null,
    vocabulary: [],
  });
  const changed = await manage("PATCH", `/${id.toUpperCase()}`, workspace.token, {
    name: "Board meeting",
    scope: "external",
  });
  assert.deepEqual([changed.body.name, changed.body.scope], ["Board meeting", "external"]);
  for (const version of everyVersion) {
    const listed = await call(app, "POST", "/meeting_types", {}, { token: member.token, version });
    assert.deepEqual(listed.body.meeting_types.at(-1), { id, name: "Board meeting", scope: "external" });
  }
});

test("default: one for each scope, used for new recordings; it can be moved but not removed", async () => {
  const before = await named("Team Meeting");
  assert.equal(before.is_default, true);
  const { id } = await named("Planning");
  assert.equal((await manage("PATCH", `/${id}`, admin.token, { is_default: true })).status, 200);
  assert.equal((await named("Team Meeting")).is_default, false);
  const { recordingId } = await makeRecording(app, member.token);
  const shown = await call(app, "POST", `/recordings/${recordingId}`, {}, { token: member.token });
  assert.equal(shown.body.meeting_type.id, id);
  for (const [method, path, body] of [
    ["PATCH", `/${id}`, { scope: "external" }],
    ["DELETE", `/${id}?reassign_to=${before.id}`, undefined],
  ] as const) {
    const refused = await manage(method, path, admin.token, body);
    assert.deepEqual([refused.status, refused.body.error], [409, "wrong_state"]);
  }
  assert.equal((await manage("PATCH", `/${id}`, admin.token, { is_default: false })).status, 400);
});

test("delete: a type in use needs a replacement, which its recordings get, each with an event", async () => {
  const target = await named("Interview");
  const { body: type } = await manage("POST", "", admin.token, { name: "Short-lived", scope: "internal" });
  const ids: string[] = [];
  for (let index = 0; index < 2; index++) {
    const { recordingId } = await makeRecording(app, member.token);
    await call(
      app,
      "PATCH",
      `/_/api/v1/recordings/${recordingId}`,
      { meeting_type_id: type.id },
      {
        token: member.token,
        version: null,
      },
    );
    ids.push(recordingId);
  }
  const refused = await manage("DELETE", `/${type.id}`, admin.token);
  assert.deepEqual([refused.status, refused.body.error], [409, "wrong_state"]);
  assert.match(refused.body.detail, /2 recordings/);
  for (const wrong of [unknownId(), type.id, (await foreign()).id]) {
    const answer = await manage("DELETE", `/${type.id}?reassign_to=${wrong}`, admin.token);
    assert.deepEqual([answer.status, answer.body.violations[0].pointer], [400, "/reassign_to"]);
  }
  const before = await eventCount(ids);
  const done = await manage("DELETE", `/${type.id}?reassign_to=${target.id.toUpperCase()}`, admin.token);
  assert.equal(done.status, 200, done.text);
  assert.equal(await eventCount(ids), before + 2);
  const filter = { meeting_type: target.id };
  const listed = await call(app, "POST", "/recordings", { filter }, { token: member.token });
  assert.deepEqual(listed.body.recordings.map((one: { id: string }) => one.id).sort(), ids.sort());
  assert.equal((await manage("DELETE", `/${type.id}`, admin.token)).status, 404);
});

test("permissions and rules: members 403, other workspaces 404, names unique ignoring case", async () => {
  const type = await named("Planning");
  for (const [method, path, body] of [
    ["GET", "", undefined],
    ["POST", "", { name: "X", scope: "internal" }],
    ["PATCH", `/${type.id}`, { name: "X" }],
    ["DELETE", `/${type.id}`, undefined],
  ] as const) {
    assert.equal((await manage(method, path, member.token, body)).status, 403);
    assert.equal((await manage(method, path, null, body)).status, 401);
  }
  assert.equal((await manage("PATCH", `/${type.id}`, stranger.token, { name: "X" })).status, 404);
  assert.equal((await manage("DELETE", `/${type.id}`, stranger.token)).status, 404);
  const taken = await manage("POST", "", admin.token, { name: "PLÁNNING", scope: "internal" });
  assert.deepEqual([taken.status, taken.body.violations[0].pointer], [400, "/name"]);
  assert.equal((await manage("PATCH", `/${type.id}`, admin.token, { name: "planning" })).status, 200);
  const wrong = await manage("POST", "", admin.token, { name: " ", scope: "all" });
  assert.deepEqual(wrong.body.violations.map((one: { pointer: string }) => one.pointer).sort(), [
    "/name",
    "/scope",
  ]);
});

async function foreign(): Promise<Type> {
  return (await manage("GET", "", stranger.token)).body.meeting_types[0];
}

async function eventCount(ids: readonly string[]): Promise<number> {
  const { rows } = await app.db.pool.query(
    "select 1 from events where type = 'recording_updated' and subject_id = any($1::uuid[])",
    [ids],
  );
  return rows.length;
}
