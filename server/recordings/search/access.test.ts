import assert from "node:assert/strict";
import { test } from "node:test";
import { call, startTestApp } from "../../../test/support/app.ts";
import { makeTeam, makeUser, makeWorkspace } from "../../../test/support/factories.ts";
import { makeSpoken, searchCall, titlesFound } from "./test/search.ts";

const app = await startTestApp();
const { pool } = app.db;
const workspace = await makeWorkspace(app.db);
const other = await makeWorkspace(app.db);
const { member, token } = workspace;

const say = (title: string, lines: string[], attributes: object = {}, by = member.token) =>
  makeSpoken(app, by, title, lines, { ...attributes });
const setShare = async (id: string, state: string) => {
  await pool.query("update recordings set share_state = $2 where id = $1", [id, state]);
  const { syncGrants } = await import("../../people/access/grants.ts");
  await app.db.kysely.transaction().execute((tx) => syncGrants(tx, [id]));
};

/** The whole response without its timestamps. */
async function answerTo(by: string, query: Record<string, string>): Promise<string> {
  const { status, text } = await searchCall(app, by, query);
  return `${status} ${text}`;
}

test("who sees a recording finds it, and nobody else: every kind of caller", async () => {
  const participant = await makeUser(app.db, workspace);
  const shared = await makeUser(app.db, workspace);
  const teammate = await makeUser(app.db, workspace);
  const stranger = await makeUser(app.db, workspace);
  const viewer = await makeUser(app.db, workspace);
  await pool.query("update users set role = 'viewer' where id = $1", [viewer.id]);
  const team = await makeTeam(app.db, workspace, [teammate]);
  const id = await say("Secret meeting", ["The axolotl is ready."], {
    participants: [{ name: "P", email: participant.email }],
  });
  await call(app, "PUT", `/recordings/${id}/users`, { user_id: shared.id }, { token });
  await call(app, "PUT", `/recordings/${id}/users`, { user_id: viewer.id }, { token });
  await call(app, "PUT", `/recordings/${id}/teams`, { team_id: team.id }, { token });
  for (const [who, by, sees] of [
    ["the recorder", member.token, true],
    ["a participant", participant.token, true],
    ["who it is shared with", shared.token, true],
    ["a viewer it is shared with", viewer.token, true],
    ["a member of its team", teammate.token, true],
    ["the workspace's token", token, true],
    ["a colleague", stranger.token, false],
    ["an admin who does not see it", workspace.admin.token, false],
    ["another workspace's token", other.token, false],
    ["another workspace's member", other.member.token, false],
  ] as const)
    assert.deepEqual(await titlesFound(app, by, "axolotl"), sees ? ["Secret meeting"] : [], who);
  assert.deepEqual(await titlesFound(app, teammate.token, { q: "axolotl", team: team.id }), [
    "Secret meeting",
  ]);
  assert.deepEqual(await titlesFound(app, stranger.token, { q: "axolotl", team: team.id }), []);

  await setShare(id, "workspace");
  assert.deepEqual(await titlesFound(app, stranger.token, "axolotl"), ["Secret meeting"]);
  assert.deepEqual(await titlesFound(app, other.token, "axolotl"), []);
  await setShare(id, "restricted");
  assert.deepEqual(await titlesFound(app, stranger.token, "axolotl"), []);

  await call(app, "DELETE", `/recordings/${id}/users/${shared.id}`, undefined, { token });
  await call(app, "DELETE", `/recordings/${id}/teams/${team.id}`, undefined, { token });
  for (const by of [shared.token, teammate.token])
    assert.equal(await answerTo(by, { q: "axolotl" }), await answerTo(by, { q: "nosuchword" }));
  const { status } = await searchCall(app, null, { q: "axolotl" });
  assert.equal(status, 401);
});

test("leaks: a word that occurs only in recordings the user can't see gives the same response as an unknown word", async () => {
  const spy = await makeUser(app.db, workspace);
  const hidden = await say("Quagga", ["The quokka met the numbat.", "Budget of the quokka."], {
    participants: [{ name: "Nils Narwhal", email: "nils@narwhal.example" }],
  });
  await call(app, "PUT", `/recordings/${hidden}/tags`, { tag: "okapi" }, { token });
  const clip = { text: "dugong", timestamp: 0, duration: 10 };
  await call(app, "POST", `/_/api/v1/recordings/${hidden}/highlights`, clip, { token, version: null });
  await makeSpoken(app, spy.token, "Mine", ["A budget, and the numbers."]);
  const nothing = await answerTo(spy.token, { q: "nosuchword" });
  for (const q of [
    "quagga",
    "quokka",
    "numb*t",
    "numba*",
    "okapi",
    "narwhal",
    "dugong",
    '"quokka met"',
    "quok*",
  ])
    assert.equal(await answerTo(spy.token, { q }), nothing, q);
  assert.equal(await answerTo(spy.token, { q: "budget quokka" }), nothing);
  const mine = await answerTo(spy.token, { q: "budget" });
  assert.match(mine, /Mine/);
  for (const q of ["budget -quokka", 'budget -"budget of the quokka"'])
    assert.deepEqual(await titlesFound(app, spy.token, q), ["Mine"]);
  assert.equal(
    await answerTo(spy.token, { q: "budget", recording_id: hidden }),
    await answerTo(spy.token, { q: "budget", recording_id: spy.id }),
    "a recording that can't be seen is as one that is not there",
  );
  // Hidden recordings don't change the order or the rest of the response either.
  for (let n = 0; n < 3; n += 1) await say(`Hidden ${n}`, ["budget budget budget"]);
  assert.equal(await answerTo(spy.token, { q: "budget" }), mine);
});

test("changes: the index follows every change, and a rollback leaves nothing", async () => {
  const id = await say("First title", ["Something about wombats."], { participants: [{ name: "Someone" }] });
  const find = (q: string) => titlesFound(app, member.token, q);
  const change = (sql: string, ...values: unknown[]) => pool.query(sql, [id, ...values]);
  await call(app, "PATCH", `/recordings/${id}`, { title: "Renamed kiwi" }, { token });
  assert.deepEqual(await find("kiwi wombat"), ["Renamed kiwi"]);
  assert.deepEqual(await find("first title"), []);

  await change("update transcript_segments set text = 'Now about ferrets.' where recording_id = $1");
  assert.deepEqual([await find("wombats"), await find("ferret")], [[], ["Renamed kiwi"]]);
  await change("update recordings set transcript_language = null where id = $1");
  assert.deepEqual(
    [await find("ferret"), await find("ferrets")],
    [[], ["Renamed kiwi"]],
    "no language, no stems",
  );
  await change("update recordings set transcript_language = 'en-GB' where id = $1");
  assert.deepEqual(await find("ferret"), ["Renamed kiwi"]);
  await change("update transcript_segments set speaker = 'X', participant_id = null where recording_id = $1");
  assert.deepEqual(await find("ferret"), ["Renamed kiwi"]);
  await change(
    "insert into transcript_segments (recording_id, position, speaker, start_ms, end_ms, text) values ($1, 99, 'x', 5, 6, 'ibis')",
  );
  const { body } = await searchCall(app, member.token, { q: "ibis" });
  assert.equal(body.results[0]?.hits[0]?.timestamp, 5);
  await change("delete from transcript_segments where recording_id = $1 and position = 99");
  assert.deepEqual(await find("ibis"), []);

  await change("update participants set name = 'Gus Gnu' where recording_id = $1");
  assert.deepEqual(await find("gnu"), ["Renamed kiwi"]);
  await change("delete from participants where recording_id = $1");
  assert.deepEqual(await find("gnu"), []);

  const clip = { text: "heron", timestamp: 0, duration: 10 };
  const options = { token: member.token, version: null };
  const made = await call(app, "POST", `/_/api/v1/recordings/${id}/highlights`, clip, options);
  assert.deepEqual(await find("heron"), ["Renamed kiwi"]);
  await call(app, "PATCH", `/_/api/v1/highlights/${made.body.id}`, { text: "egret" }, options);
  assert.deepEqual([await find("heron"), await find("egret")], [[], ["Renamed kiwi"]]);
  await call(app, "DELETE", `/_/api/v1/highlights/${made.body.id}`, undefined, options);
  assert.deepEqual(await find("egret"), []);

  const client = await pool.connect();
  await client.query("begin");
  await client.query("update recordings set title = 'Yak' where id = $1", [id]);
  await client.query("set constraints all immediate");
  assert.deepEqual(await find("yak"), [], "not before the commit");
  await client.query("rollback");
  client.release();
  assert.deepEqual([await find("yak"), await find("kiwi")], [[], ["Renamed kiwi"]]);

  await call(app, "DELETE", `/_/api/v1/recordings/${id}`, undefined, options);
  assert.deepEqual(await find("kiwi"), [], "nothing in the trash is found");
  await call(app, "DELETE", `/_/api/v1/trash/${id}`, undefined, options);
  for (const table of ["search_recordings", "search_chunks", "search_changes"]) {
    const { rows } = await pool.query(`select 1 from ${table} where recording_id = $1`, [id]);
    assert.deepEqual(rows, [], table);
  }
});

test("at the same time: two that change different segments of a recording are both found", async () => {
  const id = await say("Shared work", ["one", "two"]);
  const [a, b] = await Promise.all([pool.connect(), pool.connect()]);
  await a.query("begin");
  await b.query("begin");
  const set = "update transcript_segments set text = $2 where recording_id = $1 and position = $3";
  await a.query(set, [id, "marmot", 0]);
  const later = b.query(set, [id, "lemming", 1]).then(() => b.query("commit"));
  await a.query("commit");
  await later;
  a.release();
  b.release();
  assert.deepEqual(await titlesFound(app, member.token, "marmot lemming"), ["Shared work"]);
});

/** Recordings without any more than search needs, far faster than through uploads. */
async function insertMany(count: number, word: string): Promise<void> {
  await pool.query(
    `with made as (
       insert into recordings (id, workspace_id, title, start_datetime, end_datetime, duration_ms, media_type, source,
         share_state, external, transcript_language)
       select gen_random_uuid(), $1, $3 || ' ' || n, timestamptz '2020-01-01Z' + n / 3 * interval '1 hour',
         timestamptz '2030-01-01Z', 1000, 'audio', 'other', 'restricted', false, 'en'
       from generate_series(1, $2::integer) n returning id, start_datetime),
     spoken as (
       insert into transcript_segments (recording_id, position, speaker, start_ms, end_ms, text)
       select id, 0, 'x', 0, 1, repeat($4 || ' ', 1 + (hashtext(id::text) & 3)) from made)
     insert into recording_grants (principal_id, start_datetime, recording_id)
     select $1, start_datetime, id from made`,
    [workspace.id, count, "Bulk", word],
  );
}

test("cursor: no result twice and none left out, while recordings come and go", async () => {
  await insertMany(330, "tapir");
  const seen: string[] = [];
  let cursor = "";
  for (let page = 0; ; page += 1) {
    const { body, text } = await searchCall(app, token, cursor === "" ? { q: "tapir" } : { cursor });
    assert.ok(body.results.length > 0, text);
    seen.push(...body.results.map((result) => result.recording.id));
    if (body.cursor === null) break;
    cursor = body.cursor;
    if (page === 4) {
      await insertMany(5, "tapir");
      await pool.query("delete from recordings where id = $1", [seen[0]]);
    }
  }
  assert.equal(new Set(seen).size, seen.length, "none twice");
  assert.ok(seen.length >= 330 && seen.length <= 335, String(seen.length));
});

test("cursor: one of another question, of another list or of nobody is refused", async () => {
  const { body } = await searchCall(app, token, { q: "tapir" });
  const cursor = body.cursor ?? "";
  for (const query of [
    { q: "tapirs", cursor },
    { q: "tapir", to: "2026-01-01", cursor },
    { q: "tapir", cursor: `${cursor}x` },
    { q: "tapir", cursor: Buffer.from("search:x::::::::::").toString("base64url") },
    { q: "tapir", cursor: "nonsense" },
  ]) {
    const { status, body: problem } = await searchCall(app, token, query);
    assert.deepEqual([status, problem.error], [400, "invalid_cursor"], JSON.stringify(query));
  }
  const stranger = await searchCall(app, other.token, { q: "tapir", cursor });
  assert.equal(stranger.status, 400);
});

test("size: a transcript of very many or very long words is stored, and its beginning found", async () => {
  const words = Array.from({ length: 60_000 }, (_, n) => `w${(n * 7919).toString(36)}x${n}`);
  const texts = Array.from({ length: 100 }, (_, part) => words.slice(part * 600, (part + 1) * 600).join(" "));
  await say("Many words", ["walnut", ...texts, ...Array.from({ length: 600 }, () => "a")]);
  assert.deepEqual(await titlesFound(app, member.token, "walnut"), ["Many words"]);
  await say("Long word", [`pistachio ${"z".repeat(5000)} ${"é".repeat(3000)}`]);
  assert.deepEqual(await titlesFound(app, member.token, "pistachio"), ["Long word"]);
});
