import assert from "node:assert/strict";
import { test } from "node:test";
import { makeRecording } from "../../../test/support/factories.ts";
import { until } from "../../../test/support/until.ts";
import { reconcileClips } from "../../recordings/public-link-records/clips.ts";
import { renderClipJob } from "./render-clip.ts";
import { addMedia, fixture, settled, startLinks, tokenOf } from "./test/public-links.ts";

const links = await startLinks({ env: { PARLEY_STORAGE_PER_WORKSPACE: "100MB" } });
const { app, workspace, manage } = links;
const { pool } = app.db;

/** A recording of 12 seconds with highlights of these lengths. @returns their ids. */
async function makeHighlights(...durations: number[]): Promise<{ recordingId: string; ids: string[] }> {
  const { recordingId } = await makeRecording(app, workspace.member.token);
  const bytes = fixture("good-faststart.mp4");
  await addMedia(app, recordingId, { format: "mp4", bytes, durationMs: 12_000 });
  const ids: string[] = [];
  for (const [n, duration] of durations.entries()) {
    const highlight = { text: `Part ${n}`, timestamp: n, duration };
    const path = `/recordings/${recordingId}/highlights`;
    ids.push((await manage("POST", path, workspace.member.token, highlight)).body.id);
  }
  return { recordingId, ids };
}

const request = (id: string | undefined, token = workspace.member.token) =>
  manage("POST", `/highlights/${id}/clip`, token);

/** As if the clip of a highlight had been requested. */
async function insertClip(id: string | undefined, state: string, wantedFor: string): Promise<void> {
  await pool.query(
    `insert into clips (recording_id, highlight_id, start_ms, end_ms, state, error, wanted_until, wanted_by)
     select recording_id, id, start_ms, start_ms + duration_ms, $2, case when $2 = 'failed' then 'broken' end,
       now() + $3::interval, $4 from highlights where id = $1`,
    [id, state, wantedFor, workspace.member.id],
  );
}

test("a part that no link shows by the time its job runs is not cut, and its row goes", async () => {
  const { recordingId } = await makeRecording(app, workspace.member.token);
  await addMedia(app, recordingId, {
    format: "mp4",
    bytes: fixture("good-faststart.mp4"),
    durationMs: 12_000,
  });
  const highlight = { text: "Look", timestamp: 1000, duration: 1500 };
  const { body } = await manage("POST", `/recordings/${recordingId}/highlights`, workspace.token, highlight);
  const link = await manage("POST", `/highlights/${body.id}/links`, workspace.token, {});
  await settled(links, tokenOf(link.body));
  // As after the highlight was moved on while its job waited.
  const { rows } = await app.db.pool.query(
    `insert into clips (recording_id, highlight_id, start_ms, end_ms) values ($1, $2, 0, 12000) returning id`,
    [recordingId, body.id],
  );
  const cut = () => assert.fail("it was cut");
  await renderClipJob({ db: app.db, jobs: app.jobs, store: app.store, config: app.config, cut }, rows[0].id);
  const left = () => app.db.pool.query("select state from clips where id = $1", [rows[0].id]);
  assert.deepEqual((await left()).rows, [{ state: "preparing" }]);
  await reconcileClips({ db: app.db, jobs: app.jobs, store: app.store, log: { warn: () => assert.fail() } });
  assert.deepEqual((await left()).rows, []);
});

test("a clip that failed is rendered again when it is requested a minute later, and not by polling", async () => {
  const { ids } = await makeHighlights(1500);
  await insertClip(ids[0], "failed", "59 minutes 30 seconds");
  for (let count = 0; count < 2; count += 1) {
    const { status, body } = await request(ids[0]);
    assert.deepEqual([status, body], [200, { state: "failed", url: null, error: "broken" }]);
  }
  await pool.query("update clips set wanted_until = now() + interval '58 minutes' where highlight_id = $1", [
    ids[0],
  ]);
  const { body } = await request(ids[0]);
  assert.deepEqual([body.state, body.error], ["preparing", null]);
  await until("the clip is rendered", async () => (await request(ids[0])).body.state === "ready", 60_000);
});

test("five clips are prepared for a user at a time; those of others, and polling, are not limited", async () => {
  const { ids } = await makeHighlights(1000, 1001, 1002, 1003, 1004, 1005);
  for (const id of ids.slice(0, 5)) await insertClip(id, "preparing", "1 hour");
  const { status, body } = await request(ids[5]);
  assert.deepEqual([status, body.error], [403, "quota_exceeded"]);
  assert.match(body.detail, /the limit of 5 clips/);
  assert.equal((await request(ids[4])).body.state, "preparing");
  assert.equal((await request(ids[5], workspace.token)).status, 200);
});

test("a clip that the workspace's storage has no room for is refused", async () => {
  const { recordingId, ids } = await makeHighlights(6000, 100);
  await pool.query(
    `insert into stored_files (key, workspace_id, recording_id, bytes, sha256)
     values ('recordings/' || $1 || '/media.mp4', $2, $1::uuid, 90000000, sha256(''))`,
    [recordingId, workspace.id],
  );
  const { status, body } = await request(ids[0], workspace.token);
  assert.deepEqual([status, body.error], [403, "quota_exceeded"]);
  assert.match(body.detail, /storage is full/);
  assert.equal((await request(ids[1], workspace.token)).status, 200);
});
