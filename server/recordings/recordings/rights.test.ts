import assert from "node:assert/strict";
import { test } from "node:test";
import { call, startTestApp } from "../../../test/support/app.ts";
import { insertRecording, makeUser, makeWorkspace } from "../../../test/support/factories.ts";
import { roles } from "../../platform/auth/principal.ts";
import { hasRight, rights } from "./rights.ts";

const app = await startTestApp({ worker: false });
const workspace = await makeWorkspace(app.db);
const manage = (method: string, path: string, token: string, body?: unknown) =>
  call(app, method, `/_/api/v1${path}`, body, { token, version: null });

/** The rights of each caller: as a recorder of the recording, and as another user who can see it. */
const expected = {
  admin: { recorder: ["change", "share", "delete"], other: ["change", "share", "delete"] },
  member: { recorder: ["change", "share", "delete"], other: [] },
  viewer: { recorder: [], other: [] },
  workspace_token: { recorder: ["change", "share", "delete"], other: ["change", "share", "delete"] },
};

test("recorders, admins and workspace tokens change, share and delete a recording, viewers never", () => {
  for (const [name, { recorder, other }] of Object.entries(expected)) {
    const role = roles.find((one) => one === name) ?? "admin";
    const caller =
      name === "workspace_token"
        ? ({ role, scope: "workspace", tokenType: "workspace_access_token" } as const)
        : ({ role, scope: "personal", tokenType: "personal_access_token" } as const);
    const rightsAs = (is_recorder: boolean) =>
      rights.filter((right) => hasRight(caller, right, { is_recorder }));
    assert.deepEqual([rightsAs(true), rightsAs(false)], [recorder, other], name);
  }
});

test("what SQL decides about many recordings is what is decided about one", async () => {
  const callers: { role: string; id: string | null; token: string }[] = [
    { role: "workspace_token", id: null, token: workspace.token },
  ];
  for (const role of roles) {
    const { id, token } = await makeUser(app.db, workspace);
    await app.db.pool.query("update users set role = $2 where id = $1", [id, role]);
    callers.push({ role, id, token });
  }
  for (const { role, id, token } of callers)
    for (const isRecorder of [true, false]) {
      if (id === null && isRecorder) continue;
      const who = `${role}, ${isRecorder ? "recorder" : "other"}`;
      const recordingId = await insertRecording(app.db, {
        workspace_id: workspace.id,
        ...(isRecorder && id !== null ? { recorderId: id } : {}),
        share_state: "workspace",
      });
      const view = await manage("GET", `/recordings/${recordingId}`, token);
      const { change, share, delete: mayDelete } = view.body.can;
      const list = await manage("POST", "/library", token, {});
      const item = list.body.recordings.find(
        (one: { recording: { id: string } }) => one.recording.id === recordingId,
      );
      assert.equal(item.can_change, change && share && mayDelete, who);
      const deleted = await manage("DELETE", `/recordings/${recordingId}`, token);
      assert.equal(deleted.status, mayDelete ? 200 : 403, who);
      if (!mayDelete) await manage("DELETE", `/recordings/${recordingId}`, workspace.token);
      const trash = await manage("GET", "/trash", token);
      const isListed = trash.body.recordings.some((one: { id: string }) => one.id === recordingId);
      assert.equal(isListed, mayDelete, who);
      const restored = await manage("POST", `/trash/${recordingId}/restore`, token, {});
      // Who could not see it learns nothing.
      assert.equal(restored.status === 200, mayDelete, who);
    }
});
