import assert from "node:assert/strict";
import { test } from "node:test";
import { because } from "../../../contract/causes/causes.ts";
import { call, startTestApp } from "../../../test/support/app.ts";
import { makeRecording, makeUser, makeWorkspace, unknownId } from "../../../test/support/factories.ts";
import { dataTools } from "../recordings/test/recordings.ts";

const app = await startTestApp();
const { manage, read, list, eventsOf, makeViewer } = dataTools(app);
const workspace = await makeWorkspace(app.db);
const { admin, member } = workspace;
const viewer = await makeViewer(workspace);

const start = "2026-05-01T10:00:00.000Z";
const make = async (attributes: object = {}) =>
  (await makeRecording(app, member.token, { start_datetime: start, ...attributes })).recordingId;
const add = (recordingId: string, body: object, token = member.token) =>
  manage("POST", `/recordings/${recordingId}/participants`, token, body);
const typeOf = async (recordingId: string) => (await read(recordingId, member.token)).body.meeting_type;
const textOf = async (recordingId: string) =>
  (await call(app, "GET", `/recordings/${recordingId}/transcript.txt`, undefined, { token: member.token }))
    .text;

test("create, change, delete: shown by the contract with observed times and contact, one event each", async () => {
  const recordingId = await make();
  const created = await add(recordingId, {
    name: " Ada ",
    email: "ada@else.example",
    phone: "+44 1",
    crm_contact_id: "c-1",
    confirmed_attendee: true,
    observed_join_time: "2026-05-01T10:00:05Z",
    observed_leave_time: "2026-05-01T10:00:09Z",
  });
  assert.equal(created.status, 200, created.text);
  const { phone, attended, is_invited, lacks_access, ...shown } = created.body;
  assert.deepEqual([phone, attended, shown.name, shown.scope], ["+44 1", true, "Ada", "external"]);
  assert.deepEqual([is_invited, lacks_access], [false, false]);
  const participants = async () =>
    (await read(recordingId, member.token, { participants: true, crm: true })).body.participants;
  assert.deepEqual(await participants(), [shown]);

  const path = `/recordings/${recordingId}/participants/${shown.id}`;
  const changed = await manage("PATCH", path, member.token, {
    email: null,
    crm_contact_id: null,
    observed_leave_time: null,
    attended: false,
  });
  assert.equal(changed.status, 200, changed.text);
  assert.deepEqual(await participants(), [
    { ...shown, email: null, scope: "unknown", crm_contact_id: null, observed_leave_time: null },
  ]);
  assert.equal((await manage("PATCH", path, member.token, { email: null })).status, 200);
  assert.deepEqual((await manage("DELETE", path, member.token)).body, { success: true });
  assert.deepEqual(await participants(), []);
  assert.equal((await manage("DELETE", path, member.token)).status, 404);
  assert.deepEqual(await eventsOf(recordingId), [
    "recording_added",
    "recording_updated",
    "recording_updated",
    "recording_updated",
  ]);
});

test("scope and meeting type follow the participants, and the filters of List Recordings with them", async () => {
  const recordingId = await make();
  const inside = async () =>
    (await list(member.token, { participant_scope: "internal" })).includes(recordingId);
  const outside = async () =>
    (await list(member.token, { participant_scope: "external" })).includes(recordingId);
  const before = await typeOf(recordingId);
  assert.deepEqual([before.scope, await inside(), await outside()], ["internal", true, false]);

  const { body: guest } = await add(recordingId, { email: "guest@else.example" });
  assert.equal(guest.name, "guest@else.example");
  const type = await typeOf(recordingId);
  assert.deepEqual([type.scope, await inside(), await outside()], ["external", false, true]);
  assert.ok((await list(member.token, { meeting_type: type.id })).includes(recordingId));
  assert.ok(!(await list(member.token, { meeting_type: before.id })).includes(recordingId));

  const path = `/recordings/${recordingId}/participants/${guest.id}`;
  await manage("PATCH", path, member.token, { email: `someone@${workspace.domain}` });
  assert.deepEqual(
    [(await typeOf(recordingId)).id, await inside(), await outside()],
    [before.id, true, false],
  );

  const types = (await manage("GET", "/meeting_types", admin.token)).body.meeting_types;
  const chosen = types.find((one: { name: string }) => one.name === "Retrospective");
  await manage("PATCH", `/recordings/${recordingId}`, member.token, { meeting_type_id: chosen.id });
  await manage("PATCH", path, member.token, { email: "guest@else.example" });
  assert.deepEqual([(await typeOf(recordingId)).id, await outside()], [chosen.id, true]);
  await manage("PATCH", `/recordings/${recordingId}`, member.token, { meeting_type_id: "auto" });
  assert.equal((await typeOf(recordingId)).id, type.id);
  await manage("DELETE", path, member.token);
  assert.deepEqual([(await typeOf(recordingId)).id, await inside()], [before.id, true]);
});

test("a participant who is a user sees the recording, and attendance goes by attended", async () => {
  const recordingId = await make();
  const user = await makeUser(app.db, workspace);
  const attended = async () => list(user.token, { attendance: "attended" });
  assert.deepEqual(await attended(), []);
  const { body } = await add(recordingId, { name: "U", email: user.email.toUpperCase() });
  assert.equal(body.scope, "internal");
  assert.deepEqual(await attended(), [recordingId]);
  const path = `/recordings/${recordingId}/participants/${body.id}`;
  await manage("PATCH", path, member.token, { attended: false });
  assert.deepEqual([await attended(), await list(user.token, {})], [[], [recordingId]]);
  await manage("DELETE", path, member.token);
  assert.deepEqual(await list(user.token, {}), []);
});

test("an invited participant is said to lack access only where a user lacks it, and gets it once they attended", async () => {
  const recordingId = await make();
  const [invited, sees, gone] = [
    await makeUser(app.db, workspace),
    await makeUser(app.db, workspace),
    await makeUser(app.db, workspace),
  ];
  const emails = [invited.email.toUpperCase(), sees.email, gone.email, "guest@else.example"];
  for (const email of emails) await add(recordingId, { name: email, email });
  await app.db.pool.query(
    "update participants set is_invited = true, attended = false where recording_id = $1",
    [recordingId],
  );
  await app.db.pool.query("update users set deactivated_at = now() where id = $1", [gone.id]);
  const share = { user_id: sees.id };
  const shared = await call(app, "PUT", `/recordings/${recordingId}/users`, share, { token: member.token });
  assert.equal(shared.status, 200, shared.text);
  const view = async () =>
    (await manage("GET", `/recordings/${recordingId}`, member.token)).body.participants;
  const people = await view();
  assert.deepEqual(
    people.map((one: { is_invited: boolean; lacks_access: boolean }) => [one.is_invited, one.lacks_access]),
    [
      [true, true],
      [true, false],
      [true, false],
      [true, false],
    ],
  );
  assert.deepEqual(await list(invited.token, {}), [], "what is said of access is so");
  const path = `/recordings/${recordingId}/participants/${people[0].id}`;
  const confirmed = await manage("PATCH", path, member.token, { attended: true });
  assert.deepEqual([confirmed.body.is_invited, confirmed.body.lacks_access], [false, false]);
  assert.deepEqual(await list(invited.token, {}), [recordingId]);
});

test("returns all violations at once: a name, an email, times in order and near the recording", async () => {
  const recordingId = await make();
  const nobody = await add(recordingId, { crm_contact_id: "x" });
  assert.deepEqual(
    [nobody.status, nobody.body.violations],
    [400, [{ pointer: "", ...because("person_without_data") }]],
  );
  const wrong = await add(recordingId, {
    email: "not an email",
    attended: "yes",
    observed_join_time: "2026-05-04T10:00:00Z",
  });
  assert.deepEqual(wrong.body.violations.map((one: { pointer: string }) => one.pointer).sort(), [
    "/attended",
    "/email",
    "/observed_join_time",
  ]);
  const order = await add(recordingId, {
    name: "A",
    observed_join_time: "2026-05-01T10:00:09Z",
    observed_leave_time: "2026-05-01T10:00:09Z",
  });
  assert.deepEqual(order.body.violations, [
    { pointer: "/observed_leave_time", ...because("not_after_join") },
  ]);
  const { body } = await add(recordingId, { name: "A", observed_leave_time: "2026-05-01T10:00:09Z" });
  const path = `/recordings/${recordingId}/participants/${body.id}`;
  const late = await manage("PATCH", path, member.token, { observed_join_time: "2026-05-01T10:00:10Z" });
  assert.deepEqual(late.body.violations, [
    { pointer: "/observed_join_time", ...because("not_before_leave") },
  ]);
  const unnamed = await manage("PATCH", path, member.token, { name: null });
  assert.deepEqual([unnamed.status, unnamed.body.violations[0].pointer], [400, "/name"]);
});

test("a new name renames the speaker, can be undone, and keeps the transcript version if the participant never speaks", async () => {
  const recordingId = await make({ participants: [{ name: "Ada", speaker_key: "s1" }, { name: "Silent" }] });
  const { body: view } = await manage("GET", `/recordings/${recordingId}`, member.token);
  const [ada, silent] = view.participants;
  const path = `/recordings/${recordingId}/participants`;
  await manage("PATCH", `${path}/${silent.id}`, member.token, { name: "Sil" });
  assert.equal(
    (await manage("GET", `/recordings/${recordingId}/transcript`, member.token)).body.transcript_version,
    0,
  );
  await manage("PATCH", `${path}/${ada.id}`, member.token, { name: "Ada L." });
  assert.match(await textOf(recordingId), /^Ada L\.: Good/);
  const undone = await manage("POST", `/recordings/${recordingId}/transcript/undo`, member.token, {
    transcript_version: 1,
  });
  assert.equal(undone.status, 200, undone.text);
  assert.match(await textOf(recordingId), /^Ada: Good/);
  const after = await read(recordingId, member.token, { participants: true });
  assert.deepEqual(
    after.body.participants.map((one: { name: string }) => one.name),
    ["Ada", "Sil"],
  );
});

test("delete: words stay under the name, screenshares and action items let go of the person", async () => {
  const recordingId = await make({ participants: [{ name: "Ada", speaker_key: "s1" }] });
  const [ada] = (await manage("GET", `/recordings/${recordingId}`, member.token)).body.participants;
  await manage("PATCH", `/recordings/${recordingId}`, member.token, {
    screenshares: [{ start: 0, end: 10, participant_id: ada.id }],
  });
  const items = [
    { status: "pending", timestamp: 0, text: "Sign", assignee: { id: ada.id, name: "Ada", user_id: null } },
  ];
  await app.db.pool.query("update recordings set ai_action_items = $2 where id = $1", [
    recordingId,
    JSON.stringify(items),
  ]);
  assert.match(await textOf(recordingId), /^Ada: Good/);
  await manage("DELETE", `/recordings/${recordingId}/participants/${ada.id}`, member.token);
  assert.match(await textOf(recordingId), /^Ada: Good/);
  const entries = await call(app, "GET", `/recordings/${recordingId}/transcript`, undefined, {
    token: member.token,
  });
  assert.equal(entries.body[0].participant_id, null);
  const { body } = await read(recordingId, member.token, { screenshares: true, ai_action_items: true });
  assert.deepEqual(body.screenshares, []);
  assert.equal(body.ai_action_items[0].assignee, null);
});

test("rights: as for every change of a recording; and at most 500 participants", async () => {
  const recordingId = await make();
  const other = await makeUser(app.db, workspace);
  assert.equal((await add(recordingId, { name: "A" }, other.token)).status, 404);
  await manage("PATCH", `/recordings/${recordingId}`, member.token, { share_state: "workspace" });
  assert.equal((await add(recordingId, { name: "A" }, other.token)).status, 403);
  assert.equal((await add(recordingId, { name: "A" }, viewer.token)).status, 403);
  const path = `/recordings/${recordingId}/participants/${unknownId()}`;
  for (const method of ["PATCH", "DELETE"]) {
    assert.equal((await manage(method, path, other.token, {})).status, 403);
    assert.equal((await manage(method, path, member.token, {})).status, 404);
  }
  await app.db.pool.query(
    `insert into participants (id, recording_id, workspace_id, position, name, scope, confirmed_attendee, attended)
     select gen_random_uuid(), $1, $2, n, 'P', 'unknown', false, true from generate_series(0, 499) n`,
    [recordingId, workspace.id],
  );
  const full = await add(recordingId, { name: "A" });
  assert.deepEqual([full.status, full.body.error], [409, "wrong_state"]);
});
