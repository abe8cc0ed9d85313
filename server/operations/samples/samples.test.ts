import assert from "node:assert/strict";
import { test } from "node:test";
import { call, startTestApp } from "../../../test/support/app.ts";
import { makeRecording, makeUser, makeWorkspace } from "../../../test/support/factories.ts";
import { until } from "../../../test/support/until.ts";

const app = await startTestApp();
const workspace = await makeWorkspace(app.db);
const second = await makeUser(app.db, workspace, { role: "admin" });

const samples = async (method: string, token = workspace.admin.token) =>
  (await call(app, method, "/_/api/v1/sample-recordings", undefined, { token, version: null })).body;
const titles = async () =>
  (await call(app, "POST", "/recordings", {}, { token: workspace.admin.token })).body.recordings.map(
    (recording: { title: string }) => recording.title,
  );

test("two admins load the samples at once: each exists once, with media, transcript and highlight; one removes them all", async () => {
  await makeRecording(app, workspace.admin.token, { title: "Our own" });
  const own = {
    title: "Our own",
    external_id: "parley-sample/demo",
    participants: [{ name: "Anna", speaker_key: "a" }],
    transcript: { language: "en", segments: [{ speaker_key: "a", start: 0, end: 1000, text: "Hello." }] },
  };
  const imported = await call(app, "POST", "/_/api/v1/recordings", own, {
    token: workspace.member.token,
    version: null,
  });
  assert.deepEqual([imported.status, imported.body.violations?.[0]?.pointer], [400, "/external_id"]);
  const states = await Promise.all([samples("POST"), samples("POST", second.token), samples("POST")]);
  for (const { total, loaded, pending } of states) assert.equal(loaded + pending, total);
  await until("the samples are processed", async () => (await samples("GET")).loaded === 3, 60_000);
  const { rows } = await app.db.pool.query(`
    select r.title, r.duration_ms, r.ai_summary is not null as has_summary,
      (select bool_and(exists (select 1 from transcript_segments s
          where s.recording_id = r.id and s.start_ms = (p->'start')::int and s.text like '%' || (p->>'quote') || '%'))
        from jsonb_array_elements(r.ai_summary_points) p) as is_proven,
      (select count(*)::int from transcript_segments s where s.recording_id = r.id) as segments,
      (select count(*)::int from highlights h where h.recording_id = r.id) as highlights
    from recordings r join recording_media m on m.recording_id = r.id order by r.title`);
  assert.equal(rows.length, 3);
  for (const row of rows) assert.ok(row.segments >= 4 && row.duration_ms > 50_000, row.title);
  assert.ok(rows.some((row) => row.has_summary && row.highlights > 0));
  for (const row of rows) assert.equal(row.is_proven, row.has_summary ? true : null, row.title);
  assert.deepEqual(await samples("POST"), { total: 3, loaded: 3, pending: 0 });
  assert.deepEqual(await samples("DELETE", second.token), { total: 3, loaded: 0, pending: 0 });
  assert.deepEqual(await titles(), ["Our own"]);
  assert.equal((await samples("POST")).pending, 3, "they can be loaded again");
});

test("loading that was interrupted before a file arrived is not pending, and loading again continues", async () => {
  const { id, admin } = await makeWorkspace(app.db);
  assert.equal((await samples("POST", admin.token)).pending, 3);
  // As a process that was killed before it stored the file leaves it.
  await app.db.pool.query(
    `update uploads set status = 'awaiting', file_etag = null where workspace_id = $1 and external_id like '%/demo'
       and status <> 'success'`,
    [id],
  );
  const { loaded, pending } = await samples("GET", admin.token);
  assert.ok(loaded + pending < 3);
  const again = await samples("POST", admin.token);
  assert.equal(again.loaded + again.pending, 3);
});
