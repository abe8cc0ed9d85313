import assert from "node:assert/strict";
import { test } from "node:test";
import { makeRecording } from "../../test/support/factories.ts";
import { reconcileClips } from "../public-link-records/clips.ts";
import { renderClipJob } from "./render-clip.ts";
import { addMedia, fixture, settled, startLinks, tokenOf } from "./test/public-links.ts";

const links = await startLinks();
const { app, workspace, manage } = links;

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
  await renderClipJob({ db: app.db, store: app.store, config: app.config, cut }, rows[0].id);
  const left = () => app.db.pool.query("select state from clips where id = $1", [rows[0].id]);
  assert.deepEqual((await left()).rows, [{ state: "preparing" }]);
  await reconcileClips({ db: app.db, jobs: app.jobs, store: app.store, log: { warn: () => assert.fail() } });
  assert.deepEqual((await left()).rows, []);
});
