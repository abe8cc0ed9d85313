import assert from "node:assert/strict";
import { test } from "node:test";
import { call, currentVersion } from "../../../test/support/app.ts";
import { startHookReceiver } from "../../../test/support/hook-receiver.ts";
import { minutes, neverAnswer, refuse } from "../../../test/support/model-server.ts";
import { until } from "../../../test/support/until.ts";
import { startIntelligence } from "../../processing/intelligence/test/intelligence.ts";
import { promoteUploadJob } from "../../processing/uploads/promotion/promote.ts";

const t = await startIntelligence({
  recordingAdded: "when_ready",
  env: { PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8" },
});
const receiver = await startHookReceiver();
const { token } = t.workspace;

async function hold(recordingId: string) {
  const { rows } = await t.db.pool.query(
    "select announce_at from pending_announcements where recording_id = $1",
    [recordingId],
  );
  return rows[0]?.announce_at as Date | undefined;
}

const announced = (recordingId: string) =>
  until("the recording is announced", async () => {
    const events = await t.events(recordingId);
    return events.length > 0 && events;
  });

test("recording_added carries the AI fields, and recording_updated of the meantime comes after it", async () => {
  for (const hook_type of ["recording_added", "recording_updated"]) {
    const { status, text } = await call(
      t.app,
      "POST",
      "/hooks/create",
      {
        hook_url: receiver.url,
        hook_type,
        include: { ai_summary: true, ai_action_items: true },
      },
      { token, version: "2025-10-31" },
    );
    assert.equal(status, 200, text);
  }
  const answer = Promise.withResolvers<void>();
  t.model.script(async (request, response) => {
    await answer.promise;
    await minutes(request, response);
  });
  const id = await t.make();
  const until_ = await hold(id);
  assert.ok(until_ && Math.abs(until_.getTime() - Date.now() - 3_600_000) < 60_000, "one hour at most");
  const renamed = await call(t.app, "PATCH", `/recordings/${id}`, { title: "Renamed meanwhile" }, { token });
  assert.equal(renamed.status, 200);
  assert.deepEqual(await t.events(id), []);
  answer.resolve();
  assert.deepEqual(await announced(id), ["recording_added", "recording_updated"]);
  assert.equal(await hold(id), undefined);
  const posted = () => receiver.requests.filter(({ body }) => body !== "{}");
  await until("both arrive", async () => posted().length === 2);
  const [added, updated] = posted().map(({ body }) => JSON.parse(body));
  assert.deepEqual([added.type, updated.type], ["recording_added", "recording_updated"]);
  assert.equal(added.data.title, "Renamed meanwhile");
  assert.notEqual(added.data.ai_summary.text, "");
  assert.ok(added.data.ai_action_items.length > 0);
});

test("a model that fails, and one that takes more than an hour, don't keep a recording from being announced", async () => {
  t.model.script(refuse(401));
  const failed = await t.make();
  assert.deepEqual(await announced(failed), ["recording_added"]);
  assert.equal((await t.runOf(failed)).status, "failed");
  t.model.script(neverAnswer);
  const slow = await t.make();
  await t.db.pool.query(
    "update pending_announcements set announce_at = now() - interval '1 second' where recording_id = $1",
    [slow],
  );
  assert.deepEqual(await announced(slow), ["recording_added"]);
  assert.equal((await t.runOf(slow)).status, "running");
});

test("a workspace that wants it immediately gets it in the transaction that creates the recording", async () => {
  const still = await startIntelligence({ worker: false, recordingAdded: "when_ready" });
  const change = await still.manage(
    "PATCH",
    "/workspace",
    { recording_added: "immediately" },
    still.workspace.admin.token,
  );
  assert.equal(change.body.recording_added, "immediately", change.text);
  const wrong = await still.manage(
    "PATCH",
    "/workspace",
    { recording_added: "never" },
    still.workspace.admin.token,
  );
  assert.deepEqual([wrong.status, wrong.body.violations[0].pointer], [400, "/recording_added"]);
  for (const setting of ["immediately", "when_ready"]) {
    await still.manage("PATCH", "/workspace", { recording_added: setting }, still.workspace.admin.token);
    const { body } = await call(
      still.app,
      "POST",
      "/uploads/create",
      {
        media_type: "transcript",
        attributes: {
          transcript: {
            language: "en",
            segments: [{ speaker_key: "a", start: 0, end: 900, text: "Hello." }],
          },
        },
      },
      { token: still.workspace.member.token, version: currentVersion },
    );
    await promoteUploadJob({ db: still.db, jobs: still.app.jobs, config: still.app.config }, body.id);
    const { rows } = await still.db.pool.query(
      `select (select count(*)::integer from events where subject_id = u.recording_id) as events,
        (select count(*)::integer from pending_announcements where recording_id = u.recording_id) as holds
      from uploads u where u.id = $1 and u.status = 'success'`,
      [body.id],
    );
    // Exactly one of the two, whenever the server is killed.
    assert.deepEqual(rows, [setting === "immediately" ? { events: 1, holds: 0 } : { events: 0, holds: 1 }]);
  }
});
