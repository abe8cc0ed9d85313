import assert from "node:assert/strict";
import { test } from "node:test";
import { startTestApp } from "../../../test/support/app.ts";
import { makeRecording, makeWorkspace } from "../../../test/support/factories.ts";
import { dataTools } from "../recordings/test/recordings.ts";

const app = await startTestApp({ env: { PARLEY_PAGE_SIZE: "3" } });
// Permanent deletion; server/recordings/trash/trash.test.ts tests the trash.
await app.db.pool.query("alter table workspaces alter trash_days set default 0");
const { manage, eventsOf } = dataTools(app);
const workspace = await makeWorkspace(app.db);
const { member } = workspace;

const make = async (attributes: object = {}): Promise<string> =>
  (await makeRecording(app, member.token, attributes)).recordingId;
const view = async (id: string) => (await manage("GET", `/recordings/${id}/transcript`, member.token)).body;
const texts = async (id: string): Promise<string[]> =>
  (await view(id)).segments.map((one: { text: string }) => one.text);
const versionOf = async (id: string): Promise<number> => (await view(id)).transcript_version;

/** Edits at the transcript's current version. */
async function edit(id: string, what: string, body: object) {
  const transcript_version = await versionOf(id);
  return manage("POST", `/recordings/${id}/transcript/${what}`, member.token, {
    transcript_version,
    ...body,
  });
}
const say = (id: string, index: number, text: string) =>
  edit(id, "corrections", { segments: [{ index, text }] });
const undo = (id: string, number?: number) => edit(id, "undo", number === undefined ? {} : { edit: number });
const edits = async (id: string, query = "") =>
  (await manage("GET", `/recordings/${id}/transcript/edits${query}`, member.token)).body;

test("undo chain: one by one back to the beginning, and forward again by undoing the undos", async () => {
  const id = await make();
  const original = await texts(id);
  await say(id, 0, "A");
  await say(id, 0, "B");
  await say(id, 1, "C");
  assert.deepEqual((await undo(id)).body, { transcript_version: 4, edit: 4, segments_changed: 1 });
  assert.deepEqual(await texts(id), ["B", original[1], original[2]]);
  assert.equal((await undo(id)).body.edit, 5);
  assert.deepEqual((await texts(id))[0], "A");
  assert.equal((await undo(id)).body.edit, 6);
  assert.deepEqual(await texts(id), original);
  assert.equal((await manage("GET", `/recordings/${id}`, member.token)).body.transcript.is_edited, false);
  const nothing = await undo(id);
  assert.deepEqual([nothing.status, nothing.body.error], [409, "wrong_state"]);

  // Redo in the order in which it was undone: 6 undid 1, 5 undid 2.
  assert.equal((await undo(id, 6)).body.edit, 7);
  assert.deepEqual((await texts(id))[0], "A");
  assert.equal((await undo(id, 5)).body.edit, 8);
  assert.deepEqual((await texts(id))[0], "B");
  // Both are in effect again, so the last of them is undone by default.
  assert.equal((await undo(id)).body.edit, 9);
  assert.deepEqual((await texts(id))[0], "A");
  assert.equal((await eventsOf(id)).filter((type) => type === "recording_updated").length, 9);
});

test("undo by number: possible alone if nothing was changed since, refused otherwise, and a second time", async () => {
  const id = await make();
  const [first, second] = await texts(id);
  await say(id, 0, "A");
  await say(id, 1, "B");
  assert.equal((await undo(id, 1)).status, 200);
  assert.deepEqual((await texts(id)).slice(0, 2), [first, "B"]);
  const again = await undo(id, 1);
  assert.deepEqual([again.status, again.body.error], [409, "wrong_state"]);
  assert.match(again.body.detail, /by edit 3/);
  await say(id, 1, "C");
  const conflict = await undo(id, 2);
  assert.equal(conflict.status, 409);
  assert.match(conflict.body.detail, /1 of its segments has been changed since/);
  assert.equal((await texts(id))[1], "C");
  assert.equal((await undo(id, 99)).status, 409);
  await undo(id, 4);
  assert.equal((await undo(id, 2)).status, 200);
  assert.equal((await texts(id))[1], second);
  // A later edit of the speaker does not affect the text.
  await say(id, 2, "D");
  await edit(id, "assignments", { indexes: [2], to: { name: "X" } });
  assert.equal((await undo(id, 7)).status, 200);
  assert.equal((await view(id)).segments[2].speaker, "X");
});

test("undo and kept edits can't make a transcript too long", async () => {
  const id = await make();
  await say(id, 0, "a".repeat(10_000));
  await say(id, 0, "short");
  await app.db.pool.query(
    "update transcript_segments set text = repeat('x', 4995000) where recording_id = $1 and position = 1",
    [id],
  );
  const refused = await undo(id);
  assert.deepEqual([refused.status, refused.body.error], [409, "wrong_state"]);
  assert.match(refused.body.detail, /too long: it must have at most 5000000 characters/);
  await app.db.pool.query(
    "update transcript_segments set text = 'y' where recording_id = $1 and position = 1",
    [id],
  );
  assert.equal((await undo(id)).status, 200);
  const [{ start, end }] = (await view(id)).segments;
  const filler = Array.from({ length: 500 }, (_, n) => ({
    speaker: "S",
    start: end + n * 1000,
    end: end + n * 1000 + 900,
    text: "z".repeat(9990),
  }));
  const supply = async (edits: string) =>
    manage("PUT", `/recordings/${id}/transcript`, member.token, {
      transcript_version: await versionOf(id),
      edits,
      segments: [{ speaker: "S", start, end, text: "fresh" }, ...filler],
    });
  const kept = await supply("keep");
  assert.deepEqual([kept.status, kept.body.violations?.[0].pointer], [400, "/edits"], kept.text);
  assert.equal((await texts(id))[0], "a".repeat(10_000), "nothing was replaced");
  assert.equal((await supply("discard")).status, 200);
});

test("undo: lines of a deleted participant stay unassigned", async () => {
  const id = await make({ participants: [{ name: "Ada", speaker_key: "s1" }] });
  const { participants } = (await manage("GET", `/recordings/${id}`, member.token)).body;
  await edit(id, "assignments", { indexes: [0], to: { name: "Somebody" } });
  await manage("DELETE", `/recordings/${id}/participants/${participants[0].id}`, member.token);
  const undone = await undo(id);
  assert.equal(undone.status, 200, undone.text);
  const [segment] = (await view(id)).segments;
  assert.deepEqual([segment.speaker, segment.participant_id], ["Ada", null]);
});

test("history: who, when and what, in pages, newest first; one edit with its changes", async () => {
  const id = await make({ participants: [{ name: "Ada", speaker_key: "s1" }] });
  const [original] = await texts(id);
  await say(id, 0, "A");
  await edit(id, "speakers/rename", { speaker: { name: "Unknown Speaker 1" }, name: "Bo" });
  await edit(id, "speakers/merge", { from: [{ name: "Bo" }], into: { participant_id: await adaOf(id) } });
  await undo(id);
  const first = await edits(id);
  assert.deepEqual(
    first.edits.map((one: { number: number; kind: string; undone_by: number | null }) => [
      one.number,
      one.kind,
      one.undone_by,
    ]),
    [
      [4, "undo", null],
      [3, "merge", 4],
      [2, "rename", null],
    ],
  );
  assert.deepEqual(first.edits[0].details, { edit: 3 });
  assert.deepEqual(first.edits[2].details, {
    speakers: [{ participant_id: null, name: "Unknown Speaker 1" }],
    to: { participant_id: null, name: "Bo" },
  });
  assert.equal(first.next_before, 2);
  const second = await edits(id, `?before=${first.next_before}`);
  assert.equal(second.next_before, null);
  const [{ made_datetime, ...only }] = second.edits;
  assert.ok(Math.abs(Date.parse(made_datetime) - Date.now()) < 60_000);
  assert.deepEqual(only, {
    number: 1,
    kind: "text",
    user: { id: member.id, name: member.name },
    transcript_version: 1,
    segments_changed: 1,
    details: {},
    undone_by: null,
  });
  const one = await manage("GET", `/recordings/${id}/transcript/edits/1`, member.token);
  assert.deepEqual(one.body, {
    ...second.edits[0],
    changes: [{ indexes: [0], before: { text: original }, after: { text: "A" } }],
  });
  assert.equal((await manage("GET", `/recordings/${id}/transcript/edits/9`, member.token)).status, 404);
  assert.equal((await manage("GET", `/recordings/${id}/transcript/edits/x`, member.token)).status, 404);
  assert.equal(
    (await manage("GET", `/recordings/${id}/transcript/edits?before=x`, member.token)).status,
    400,
  );
});

test("history: the last thousand edits are kept, and deleted with the recording", async () => {
  const id = await make();
  await say(id, 0, "A");
  await app.db.pool.query(
    `insert into transcript_edits (recording_id, number, kind, transcript_version, segments, details, changes)
     select $1, n, 'text', n, 0, '{}', '{"segments":[],"participants":[]}' from generate_series(2, 1000) n`,
    [id],
  );
  assert.equal((await say(id, 0, "B")).body.edit, 1001);
  const { rows } = await app.db.pool.query(
    "select min(number) as first, count(*)::integer as n from transcript_edits where recording_id = $1",
    [id],
  );
  assert.deepEqual(rows[0], { first: 2, n: 1000 });
  const receipt = await manage("DELETE", `/recordings/${id}`, member.token);
  assert.equal(receipt.body.removed.transcript_edits, 1000);
});

test("an edit that fails leaves nothing behind: no text, no version, no history, no event", async () => {
  const id = await make();
  const before = await view(id);
  await app.db.pool.query(`
    create function break_off() returns trigger language plpgsql as $$ begin raise 'broken off'; end $$;
    create trigger break_off before insert on events for each row execute function break_off()`);
  try {
    assert.equal((await say(id, 0, "A")).status, 500);
  } finally {
    await app.db.pool.query("drop trigger break_off on events; drop function break_off()");
  }
  assert.deepEqual(await view(id), before);
  assert.deepEqual((await edits(id)).edits, []);
  assert.equal((await say(id, 0, "A")).status, 200);
});

test("fifty thousand segments: one correction writes one row and is quick, a rename is one entry of the history", async (t) => {
  const id = await make();
  await app.db.pool.query(
    `insert into transcript_segments (recording_id, position, speaker, start_ms, end_ms, text)
     select $1, n, 'Speaker ' || n % 2, n * 200, n * 200 + 190, 'word ' || n from generate_series(3, 49999) n`,
    [id],
  );
  await app.db.pool.query("analyze transcript_segments");
  const quickest = async (work: () => Promise<unknown>): Promise<number> => {
    let best = Number.POSITIVE_INFINITY;
    for (let turn = 0; turn < 5; turn++) {
      const began = performance.now();
      await work();
      best = Math.min(best, performance.now() - began);
    }
    return best;
  };
  let version = 0;
  const ms = await quickest(async () => {
    const { body } = await manage("POST", `/recordings/${id}/transcript/corrections`, member.token, {
      transcript_version: version,
      segments: [{ index: 40_000, text: `corrected ${version}` }],
    });
    version = body.transcript_version;
    assert.equal(body.segments_changed, 1);
  });
  const { rows: written } = await app.db.pool.query(
    `select count(*)::int from transcript_segments where recording_id = $1
      and xmin = (select xmin from transcript_segments where recording_id = $1 and position = 40000)`,
    [id],
  );
  assert.equal(written[0].count, 1, "rows that the last correction wrote");
  // Most of it is the search index, which goes through the whole transcript.
  const indexed = await quickest(() =>
    app.db.pool.query(
      "select to_tsvector('simple', string_agg(text, ' ')) from transcript_segments where recording_id = $1",
      [id],
    ),
  );
  t.diagnostic(`words of the transcript alone: ${indexed.toFixed(1)} ms`);
  assert.ok(ms < 30 * indexed, `${ms} ms for one correction, ${indexed} ms for the words of the transcript`);
  const began = performance.now();
  const renamed = await manage("POST", `/recordings/${id}/transcript/speakers/rename`, member.token, {
    transcript_version: version,
    speaker: { name: "Speaker 1" },
    name: "Ada",
  });
  assert.equal(renamed.body.segments_changed, 24_999);
  t.diagnostic(`one correction: ${ms.toFixed(1)} ms, a rename: ${(performance.now() - began).toFixed(0)} ms`);
  const { rows } = await app.db.pool.query(
    "select pg_column_size(changes) as bytes from transcript_edits where recording_id = $1 order by number desc limit 1",
    [id],
  );
  assert.ok(rows[0].bytes < 400_000, `${rows[0].bytes} bytes`);
  const back = await manage("POST", `/recordings/${id}/transcript/undo`, member.token, {
    transcript_version: renamed.body.transcript_version,
  });
  assert.equal(back.body.segments_changed, 24_999);
});

async function adaOf(id: string): Promise<string> {
  return (await manage("GET", `/recordings/${id}`, member.token)).body.participants[0].id;
}
