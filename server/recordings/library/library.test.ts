import assert from "node:assert/strict";
import { test } from "node:test";
import { LibraryItem } from "../../../contract/recordings/library.ts";
import { call, startTestApp } from "../../../test/support/app.ts";
import { insertRecording, makeTeam, makeUser, makeWorkspace } from "../../../test/support/factories.ts";

const app = await startTestApp();
const workspace = await makeWorkspace(app.db);
const { member, admin } = workspace;

const manage = (method: string, path: string, token: string, body?: unknown) =>
  call(app, method, `/_/api/v1${path}`, body, { token, version: null });
const list = async (token: string, body: object = {}) => {
  const answer = await manage("POST", "/library", token, body);
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
};
const bulk = (token: string, recording_ids: string[], change: object) =>
  manage("POST", "/recordings/bulk", token, { recording_ids, change });

const owner = await makeUser(app.db, workspace);
/** One recording more than a page holds, in shuffled order of titles. */
const ids: string[] = [];
for (let index = 0; index < 101; index += 1)
  ids.push(
    await insertRecording(app.db, {
      recorderId: owner.id,
      title: `Tide ${String((index * 37) % 101).padStart(3, "0")}`,
      start_datetime: new Date(Date.UTC(2026, 0, 1, index)),
    }),
  );

test("the library lists every recording once in each order, with their number", async () => {
  for (const sort of ["newest", "oldest", "title"]) {
    const first = await list(owner.token, { sort });
    assert.deepEqual([first.count, first.recordings.length], [101, 100]);
    for (const item of first.recordings) LibraryItem.parse(item);
    const second = await list(owner.token, { sort, cursor: first.cursor });
    assert.deepEqual([second.count, second.cursor, second.recordings.length], [null, null, 1]);
    const items: { recording: { id: string; title: string } }[] = [...first.recordings, ...second.recordings];
    const found = items.map(({ recording }) => recording);
    const expected = { oldest: ids, newest: ids.toReversed(), title: null }[sort];
    if (expected)
      assert.deepEqual(
        found.map(({ id }) => id),
        expected,
      );
    else
      assert.deepEqual(
        found.map(({ title }) => title),
        found.map(({ title }) => title).toSorted(),
      );
    const other = sort === "title" ? "newest" : "title";
    const wrong = await manage("POST", "/library", owner.token, { sort: other, cursor: first.cursor });
    assert.equal(wrong.status, 400);
  }
  const part = await list(owner.token, {
    filter: { from: "2026-01-01T01:00:00Z", to: "2026-01-01T03:00:00Z" },
  });
  assert.equal(part.count, 2);
});

test("favorites belong to the user, and only visible recordings can be favorites", async () => {
  const path = `/recordings/${ids[5]}/favorite`;
  assert.equal((await manage("PUT", path, member.token)).status, 404);
  for (let times = 0; times < 2; times += 1)
    assert.equal((await manage("PUT", path, owner.token)).status, 200);
  const { count, recordings } = await list(owner.token, { filter: { favorite: true } });
  assert.deepEqual([count, recordings[0].recording.id, recordings[0].is_favorite], [1, ids[5], true]);
  assert.equal((await list(admin.token, { filter: { favorite: true } })).count, 0);
  assert.equal((await manage("PUT", path, workspace.token)).status, 403);
  const refused = await manage("POST", "/library", workspace.token, { filter: { favorite: true } });
  assert.equal(refused.status, 400);
  await manage("DELETE", path, owner.token);
  assert.equal((await list(owner.token, { filter: { favorite: true } })).count, 0);
});

test("one change to many recordings checks the right to each, and reports those it could not change", async () => {
  const foreign = await insertRecording(app.db, { recorderId: member.id });
  const shared = await insertRecording(app.db, { recorderId: member.id });
  await call(app, "PUT", `/recordings/${shared}/users`, { user_id: owner.id }, { token: member.token });
  const [first = "", second = ""] = ids;
  const held = ids[2] ?? "";
  await manage("PUT", `/recordings/${held}/legal-hold`, admin.token, { reason: "dispute" });
  const tagged = await bulk(owner.token, [first, foreign, shared, first.toUpperCase()], {
    kind: "add_tag",
    tag: "harbour",
  });
  assert.equal(tagged.status, 200, tagged.text);
  assert.deepEqual(tagged.body.done, [first]);
  assert.deepEqual(
    tagged.body.failed
      .map(({ recording_id, error }: { recording_id: string; error: string }) => [recording_id, error])
      .toSorted(),
    [
      [foreign, "not_found"],
      [shared, "forbidden"],
    ].toSorted(),
  );
  const team = await makeTeam(app.db, workspace);
  const given = await bulk(owner.token, [first, second], { kind: "share_with_team", team_id: team.id });
  assert.equal(given.body.done.length, 2);
  const again = await bulk(owner.token, [first, ids[3] ?? ""], { kind: "share_with_team", team_id: team.id });
  assert.deepEqual([again.body.done.length, again.body.changed], [2, [ids[3]]]);

  const all = [first, second, held, foreign, shared];
  const deleted = await bulk(owner.token, all, { kind: "delete" });
  assert.deepEqual(deleted.body.done.toSorted(), [first, second].toSorted());
  assert.ok(Date.parse(deleted.body.purge_datetime) > Date.now());
  assert.equal(deleted.body.failed.length, 3);
  assert.equal((await list(owner.token, { filter: { title_search: "Tide" } })).count, 99);
  const restored = await bulk(owner.token, [first, second], { kind: "restore" });
  assert.equal(restored.body.done.length, 2);
  assert.equal((await list(owner.token, { filter: { title_search: "Tide" } })).count, 101);
});

test("a bulk change takes 1 to 1,000 recordings and a known change", async () => {
  const [id = ""] = ids;
  for (const [recording_ids, change] of [
    [[], { kind: "delete" }],
    [Array(1001).fill(id), { kind: "delete" }],
    [["x"], { kind: "delete" }],
    [[id], { kind: "burn" }],
    [[id], { kind: "add_tag", tag: "no spaces" }],
  ] as [string[], object][])
    assert.equal((await bulk(owner.token, recording_ids, change)).status, 400);
});

test("a bulk change stops after three unexpected errors in a row, and reports the rest as not tried", async () => {
  const { pool } = app.db;
  await pool.query("create sequence broken_changes");
  await pool.query(`create function break_change() returns trigger language plpgsql as $$ begin
    perform nextval('broken_changes');
    raise exception 'broken';
  end $$`);
  await pool.query("create trigger break_change before update on recordings execute function break_change()");
  try {
    const { status, body } = await bulk(owner.token, ids.slice(0, 40), { kind: "add_tag", tag: "broken" });
    assert.deepEqual([status, body.done, body.failed.length], [200, [], 40]);
    assert.deepEqual([...new Set(body.failed.map(({ error }: { error: string }) => error))], ["internal"]);
    const { rows } = await pool.query("select last_value::integer as tried from broken_changes");
    assert.ok([3, 4].includes(rows[0].tried), `two at a time: ${rows[0].tried} were tried`);
  } finally {
    await pool.query("drop function break_change cascade");
    await pool.query("drop sequence broken_changes");
  }
  const [first = "", second = ""] = ids;
  const { body } = await bulk(owner.token, [first, second], { kind: "add_tag", tag: "mended" });
  assert.equal(body.done.length, 2);
});
