import assert from "node:assert/strict";
import { test } from "node:test";
import { call, startTestApp } from "../../../../test/support/app.ts";
import { makeRecording, makeUser, makeWorkspace } from "../../../../test/support/factories.ts";

const app = await startTestApp();
const workspace = await makeWorkspace(app.db);

test("a recording that credits only others names its uploader in the audit log and in its details", async () => {
  const { admin, member } = workspace;
  const colleague = await makeUser(app.db, workspace);
  for (const [token, uploader, recorders, isLogged] of [
    [member.token, member, [colleague.id], true],
    [workspace.token, admin, [colleague.id], true],
    [member.token, member, [colleague.id, member.id], false],
  ] as const) {
    const { recordingId } = await makeRecording(app, token, { recorder_ids: recorders });
    const view = await call(app, "GET", `/_/api/v1/recordings/${recordingId}`, undefined, {
      token: colleague.token,
      version: null,
    });
    assert.deepEqual(view.body.uploaded_by, { id: uploader.id, name: uploader.name, email: uploader.email });
    const { rows } = await app.db.pool.query(
      "select user_id, details->'recorder_ids' as recorders from audit_log where subject_id = $1 and action = 'recording_uploaded_for_others'",
      [recordingId],
    );
    assert.deepEqual(rows, isLogged ? [{ user_id: uploader.id, recorders }] : []);
  }
});
