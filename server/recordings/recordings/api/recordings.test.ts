import assert from "node:assert/strict";
import { test } from "node:test";
import { call, everyVersion, startTestApp } from "../../../../test/support/app.ts";
import {
  makeRecording,
  makeTeam,
  makeUser,
  makeWorkspace,
  unknownId,
} from "../../../../test/support/factories.ts";

const app = await startTestApp();
const workspace = await makeWorkspace(app.db);
const { admin, member } = workspace;
const stranger = await makeWorkspace(app.db);

async function get(recordingId: string, token: string, include: unknown = {}) {
  return call(app, "POST", `/recordings/${recordingId}`, { include }, { token });
}

async function updatedEvents(recordingId: string): Promise<number> {
  const rows = await app.db.kysely
    .selectFrom("events")
    .select("id")
    .where("subject_id", "=", recordingId)
    .where("type", "=", "recording_updated")
    .execute();
  return rows.length;
}

test("get: every field of the contract, in both versions", async () => {
  const team = await makeTeam(app.db, workspace, [], "Harbour");
  const { recordingId } = await makeRecording(app, member.token, {
    title: "Harbour contract",
    start_datetime: "2026-05-04T09:30:00Z",
    team_id: team.id,
    participants: [{ name: "Ida", email: `ida@${workspace.domain}`, speaker_key: "s1" }],
  });
  for (const version of everyVersion) {
    const { status, body } = await call(app, "POST", `/recordings/${recordingId}`, undefined, {
      token: member.token,
      version,
    });
    assert.equal(status, 200);
    assert.equal(body.meeting_type.scope, "internal");
    delete body.meeting_type;
    assert.deepEqual(body, {
      id: recordingId,
      title: "Harbour contract",
      start_datetime: "2026-05-04T09:30:00.000Z",
      end_datetime: "2026-05-04T09:30:12.000Z",
      duration_ms: 12_000,
      media_type: "transcript",
      source: "upload",
      share_state: "restricted",
      url: `http://parley.test/recordings/${recordingId}`,
      thumbnail_url: null,
      tags: [],
      teams: [{ id: team.id, name: "Harbour" }],
      workspace_shared: false,
      recorders: [{ id: member.id, name: member.name, email: member.email }],
    });
  }
});

test("get: what has no data yet comes back empty, and only what was asked for comes back", async () => {
  const { recordingId } = await makeRecording(app, member.token);
  const everything = {
    highlights: true,
    participants: true,
    ai_action_items: true,
    ai_summary: true,
    private_notes: true,
    calendar_event: true,
    crm: true,
    screenshares: true,
    ai_template_sections: { format: "markdown", allowed_sections: ["Risks"] },
  };
  const empty = {
    highlights: [],
    participants: [],
    ai_action_items: [],
    ai_summary: { text: "" },
    private_notes: null,
    calendar_event: null,
    crm: { crm_company_ids: [], crm_deal_ids: [] },
    screenshares: [],
    ai_template_sections: [],
  };
  const { body } = await get(recordingId, member.token, everything);
  for (const [name, value] of Object.entries(empty)) assert.deepEqual(body[name], value, name);
  const names = Object.keys(everything);
  const byArray = await get(recordingId, member.token, names);
  for (const [name, value] of Object.entries(empty)) assert.deepEqual(byArray.body[name], value, name);
  for (const name of names) {
    const alone = await get(recordingId, member.token, { [name]: true });
    assert.deepEqual(
      names.filter((other) => other in alone.body),
      [name],
    );
    const not = await get(recordingId, member.token, { [name]: false });
    assert.equal(name in not.body, false);
  }
});

test("get: participants with scope, attendance, and the recorder's participant_id", async () => {
  const { recordingId } = await makeRecording(app, member.token, {
    participants: [
      { name: "Member", email: member.email, speaker_key: "s1" },
      { name: "Guest", email: "guest@elsewhere.example", speaker_key: "silent" },
      { phone: "+47 000" },
    ],
  });
  const { body } = await get(recordingId, member.token, { participants: true, crm: true });
  assert.deepEqual(
    body.participants.map(({ id, ...rest }: { id: string }) => rest),
    [
      { name: "Member", email: member.email, scope: "internal", confirmed_attendee: true },
      { name: "Guest", email: "guest@elsewhere.example", scope: "external", confirmed_attendee: false },
      { name: "+47 000", email: null, scope: "unknown", confirmed_attendee: false },
    ].map((participant) => ({
      ...participant,
      observed_join_time: null,
      observed_leave_time: null,
      crm_contact_id: null,
    })),
  );
  assert.equal(body.recorders[0].participant_id, body.participants[0].id);
  assert.equal(body.meeting_type.scope, "external");
  const plain = await get(recordingId, member.token, { participants: true });
  assert.equal("crm_contact_id" in plain.body.participants[0], false);
});

test("get: private_notes are the caller's own, and a workspace token gets an error that says it has none", async () => {
  const { recordingId } = await makeRecording(app, member.token);
  await app.db.kysely
    .insertInto("private_notes")
    .values({ recording_id: recordingId, user_id: admin.id, text: "not yours" })
    .execute();
  assert.equal((await get(recordingId, member.token, { private_notes: true })).body.private_notes, null);
  const answer = await get(recordingId, workspace.token, { private_notes: true });
  assert.equal(answer.status, 400);
  assert.equal(answer.body.violations[0].pointer, "/include/private_notes");
});

test("every operation: unknown, malformed, foreign and invisible recordings are 404 alike", async () => {
  const { recordingId } = await makeRecording(app, member.token);
  const operations: [string, string, object?][] = [
    ["POST", ""],
    ["GET", "/transcript"],
    ["GET", "/transcript.txt"],
    ["GET", "/transcript.vtt"],
    ["GET", "/transcript.srt"],
    ["GET", "/download"],
    ["PATCH", "", { title: "x" }],
    ["PUT", "/tags", { tag: "x" }],
    ["DELETE", "/tags/x"],
    ["PUT", "/users", { user_id: member.id }],
    ["DELETE", `/users/${member.id}`],
    ["PUT", "/teams", { team_id: unknownId() }],
    ["DELETE", `/teams/${unknownId()}`],
  ];
  for (const [method, path, body] of operations) {
    for (const [id, token] of [
      [unknownId(), workspace.token],
      ["not-a-uuid", workspace.token],
      [recordingId, stranger.token],
      [recordingId, stranger.admin.token],
      [recordingId, admin.token],
    ]) {
      const answer = await call(app, method, `/recordings/${id}${path}`, body, { token: token ?? null });
      assert.equal(answer.status, 404, `${method} ${path}`);
      assert.equal(answer.body.error, "not_found");
    }
  }
});

test("change: who sees but did not record is refused with 403; recorders, admins who see, and workspace tokens may", async () => {
  const viewer = await makeUser(app.db, workspace);
  const { recordingId } = await makeRecording(app, member.token, {
    participants: [{ email: viewer.email }, { email: admin.email }],
  });
  const changes: [string, string, object?][] = [
    ["PATCH", "", { title: "Other" }],
    ["PUT", "/tags", { tag: "x" }],
    ["DELETE", "/tags/x"],
    ["PUT", "/users", { user_id: viewer.id }],
    ["DELETE", `/users/${viewer.id}`],
  ];
  for (const [method, path, body] of changes) {
    const refused = await call(app, method, `/recordings/${recordingId}${path}`, body, {
      token: viewer.token,
    });
    assert.equal(refused.status, 403, `${method} ${path}`);
  }
  assert.equal(await updatedEvents(recordingId), 0);
  for (const token of [member.token, admin.token, workspace.token]) {
    for (const [method, path, body] of changes)
      assert.equal(
        (await call(app, method, `/recordings/${recordingId}${path}`, body, { token })).status,
        200,
      );
  }
});

test("update: renames, and reports it once; a blank or missing title is refused", async () => {
  const { recordingId } = await makeRecording(app, member.token);
  const rename = (body: object) =>
    call(app, "PATCH", `/recordings/${recordingId}`, body, { token: member.token });
  assert.deepEqual((await rename({ title: "Ærlig talt" })).body, { success: true });
  await rename({ title: "Ærlig talt" });
  assert.equal((await get(recordingId, member.token)).body.title, "Ærlig talt");
  assert.equal(await updatedEvents(recordingId), 1);
  const found = await call(
    app,
    "POST",
    "/recordings",
    { filter: { title_search: "aerlig" } },
    { token: member.token },
  );
  assert.deepEqual(
    found.body.recordings.map((recording: { id: string }) => recording.id),
    [recordingId],
  );
  for (const body of [{}, { title: "  " }, { title: 5 }, { title: "a\0b" }, { title: "x".repeat(1001) }]) {
    const answer = await rename(body);
    assert.equal(answer.status, 400);
    assert.equal(answer.body.violations[0].pointer, "/title");
  }
});

test("tags: any language's letters and digits with dashes; each once, removed by its name", async () => {
  const { recordingId } = await makeRecording(app, member.token);
  const put = (tag: unknown) =>
    call(app, "PUT", `/recordings/${recordingId}/tags`, { tag }, { token: member.token });
  const good = ["q3", "größe", "日本-launch", "मीटिंग", "٣-أهداف", "Ünïcode", "a-", "7"];
  for (const tag of good) assert.equal((await put(tag)).status, 200, tag);
  assert.deepEqual((await get(recordingId, member.token)).body.tags, good);
  assert.equal(await updatedEvents(recordingId), good.length);
  await put("q3");
  await put("große".replace("o", "o\u0308")); // The same word, its ö written in two characters.
  assert.deepEqual(
    (await get(recordingId, member.token)).body.tags,
    [...good, "größe"].slice(0, good.length),
  );
  assert.equal(await updatedEvents(recordingId), good.length);
  for (const tag of ["", "-a", "a b", "a_b", "#a", "a.b", "😀", "a\n", null, 5, "x".repeat(201)]) {
    const answer = await put(tag);
    assert.equal(answer.status, 400, String(tag));
    assert.equal(answer.body.violations[0].pointer, "/tag");
  }
  for (const tag of good) {
    const path = `/recordings/${recordingId}/tags/${encodeURIComponent(tag)}`;
    assert.deepEqual((await call(app, "DELETE", path, undefined, { token: member.token })).body, {
      success: true,
    });
    // Once more is no error: it is gone as asked.
    assert.equal((await call(app, "DELETE", path, undefined, { token: member.token })).status, 200);
  }
  assert.deepEqual((await get(recordingId, member.token)).body.tags, []);
});

test("tags: twenty added at once are all there; more than 200 are refused", async () => {
  const { recordingId } = await makeRecording(app, member.token);
  const put = (tag: string) =>
    call(app, "PUT", `/recordings/${recordingId}/tags`, { tag }, { token: member.token });
  await Promise.all(Array.from({ length: 20 }, (_, index) => put(`t${index}`)));
  assert.equal(new Set((await get(recordingId, member.token)).body.tags).size, 20);
  await app.db.pool.query(
    "update recordings set tags = array(select 'x' || n from generate_series(1, 200) n) where id = $1",
    [recordingId],
  );
  const refused = await put("one-more");
  assert.equal(refused.status, 400);
  assert.match(refused.body.violations[0].detail, /200/);
});

test("share with a user: they see the recording until it is unshared; only users of the workspace can be given", async () => {
  const friend = await makeUser(app.db, workspace);
  const { recordingId } = await makeRecording(app, member.token);
  const share = (user_id: unknown) =>
    call(app, "PUT", `/recordings/${recordingId}/users`, { user_id }, { token: member.token });
  const unshare = (id: string) =>
    call(app, "DELETE", `/recordings/${recordingId}/users/${id}`, undefined, { token: member.token });
  assert.equal((await get(recordingId, friend.token)).status, 404);
  assert.deepEqual((await share(friend.id.toUpperCase())).body, { success: true });
  assert.equal((await get(recordingId, friend.token)).status, 200);
  assert.deepEqual((await unshare(friend.id)).body, { success: true });
  assert.equal((await get(recordingId, friend.token)).status, 404);
  assert.equal((await unshare(friend.id)).status, 200);
  assert.equal(await updatedEvents(recordingId), 2);
  for (const wrong of [unknownId(), stranger.member.id, "x", null]) {
    const answer = await share(wrong);
    assert.equal(answer.status, 400);
    assert.equal(answer.body.violations[0].pointer, "/user_id");
  }
  for (const wrong of [unknownId(), stranger.member.id, "x"])
    assert.equal((await unshare(wrong)).status, 404);
});

test("share with a team: its members see the recording until it is unshared; unsharing keeps other grants", async () => {
  const friend = await makeUser(app.db, workspace);
  const team = await makeTeam(app.db, workspace, [friend]);
  const foreign = await makeTeam(app.db, stranger);
  const { recordingId } = await makeRecording(app, member.token);
  const share = (team_id: unknown) =>
    call(app, "PUT", `/recordings/${recordingId}/teams`, { team_id }, { token: member.token });
  const unshare = (id: string) =>
    call(app, "DELETE", `/recordings/${recordingId}/teams/${id}`, undefined, { token: member.token });
  assert.deepEqual((await share(team.id)).body, { success: true });
  const seen = await get(recordingId, friend.token);
  assert.deepEqual(seen.body.teams, [team]);
  await call(app, "PUT", `/recordings/${recordingId}/users`, { user_id: friend.id }, { token: member.token });
  assert.deepEqual((await unshare(team.id)).body, { success: true });
  assert.equal((await get(recordingId, friend.token)).status, 200);
  await call(app, "DELETE", `/recordings/${recordingId}/users/${friend.id}`, undefined, {
    token: member.token,
  });
  assert.equal((await get(recordingId, friend.token)).status, 404);
  for (const wrong of [unknownId(), foreign.id, 5]) assert.equal((await share(wrong)).status, 400);
  for (const wrong of [unknownId(), foreign.id]) assert.equal((await unshare(wrong)).status, 404);
});

test("download: a transcript recording has no file, and the error says so", async () => {
  const { recordingId } = await makeRecording(app, member.token);
  const answer = await call(app, "GET", `/recordings/${recordingId}/download`, undefined, {
    token: member.token,
  });
  assert.equal(answer.status, 404);
  assert.match(answer.body.detail, /transcript/);
});
