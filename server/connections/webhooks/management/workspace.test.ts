import assert from "node:assert/strict";
import { test } from "node:test";
import { call } from "../../../../test/support/app.ts";
import { makeRecording } from "../../../../test/support/factories.ts";
import { until } from "../../../../test/support/until.ts";
import { startManagement } from "../test/management.ts";

const { app, workspace, stranger, makeHook, deliveriesOf, get, post } = await startManagement({});
const { admin, member } = workspace;

test("workspace hooks: admins list them with their creators; members and other workspaces can't", async () => {
  const shared = await makeHook();
  await makeHook({ scope: "personal", owner: admin });
  const answer = await get("/hooks?of=workspace", admin.token);
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(
    answer.body.hooks.map((hook: { id: string; user_id: string }) => [hook.id, hook.user_id]),
    [[shared.id, admin.id]],
  );
  const refused = await get("/hooks?of=workspace", member.token);
  assert.deepEqual([refused.status, refused.body.error], [403, "forbidden"]);
  assert.deepEqual((await get("/hooks?of=workspace", stranger.admin.token)).body.hooks, []);
});

test("workspace hooks: admins manage them like their own", async () => {
  const { id } = await makeHook();
  const sent = await post(`/hooks/${id}/test`, undefined, admin.token);
  assert.equal(sent.status, 200, sent.text);
  assert.equal((await get(`/hooks/${id}/deliveries`, admin.token)).body.deliveries[0].id, sent.body.id);
  assert.equal((await post(`/hooks/${id}/disable`, undefined, admin.token)).body.enabled, false);
  assert.equal((await get(`/hooks/${id}`, stranger.admin.token)).status, 404);
  const remove = (token: string) => call(app, "DELETE", `/hooks/${id}`, undefined, { token });
  assert.equal((await remove(member.token)).status, 404);
  assert.equal((await remove(admin.token)).status, 200);
});

test("workspace hooks: an admin sees only payloads of recordings they can see", async () => {
  const { recordingId } = await makeRecording(app, member.token);
  const { id } = await makeHook({ type: "recording_updated" });
  await call(app, "PATCH", `/recordings/${recordingId}`, { title: "Another" }, { token: member.token });
  const delivery = await until("the delivery was tried", async () =>
    (await deliveriesOf(id)).find(({ attempts }: { attempts: number }) => attempts > 0),
  );
  const bodyFor = async (token: string) => {
    const answer = await get(`/hooks/${id}/deliveries/${delivery.message_id}`, token);
    assert.equal(answer.status, 200, answer.text);
    return answer.body.request.body;
  };
  const sent = await bodyFor(workspace.token);
  assert.match(sent, /"title":"Another"/);
  assert.equal(await bodyFor(admin.token), null);
  const path = `/recordings/${recordingId}/users`;
  const share = await call(app, "PUT", path, { user_id: admin.id }, { token: member.token });
  assert.equal(share.status, 200, share.text);
  assert.equal(await bodyFor(admin.token), sent);
});
