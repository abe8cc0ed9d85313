import assert from "node:assert/strict";
import { before, test } from "node:test";
import { sql } from "kysely";
import { call, startTestApp } from "../../../../test/support/app.ts";
import { makeWorkspace } from "../../../../test/support/factories.ts";
import { syncGrants } from "../../../people/access/grants.ts";
import { findRareTitles, hasTrigram } from "./rare-titles.ts";

const app = await startTestApp();
const workspace = await makeWorkspace(app.db);

/** Of 7,200 recordings, the newest first: 6,000 "Common", 1,100 "Older", then one for each rare text. */
const rare = ["Zürich: q1", "1:1 with Ada", "百", "a%b", "x_y", "back\\y", "🙂"];

before(async () => {
  await app.db.kysely.transaction().execute(async (tx) => {
    // The list doesn't read search entries, and writing 7,000 takes longer than the tests.
    await sql`set local session_replication_role = replica`.execute(tx);
    const { rows } = await sql<{ id: string }>`
      insert into recordings (id, workspace_id, title, start_datetime, end_datetime, duration_ms, media_type, source,
        share_state, external)
      select uuidv7(), ${workspace.id}, case when n <= 6000 then 'Common ' || n when n <= 7100 then 'Older Ж ' || n
          else (${rare}::text[])[1 + n % ${rare.length}] end,
        timestamptz '2026-01-01' - n * interval '1 hour', timestamptz '2026-01-01' - n * interval '1 hour', 0,
        'transcript', 'upload', 'workspace', false
      from generate_series(1, ${7100 + rare.length}::integer) n returning id`.execute(tx);
    await syncGrants(
      tx,
      rows.map(({ id }) => id),
    );
  });
});

async function titles(token: string, search: string): Promise<string[]> {
  const { body } = await call(app, "POST", "/recordings", { filter: { title_search: search } }, { token });
  return body.recordings.map(({ title }: { title: string }) => title);
}

const found = (search: string): Promise<readonly string[] | null> =>
  findRareTitles(app.db.pool, workspace.id, search);

for (const [search, title] of [
  ["zu", "Zürich: q1"],
  ["Q1", "Zürich: q1"],
  [": q", "Zürich: q1"],
  ["1:1", "1:1 with Ada"],
  ["百", "百"],
  ["%", "a%b"],
  ["x_", "x_y"],
  ["k\\", "back\\y"],
  ["🙂", "🙂"],
] as const)
  test(`"${search}", in one of the oldest of 7,000 recordings, is found by both tokens`, async () => {
    assert.equal((await found(search))?.length, 1);
    assert.deepEqual(await titles(workspace.token, search), [title]);
    assert.deepEqual(await titles(workspace.member.token, search), [title]);
  });

test("letters that no title has, or not beside each other, are found nowhere", async () => {
  for (const search of ["qx", "ю", "mn"]) {
    assert.deepEqual(await found(search), [], search);
    assert.deepEqual(await titles(workspace.token, search), [], search);
  }
});

test("letters of many recordings are found in the order of the list, whether the newest have them or only older ones", async () => {
  for (const [search, first] of [
    ["mm", "Common 1"],
    ["ж", "Older Ж 6001"],
  ] as const) {
    assert.equal(await found(search), null, search);
    const page = await titles(workspace.token, search);
    assert.equal(page[0], first);
    assert.equal(page.length, 50);
  }
});

test("a recording of another workspace is not found", async () => {
  const other = await makeWorkspace(app.db);
  assert.deepEqual(await titles(other.token, "zu"), []);
});

test("three letters or digits in a row are left to the trigram index", async () => {
  assert.ok(hasTrigram("a 123"));
  assert.ok(!hasTrigram("1:1 ab"));
  assert.equal(await found("Zür"), null);
});
