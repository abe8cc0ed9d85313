import assert from "node:assert/strict";
import { test } from "node:test";
import { startTestApp } from "../../../../test/support/app.ts";
import {
  makeRecording,
  makeTeam,
  makeUser,
  makeWorkspace,
  unknownId,
} from "../../../../test/support/factories.ts";
import { dataTools } from "../test/recordings.ts";

const app = await startTestApp();
const { manage, read, list, eventsOf, makeViewer } = dataTools(app);
const workspace = await makeWorkspace(app.db);
const { admin, member } = workspace;
const stranger = await makeWorkspace(app.db);
const viewer = await makeViewer(workspace);

const everyInclude = { participants: true, calendar_event: true, crm: true, screenshares: true };

async function participantsOf(recordingId: string): Promise<{ id: string; name: string }[]> {
  return (await read(recordingId, workspace.token, { participants: true })).body.participants;
}

test("view: everything there is, and what each caller may do", async () => {
  const { recordingId, uploadId } = await makeRecording(app, member.token, {
    title: "Harbour",
    participants: [{ name: "Ada", email: member.email, phone: "+1", speaker_key: "s1" }],
  });
  const { status, body, text } = await manage(
    "GET",
    `/recordings/${recordingId.toUpperCase()}`,
    member.token,
  );
  assert.equal(status, 200, text);
  const expected = await read(recordingId, member.token, {
    ...everyInclude,
    highlights: true,
    ai_summary: true,
    ai_action_items: true,
    ai_template_sections: true,
    private_notes: true,
  });
  assert.deepEqual(body.recording, expected.body);
  assert.equal(body.participants[0].phone, "+1");
  assert.equal(body.participants[0].attended, true);
  assert.deepEqual(body.transcript, {
    language: "en",
    version: 0,
    segments: 3,
    is_edited: false,
    transcription: null,
  });
  assert.deepEqual(
    [body.upload_id, body.external_id, body.media, body.meeting_type_is_automatic, body.shared_users],
    [uploadId, null, null, true, []],
  );
  const all = {
    change: true,
    share: true,
    delete: true,
    edit_transcript: true,
    transcribe: false,
    add_highlights: true,
    write_private_notes: true,
    comment: true,
  };
  assert.deepEqual(body.can, all);
  const can = async (token: string) => (await manage("GET", `/recordings/${recordingId}`, token)).body.can;
  assert.deepEqual(await can(workspace.token), { ...all, write_private_notes: false, comment: false });
  await manage("PATCH", `/recordings/${recordingId}`, member.token, { share_state: "workspace" });
  const other = await makeUser(app.db, workspace);
  const none = { change: false, share: false, delete: false, edit_transcript: false, transcribe: false };
  assert.deepEqual(await can(other.token), { ...all, ...none });
  assert.deepEqual(await can(admin.token), all);
  assert.deepEqual(await can(viewer.token), {
    ...none,
    add_highlights: false,
    write_private_notes: false,
    comment: false,
  });
  const hidden = await manage("GET", `/recordings/${recordingId}`, stranger.token);
  assert.deepEqual([hidden.status, hidden.body.error], [404, "not_found"]);
});

test("patch: every field is shown by the contract in both versions, as one event; again nothing happens", async () => {
  const { recordingId } = await makeRecording(app, member.token, {
    participants: [{ name: "Ada", speaker_key: "s1" }],
  });
  const [ada] = await participantsOf(recordingId);
  const team = await makeTeam(app.db, workspace, [member]);
  const types = await manage("GET", "/meeting_types", admin.token);
  const type = types.body.meeting_types.find((one: { name: string }) => one.name === "Interview");
  const data = {
    title: "  Harbour, second round ",
    start_datetime: "2026-03-01T10:00:00+02:00",
    source: "zoom",
    share_state: "public",
    tags: ["deal", "Q3", "deal"],
    team_ids: [team.id.toUpperCase()],
    recorder_ids: [admin.id, member.id],
    meeting_type_id: type.id,
    calendar_event: { ical_uid: "x@y", scheduled_start_datetime: "2026-03-01T08:00:00Z" },
    crm: { crm_company_ids: ["c1", "c1"], crm_deal_ids: ["d1"] },
    screenshares: [{ start: 0, end: 5000, participant_id: ada?.id.toUpperCase() }],
  };
  const answer = await manage("PATCH", `/recordings/${recordingId}`, member.token, data);
  assert.equal(answer.status, 200, answer.text);
  const { body } = await read(recordingId, member.token, everyInclude);
  const shown = { ...body };
  assert.equal(shown.title, "Harbour, second round");
  assert.equal(shown.start_datetime, "2026-03-01T08:00:00.000Z");
  assert.equal(shown.end_datetime, "2026-03-01T08:00:12.000Z");
  assert.deepEqual([shown.source, shown.share_state, shown.workspace_shared], ["zoom", "public", true]);
  assert.deepEqual(shown.tags, ["deal", "Q3"]);
  assert.deepEqual(shown.teams, [{ id: team.id, name: team.name }]);
  assert.deepEqual(
    shown.recorders.map((recorder: { id: string }) => recorder.id),
    [admin.id, member.id],
  );
  assert.equal(shown.meeting_type.id, type.id);
  assert.deepEqual(shown.calendar_event, {
    ical_uid: "x@y",
    scheduled_start_datetime: "2026-03-01T08:00:00.000Z",
    scheduled_end_datetime: null,
  });
  assert.deepEqual(shown.crm, { crm_company_ids: ["c1"], crm_deal_ids: ["d1"] });
  assert.deepEqual(shown.screenshares, [{ start: 0, end: 5000, participant_id: ada?.id }]);
  assert.deepEqual(await eventsOf(recordingId), ["recording_added", "recording_updated"]);

  assert.equal((await manage("PATCH", `/recordings/${recordingId}`, member.token, data)).status, 200);
  assert.equal((await manage("PATCH", `/recordings/${recordingId}`, member.token, {})).status, 200);
  assert.equal((await eventsOf(recordingId)).length, 2);

  const emptied = {
    calendar_event: null,
    crm: null,
    screenshares: null,
    meeting_type_id: null,
    team_ids: [],
  };
  assert.equal((await manage("PATCH", `/recordings/${recordingId}`, member.token, emptied)).status, 200);
  const after = (await read(recordingId, member.token, everyInclude)).body;
  assert.deepEqual(
    [after.calendar_event, after.crm, after.screenshares, after.meeting_type, after.teams],
    [null, { crm_company_ids: [], crm_deal_ids: [] }, [], null, []],
  );
  assert.equal((await eventsOf(recordingId)).length, 3);
});

test("patch: returns all violations at once, those of the schema and those of the database", async () => {
  const { recordingId } = await makeRecording(app, member.token);
  const answer = await manage("PATCH", `/recordings/${recordingId}`, member.token, {
    title: " ",
    source: null,
    start_datetime: new Date(Date.now() + 60_000).toISOString(),
    tags: ["ok", "not ok"],
    team_ids: [unknownId()],
    recorder_ids: [stranger.member.id],
    meeting_type_id: unknownId(),
    calendar_event: {
      scheduled_start_datetime: "2026-01-02T00:00:00Z",
      scheduled_end_datetime: "2026-01-01T00:00:00Z",
    },
    crm: { crm_deal_ids: [""] },
    screenshares: [
      { start: 5000, end: 5000, participant_id: unknownId() },
      { start: 0, end: 12_001, participant_id: "x" },
    ],
  });
  assert.equal(answer.status, 400);
  assert.deepEqual(answer.body.violations.map((one: { pointer: string }) => one.pointer).sort(), [
    "/calendar_event/scheduled_end_datetime",
    "/crm/crm_deal_ids/0",
    "/meeting_type_id",
    "/recorder_ids/0",
    "/screenshares/0/end",
    "/screenshares/0/participant_id",
    "/screenshares/1/end",
    "/screenshares/1/participant_id",
    "/source",
    "/start_datetime",
    "/tags/1",
    "/team_ids/0",
    "/title",
  ]);
  assert.deepEqual(await eventsOf(recordingId), ["recording_added"]);
  const none = await manage("PATCH", `/recordings/${recordingId}`, member.token, { recorder_ids: [] });
  assert.deepEqual([none.status, none.body.violations[0].pointer], [400, "/recorder_ids"]);
});

test("patch: screenshares name participants of this very recording", async () => {
  const one = await makeRecording(app, member.token, { participants: [{ name: "Ada" }] });
  const two = await makeRecording(app, member.token, { participants: [{ name: "Bo" }] });
  const [bo] = await participantsOf(two.recordingId);
  const answer = await manage("PATCH", `/recordings/${one.recordingId}`, member.token, {
    screenshares: [{ start: 0, end: 10, participant_id: bo?.id }],
  });
  assert.deepEqual(
    [answer.status, answer.body.violations],
    [
      400,
      [
        {
          pointer: "/screenshares/0/participant_id",
          detail: "is not a participant of this recording",
          cause: { code: "not_a_participant", values: {} },
        },
      ],
    ],
  );
});

test("rights: recorders, admins and workspace tokens change; who sees it gets 403, who doesn't 404", async () => {
  const { recordingId } = await makeRecording(app, member.token);
  const other = await makeUser(app.db, workspace);
  const change = (token: string | null, body: object = { tags: ["a"] }) =>
    manage("PATCH", `/recordings/${recordingId}`, token, body).then(({ status }) => status);
  assert.equal(await change(other.token), 404);
  // What is wrong with a body says nothing about a recording that can't be seen.
  const blind = await manage("PATCH", `/recordings/${recordingId}`, other.token, { team_ids: [unknownId()] });
  assert.equal(blind.status, 404);
  assert.equal(await change(stranger.token), 404);
  await change(member.token, { share_state: "workspace" });
  assert.equal(await change(other.token), 403);
  assert.equal(await change(viewer.token), 403);
  assert.equal(await change(null), 401);
  assert.equal(await change(admin.token, { tags: ["b"] }), 200);
  assert.equal(await change(workspace.token, { tags: ["c"] }), 200);
  const missing = await manage("PATCH", `/recordings/${unknownId()}`, admin.token, {});
  assert.equal(missing.status, 404);
});

test("grants: sharing, teams and recorders decide at once who sees the recording", async () => {
  const { recordingId } = await makeRecording(app, member.token);
  const other = await makeUser(app.db, workspace);
  const team = await makeTeam(app.db, workspace, [other]);
  const sees = async () => (await read(recordingId, other.token)).status === 200;
  const patch = (body: object) => manage("PATCH", `/recordings/${recordingId}`, workspace.token, body);
  assert.equal(await sees(), false);
  for (const [on, off] of [
    [{ share_state: "workspace" }, { share_state: "restricted" }],
    [{ team_ids: [team.id] }, { team_ids: [] }],
    [{ recorder_ids: [member.id, other.id] }, { recorder_ids: [member.id] }],
  ] as const) {
    assert.equal((await patch(on)).status, 200);
    assert.equal(await sees(), true, JSON.stringify(on));
    assert.ok((await list(other.token, {})).includes(recordingId));
    await patch(off);
    assert.equal(await sees(), false, JSON.stringify(off));
    assert.ok(!(await list(other.token, {})).includes(recordingId));
  }
});

test("a recorder who was deactivated stays one when recorders are written again", async () => {
  const gone = await makeUser(app.db, workspace);
  const { recordingId } = await makeRecording(app, gone.token);
  await app.db.pool.query("update users set deactivated_at = now() where id = $1", [gone.id]);
  const keep = await manage("PATCH", `/recordings/${recordingId}`, workspace.token, {
    recorder_ids: [member.id, gone.id],
  });
  assert.equal(keep.status, 200, keep.text);
  const { recordingId: second } = await makeRecording(app, member.token);
  const add = await manage("PATCH", `/recordings/${second}`, workspace.token, { recorder_ids: [gone.id] });
  assert.equal(add.status, 400);
});

test("a change that breaks off leaves nothing behind, and of two at once neither is lost", async () => {
  const { recordingId } = await makeRecording(app, member.token);
  const before = (await read(recordingId, member.token, everyInclude)).body;
  await app.db.pool.query(`
    create function break_off() returns trigger language plpgsql as $$ begin raise 'broken off'; end $$;
    create trigger break_off before insert on events for each row execute function break_off()`);
  const patch = (body: object) => manage("PATCH", `/recordings/${recordingId}`, member.token, body);
  try {
    assert.equal((await patch({ title: "X", share_state: "public", tags: ["x"] })).status, 500);
  } finally {
    await app.db.pool.query("drop trigger break_off on events; drop function break_off()");
  }
  assert.deepEqual((await read(recordingId, member.token, everyInclude)).body, before);
  const people = Array.from({ length: 6 }, (_, n) =>
    manage("POST", `/recordings/${recordingId}/participants`, member.token, { name: `P${n}` }),
  );
  const answers = await Promise.all([
    ...people,
    patch({ tags: ["y"] }),
    patch({ crm: { crm_deal_ids: ["d"] } }),
  ]);
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  const { body } = await read(recordingId, member.token, everyInclude);
  assert.deepEqual([body.participants.length, body.tags, body.crm.crm_deal_ids], [6, ["y"], ["d"]]);
  assert.equal((await eventsOf(recordingId)).length, 1 + 8);
});

test("who sees a recording: every change of it is in the audit log, with who did it", async () => {
  const { recordingId } = await makeRecording(app, member.token);
  const team = await makeTeam(app.db, workspace);
  const patch = (body: object) => manage("PATCH", `/recordings/${recordingId}`, member.token, body);
  assert.equal((await patch({ share_state: "public", team_ids: [team.id] })).status, 200);
  assert.equal((await patch({ share_state: "public", title: "Only the title" })).status, 200);
  assert.equal((await patch({ share_state: "restricted", team_ids: [] })).status, 200);
  const rows = await app.db.kysely
    .selectFrom("audit_log")
    .select(["action", "details", "user_id"])
    .where("subject_id", "=", recordingId)
    .where("action", "like", "%share%")
    .orderBy("id")
    .execute();
  assert.deepEqual(
    rows.map(({ action, details }) => [action, details]),
    [
      ["recording_share_state_changed", { from: "restricted", to: "public" }],
      ["recording_shared", { team_id: team.id }],
      ["recording_share_state_changed", { from: "public", to: "restricted" }],
      ["recording_unshared", { team_id: team.id }],
    ],
  );
  assert.ok(rows.every(({ user_id }) => user_id === member.id));
});
