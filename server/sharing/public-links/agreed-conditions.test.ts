import assert from "node:assert/strict";
import { test } from "node:test";
import { makeRecording, makeUser } from "../../../test/support/factories.ts";
import { startLinks, tokenOf } from "./test/public-links.ts";

const links = await startLinks();
const { app, workspace, manage, open } = links;
const { member } = workspace;
/** Makes stories of what is shared with the workspace, and may share none of it. */
const colleague = await makeUser(app.db, workspace);

/** A story of the colleague with a highlight of the member's, shown by a link that the member has made safe. */
async function makeShownStory(values: object) {
  const { recordingId } = await makeRecording(app, member.token);
  await links.setState(recordingId, "workspace");
  const highlight = await manage("POST", `/recordings/${recordingId}/highlights`, member.token, {
    text: "Look",
    timestamp: 1000,
    duration: 1500,
  });
  const story = await manage("POST", "/stories", colleague.token, {
    title: "Launch",
    highlight_ids: [highlight.body.id],
  });
  const link = (await manage("POST", `/stories/${story.body.id}/links`, colleague.token, values)).body;
  assert.equal(link.left_out, 1);
  // Workspace tokens may change every story and share every recording.
  const agreed = await manage("PATCH", `/links/${link.id}`, workspace.token, { agree: true });
  assert.deepEqual([agreed.status, agreed.body.left_out], [200, 0]);
  return link;
}

const soon = () => new Date(Date.now() + 3_600_000).toISOString();

for (const [what, before, change] of [
  ["its password away", { password: "open sesame" }, { password: null }],
  ["its password for another", { password: "open sesame" }, { password: "tugboat" }],
  ["its expiry away", { expires_datetime: soon() }, { expires_datetime: null }],
  ["its file in", {}, { allow_download: true }],
] as const)
  test(`what somebody agreed to is left out when who may not share it takes ${what}`, async () => {
    const link = await makeShownStory(before);
    const changed = await manage("PATCH", `/links/${link.id}`, colleague.token, change);
    assert.deepEqual([changed.status, changed.body.left_out], [200, 1]);
    const again = await manage("PATCH", `/links/${link.id}`, workspace.token, { agree: true });
    assert.equal(again.body.left_out, 0);
  });

test("a link made more restrictive by a user who may change the story keeps showing the same highlights", async () => {
  const link = await makeShownStory({ allow_download: true });
  const changed = await manage("PATCH", `/links/${link.id}`, colleague.token, {
    allow_download: false,
    expires_datetime: soon(),
  });
  assert.deepEqual([changed.status, changed.body.left_out], [200, 0]);
  assert.equal((await open(tokenOf(link))).body.items.length, 1);
});

test("the audit log says of a link that it ended, also when it went with its highlight or story", async () => {
  const { recordingId } = await makeRecording(app, member.token);
  const body = { text: "Look", timestamp: 1000, duration: 1500 };
  const highlight = await manage("POST", `/recordings/${recordingId}/highlights`, member.token, body);
  const story = await manage("POST", "/stories", member.token, { title: "Launch" });
  for (const path of [`/highlights/${highlight.body.id}`, `/stories/${story.body.id}`]) {
    const link = (await manage("POST", `${path}/links`, member.token, {})).body;
    assert.equal((await manage("DELETE", path, member.token)).status, 200);
    assert.equal((await open(tokenOf(link))).status, 404);
    const { rows } = await app.db.pool.query(
      "select action from audit_log where details ->> 'link_id' = $1 order by id",
      [link.id],
    );
    assert.deepEqual(
      rows.map((row) => row.action),
      ["public_link_created", "public_link_revoked"],
    );
  }
});
