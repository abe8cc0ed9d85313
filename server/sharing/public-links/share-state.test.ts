import assert from "node:assert/strict";
import { test } from "node:test";
import { call } from "../../../test/support/app.ts";
import { givePassword, openBrowser, signInAs } from "../../people/accounts/test/accounts.ts";
import { startLinks } from "./test/public-links.ts";

const { app, workspace, stranger, manage, setState, linksOf, makePublic } = await startLinks();
const { member } = workspace;

test("the recording's URL opens its public page for everyone who does not see it in their own workspace", async () => {
  const { recordingId, token } = await makePublic();
  await givePassword(app.db, stranger.member, member);
  const url = `/recordings/${recordingId}?t=3`;
  for (const browser of [openBrowser(app), await signInAs(app, stranger.member)]) {
    const { status, location } = await browser.get(url);
    assert.deepEqual([status, location], [303, `/s/${token}?t=3`]);
  }
  const own = await (await signInAs(app, member)).get(url);
  assert.equal(own.location, null);
  await setState(recordingId, "restricted");
  const refused = await (await signInAs(app, stranger.member)).get(url);
  assert.equal(refused.location, null);
});

test("a recording whose last working link is revoked is shared with the workspace, and says so", async () => {
  const { recordingId, linkId } = await makePublic();
  const second = (await manage("POST", `/recordings/${recordingId}/links`, member.token, {})).body;
  const third = (await manage("POST", `/recordings/${recordingId}/links`, member.token, {})).body;
  await app.db.pool.query("update public_links set expires_at = now() - interval '1 s' where id = $1", [
    third.id,
  ]);
  const stateOf = async () =>
    (await call(app, "POST", `/recordings/${recordingId}`, {}, { token: member.token })).body.share_state;
  await manage("DELETE", `/links/${linkId}`, member.token);
  assert.equal(await stateOf(), "public");
  const before = await app.db.pool.query("select count(*)::int as n from events where subject_id = $1", [
    recordingId,
  ]);
  await manage("DELETE", `/links/${second.id}`, member.token);
  assert.equal(await stateOf(), "workspace");
  assert.deepEqual(await linksOf(recordingId), []);
  const after = await app.db.pool.query("select count(*)::int as n from events where subject_id = $1", [
    recordingId,
  ]);
  assert.equal(after.rows[0].n, before.rows[0].n + 1);
  const { rows } = await app.db.pool.query(
    "select details from audit_log where subject_id = $1 and action = 'recording_share_state_changed' order by id desc limit 1",
    [recordingId],
  );
  assert.deepEqual(rows[0].details, { from: "public", to: "workspace" });
});
