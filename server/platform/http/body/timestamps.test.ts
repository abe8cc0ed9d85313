import assert from "node:assert/strict";
import { test } from "node:test";
import { call, everyVersion, olderVersion, startTestApp } from "../../../../test/support/app.ts";
import { makeRecording, makeWorkspace, sampleTranscript } from "../../../../test/support/factories.ts";
import { startHookReceiver } from "../../../../test/support/hook-receiver.ts";
import { dataTools } from "../../../recordings/recordings/test/recordings.ts";

const app = await startTestApp({ env: { PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8" } });
const receiver = await startHookReceiver();
const workspace = await makeWorkspace(app.db);
const { admin, member } = workspace;
const { manage, list, read } = dataTools(app);

/** Forms of 2026-03-02T10:00:00Z that JavaScript's own parser refuses or reads in local time. */
const forms = [
  "2026-03-02T10:00Z",
  "2026-03-02T11:00+01:00",
  "2026-03-02T11:00:00+0100",
  "2026-03-02T11:00:00+01",
  "20260302T100000Z",
  "20260302T1000",
  "2026-03-02T10:00:00,000Z",
];
const output = "2026-03-02T10:00:00.000Z";

test("uploads and list filters accept every ISO 8601 form; responses use one form", async () => {
  for (const [index, form] of forms.entries()) {
    const title = `Meeting number ${index}.`;
    const { recordingId } = await makeRecording(app, member.token, { title, start_datetime: form });
    for (const version of everyVersion) {
      const { body } = await call(
        app,
        "POST",
        `/recordings/${recordingId}`,
        {},
        { token: member.token, version },
      );
      assert.equal(body.start_datetime, output, form);
      const find = async (filter: object) =>
        (
          await call(
            app,
            "POST",
            "/recordings",
            { filter: { title_search: title, ...filter } },
            { token: member.token, version },
          )
        ).body.recordings.length;
      assert.equal(await find({ before_datetime: form }), 0, form);
      assert.equal(await find({ after_datetime: form }), 1, form);
    }
  }
});

test("Update Upload, imports and changes to recordings accept every ISO 8601 form", async () => {
  const staged = await call(
    app,
    "POST",
    "/uploads/create",
    { media_type: "transcript", auto_promote: false, attributes: { transcript: sampleTranscript } },
    { token: member.token },
  );
  const { recordingId } = await makeRecording(app, member.token);
  for (const form of forms) {
    const updated = await call(
      app,
      "PATCH",
      `/uploads/${staged.body.id}`,
      { attributes: { start_datetime: form }, include: { attributes: true } },
      { token: member.token },
    );
    assert.equal(updated.body.attributes?.start_datetime, output, updated.text);

    const changed = await manage("PATCH", `/recordings/${recordingId}`, member.token, {
      start_datetime: form,
      calendar_event: { ical_uid: "u", scheduled_start_datetime: form },
    });
    assert.equal(changed.status, 200, changed.text);
    const recording = await read(recordingId, member.token, { calendar_event: true });
    assert.equal(recording.body.start_datetime, output);
    assert.equal(recording.body.calendar_event.scheduled_start_datetime, output);

    const participant = await manage("POST", `/recordings/${recordingId}/participants`, member.token, {
      name: `Ana ${form}`,
      observed_join_time: form,
    });
    assert.equal(participant.body.observed_join_time, output, participant.text);

    const imported = await manage("POST", "/recordings", member.token, {
      title: `import ${form}`,
      start_datetime: form,
      participants: [{ name: "Ana", observed_join_time: form }],
      transcript: sampleTranscript,
    });
    assert.ok(imported.status < 300, imported.text);
  }
});

test("search, audit log, tokens, links and replay accept every ISO 8601 form", async () => {
  const { recordingId } = await makeRecording(app, member.token, {
    title: "Quay walls",
    start_datetime: output,
  });
  await manage("PATCH", `/recordings/${recordingId}`, member.token, { share_state: "public" });
  const hook = await call(
    app,
    "POST",
    "/hooks/create",
    { hook_url: receiver.url, hook_type: "story_added" },
    { token: member.token, version: olderVersion },
  );
  for (const form of forms) {
    const encoded = encodeURIComponent(form);
    const found = await manage("GET", `/search?q=quay&from=${encoded}`, member.token);
    assert.equal(found.body.results?.[0]?.recording.id, recordingId, found.text);
    const none = await manage("GET", `/search?q=quay&to=${encoded}`, member.token);
    assert.deepEqual(none.body.results, [], none.text);
    const audit = await manage("GET", `/audit?from=${encoded}`, admin.token);
    assert.equal(audit.status, 200, audit.text);
    // The instant is understood, and is further back than a replay goes.
    const replay = await manage("POST", `/hooks/${hook.body.id}/replay`, member.token, { since: form });
    assert.match(replay.body.violations?.[0]?.detail, /30 days/, replay.text);

    const later = form.replace("2026", "2126");
    const token = await manage("POST", "/tokens", member.token, {
      type: "personal_access_token",
      name: form,
      expires_at: later,
    });
    assert.equal(token.body.expires_at, output.replace("2026", "2126"), token.text);
    const link = await manage("POST", `/recordings/${recordingId}/links`, member.token, {
      expires_datetime: later,
    });
    assert.equal(link.body.expires_datetime, output.replace("2026", "2126"), link.text);
  }
  assert.deepEqual(await list(member.token, { before_datetime: "21260101" }), []);
});
