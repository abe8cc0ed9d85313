import assert from "node:assert/strict";
import { test } from "node:test";
import { maxLinks } from "../../../contract/sharing/public-links.ts";
import { startLinks } from "./test/public-links.ts";

const { app, workspace, manage, makePublic } = await startLinks();

test("a recording has so many links at most, also when many are asked for at once", async () => {
  const { recordingId, linkId } = await makePublic();
  await app.db.pool.query(
    `insert into public_links (workspace_id, kind, recording_id)
     select workspace_id, kind, recording_id from public_links, generate_series(1, $2) where id = $1`,
    [linkId, maxLinks - 2],
  );
  const make = () => manage("POST", `/recordings/${recordingId}/links`, workspace.token, {});
  const answers = await Promise.all([make(), make(), make()]);
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409]);
  assert.match(answers.find(({ status }) => status === 409)?.body.detail, /200 links/);
  await manage("DELETE", `/links/${linkId}`, workspace.token);
  assert.equal((await make()).status, 200);
});
