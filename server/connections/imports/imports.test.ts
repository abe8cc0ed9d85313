import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { call, everyVersion, startTestApp } from "../../../test/support/app.ts";
import {
  makeTeam,
  makeUser,
  makeWorkspace,
  sampleTranscript,
  unknownId,
} from "../../../test/support/factories.ts";
import { until } from "../../../test/support/until.ts";
import { recordingsPrefix, uploadFileKey } from "../../platform/storage/layout.ts";
import { encodeFile } from "../../processing/media/test/encode.ts";
import { validateUploadJob } from "../../processing/uploads/promotion/validate-file.ts";
import { dataTools } from "../../recordings/recordings/test/recordings.ts";
import { fetchImportJob } from "./fetch.ts";

const app = await startTestApp({
  env: { PARLEY_SWEEP_INTERVAL: "200ms" },
  recurring: ["continue_imports"],
});
const { manage, read, list, eventsOf, makeViewer } = dataTools(app);
const workspace = await makeWorkspace(app.db);
const { admin, member } = workspace;
const stranger = await makeWorkspace(app.db);
const viewer = await makeViewer(workspace);

const folder = `imports/${workspace.id}`;
const fixture = (name: string): Buffer =>
  readFileSync(new URL(`../../../test/fixtures/media/${name}`, import.meta.url));
const bring = (body: object, token: string | null = member.token) =>
  manage("POST", "/recordings", token, body);
const words = { transcript: sampleTranscript };
const reach = (url: string): string => url.replace("http://parley.test", app.url);

/** Waits until an import has succeeded or failed. */
const ended = (id: string, token = member.token) =>
  until(
    `import ${id} has ended`,
    async () => {
      const { body } = await manage("GET", `/imports/${id}`, token);
      return ["success", "failure"].includes(body.status) ? body : undefined;
    },
    60_000,
  );

async function faults(body: object, token = workspace.token): Promise<string[]> {
  const answer = await bring(body, token);
  assert.equal(answer.status, 400, answer.text);
  return answer.body.violations.map((one: { pointer: string }) => one.pointer).sort();
}

test("a transcript import with every attribute shows all fields of the contract in both versions", async () => {
  const team = await makeTeam(app.db, workspace, []);
  const types = (await manage("GET", "/meeting_types", admin.token)).body.meeting_types;
  const type = types.find((one: { name: string }) => one.name === "Sales Call");
  const answer = await bring(
    {
      external_id: "crm-1",
      title: "Old call",
      start_datetime: "2019-03-01T10:00:00+01:00",
      source: "aircall",
      share_state: "workspace",
      tags: ["old", "old"],
      team_ids: [team.id],
      recorder_ids: [member.id],
      meeting_type_id: type.id,
      calendar_event: { ical_uid: "u", scheduled_end_datetime: "2019-03-01T11:00:00Z" },
      crm: { crm_deal_ids: ["d"] },
      participants: [
        {
          name: "Ada",
          email: "ada@else.example",
          speaker_key: "s1",
          crm_contact_id: "c",
          observed_join_time: "2019-03-01T09:00:01Z",
        },
        { email: member.email, attended: false, confirmed_attendee: true },
      ],
      screenshares: [{ start: 0, end: 12_000, participant: 1 }],
      ...words,
    },
    workspace.token,
  );
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual([answer.body.created, answer.body.external_id, answer.body.upload], [true, "crm-1", null]);
  const { recording_id: id } = await ended(answer.body.id, workspace.token);
  const { body } = await read(id, member.token, {
    participants: true,
    crm: true,
    calendar_event: true,
    screenshares: true,
  });
  assert.deepEqual(
    [body.title, body.start_datetime, body.end_datetime, body.source, body.share_state, body.tags],
    ["Old call", "2019-03-01T09:00:00.000Z", "2019-03-01T09:00:12.000Z", "aircall", "workspace", ["old"]],
  );
  assert.deepEqual([body.teams, body.meeting_type.id], [[{ id: team.id, name: team.name }], type.id]);
  assert.deepEqual(body.calendar_event, {
    ical_uid: "u",
    scheduled_start_datetime: null,
    scheduled_end_datetime: "2019-03-01T11:00:00.000Z",
  });
  assert.deepEqual(body.crm, { crm_company_ids: [], crm_deal_ids: ["d"] });
  const [ada, other] = body.participants;
  assert.deepEqual(
    [ada.scope, ada.crm_contact_id, ada.observed_join_time, ada.observed_leave_time, ada.confirmed_attendee],
    ["external", "c", "2019-03-01T09:00:01.000Z", null, true],
  );
  assert.deepEqual([other.name, other.scope, other.confirmed_attendee], [member.email, "internal", true]);
  assert.deepEqual(body.screenshares, [{ start: 0, end: 12_000, participant_id: other.id }]);
  assert.ok((await list(member.token, { participant_scope: "external" })).includes(id));
  assert.ok((await list(member.token, { meeting_type: type.id })).includes(id));
  assert.ok((await list(member.token, { attendance: "hosted" })).includes(id));
  assert.ok(!(await list(member.token, { attendance: "attended" })).includes(id));
  assert.deepEqual(await eventsOf(id), ["recording_added"]);
  for (const version of everyVersion) {
    const txt = await call(app, "GET", `/recordings/${id}/transcript.txt`, undefined, {
      token: member.token,
      version,
    });
    assert.match(txt.text, /^Ada: Good morning/);
  }
  const view = (await manage("GET", `/recordings/${id}`, member.token)).body;
  assert.deepEqual(
    [view.external_id, view.upload_id, view.meeting_type_is_automatic],
    ["crm-1", answer.body.id, false],
  );
});

test("external_id: repeated and concurrent requests create one import; each user has their own ids", async () => {
  const body = { external_id: "twice", ...words };
  const answers = await Promise.all(Array.from({ length: 6 }, () => bring(body)));
  const ids = new Set(answers.map((answer) => answer.body.id));
  assert.equal(ids.size, 1);
  assert.equal(answers.filter((answer) => answer.body.created).length, 1);
  const [id = ""] = ids;
  const { recording_id } = await ended(id);
  const later = await bring({ external_id: " twice ", ...words, title: "Other" });
  assert.deepEqual(
    [later.body.id, later.body.created, later.body.status, later.body.recording_id],
    [id, false, "success", recording_id],
  );
  const other = await makeUser(app.db, workspace);
  const theirs = await bring(body, other.token);
  assert.equal(theirs.body.created, true);
  assert.equal((await manage("GET", `/imports/${id}`, other.token)).status, 404);
  const shared = { ...body, recorder_ids: [member.id] };
  assert.equal((await bring(shared, workspace.token)).body.created, true);
  assert.equal((await bring(shared, workspace.token)).body.created, false);
  // Once deleted, it may be imported again.
  await ended(theirs.body.id, other.token);
  await manage("DELETE", `/recordings/${recording_id}`, member.token);
  assert.equal((await bring(body)).body.created, true);
});

test("an uploaded file is converted to the stored form, even if an upload would refuse it", async () => {
  const answer = await bring({ media: { format: "mov" }, title: "Elsewhere", ...words });
  assert.equal(answer.status, 200, answer.text);
  const { url, headers } = answer.body.upload;
  const file = fixture("onestep-h264-aac.mov");
  assert.equal((await fetch(reach(url), { method: "PUT", body: file, headers })).status, 200);
  const { status, recording_id: id, failure } = await ended(answer.body.id);
  assert.equal(status, "success", failure?.reason);
  const { body } = await read(id, member.token);
  assert.deepEqual([body.media_type, body.source], ["video", "other"]);
  const media = (await manage("GET", `/recordings/${id}/media`, member.token)).body;
  assert.equal(media.media.content_type, "video/mp4");
  assert.ok(media.thumbnail_url && media.waveform_url && media.storyboard.sheets.length > 0);
  const stored = Buffer.from(await (await fetch(reach(media.media.url))).arrayBuffer());
  assert.equal(stored.subarray(4, 8).toString(), "ftyp");
});

test("a recording of a browser in WebM is converted, whatever format the import names", async () => {
  const path = join(await mkdtemp(join(tmpdir(), "parley-import-")), "recording.webm");
  encodeFile(path, {
    format: "webm",
    video: { codec: "libvpx-vp9" },
    audio: [{ codec: "libopus" }],
    options: { live: 1 },
  });
  const { body } = await bring({ media: { format: "mp4" }, title: "Recorded" });
  const sent = await fetch(reach(body.upload.url), {
    method: "PUT",
    headers: body.upload.headers,
    body: readFileSync(path),
  });
  assert.ok(sent.ok);
  await rm(dirname(path), { recursive: true });
  const { recording_id: id, failure } = await ended(body.id);
  assert.equal(failure, null);
  const recording = (await read(id, member.token)).body;
  assert.equal(recording.media_type, "video");
  assert.ok(Math.abs(recording.duration_ms - 12_000) < 300, recording.duration_ms);
});

test("a file in the store is validated and converted like any other, and stays where it is", async () => {
  await app.store.put(`${folder}/2019/tone.mp3`, fixture("good-cbr.mp3"));
  const answer = await bring(
    {
      media: { url: `${folder}/2019/tone.mp3` },
      participants: [{ name: "Ada" }],
      screenshares: [
        { start: 0, end: 9_999_999, participant: 0 },
        { start: 9_000_000, end: 9_999_999, participant: 0 },
      ],
    },
    admin.token,
  );
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.body.upload, null);
  const { status, recording_id: id, failure } = await ended(answer.body.id, admin.token);
  assert.equal(status, "success", failure?.reason);
  const { body } = await read(id, admin.token, { screenshares: true });
  assert.equal(body.media_type, "audio");
  assert.deepEqual(
    body.screenshares.map((share: { end: number }) => share.end),
    [body.duration_ms],
  );
  assert.ok(await app.store.head(`${folder}/2019/tone.mp3`));
  // It is not a link to the same file: later changes to it do not affect the recording.
  assert.equal(statSync(app.store.localPath(`${folder}/2019/tone.mp3`) ?? "").nlink, 1);
});

test("an invalid file in the store fails the import with the reason, stores nothing, and may be imported again", async () => {
  const key = `${folder}/bad.mp4`;
  await app.store.put(key, fixture("bad-short.mp4"));
  const body = { external_id: "bad", media: { url: key } };
  const first = await bring(body, admin.token);
  const failed = await ended(first.body.id, admin.token);
  assert.equal(failed.status, "failure");
  assert.match(failed.failure.reason, /10 s/);
  assert.equal(failed.recording_id, null);
  const { rows } = await app.db.pool.query("select planned_recording_id as id from uploads where id = $1", [
    first.body.id,
  ]);
  for await (const object of app.store.list(`${recordingsPrefix}${rows[0].id}/`)) assert.fail(object.key);
  await app.store.put(key, fixture("good-exactly-10s.mp4"));
  const second = await bring(body, admin.token);
  assert.deepEqual([second.body.created, second.body.id === first.body.id], [true, false]);
  assert.equal((await ended(second.body.id, admin.token)).status, "success");
});

test("a file removed from the store before it is fetched fails the import with that reason", async () => {
  const quiet = await startTestApp({ worker: false });
  const its = await makeWorkspace(quiet.db);
  const tools = dataTools(quiet);
  const key = `imports/${its.id}/gone.mp4`;
  await quiet.store.put(key, Buffer.from("x"));
  const { body } = await tools.manage("POST", "/recordings", its.admin.token, { media: { url: key } });
  await quiet.store.delete(key);
  await fetchImportJob(quiet, body.id);
  await fetchImportJob(quiet, body.id);
  await validateUploadJob(quiet, body.id);
  const after = (await tools.manage("GET", `/imports/${body.id}`, its.admin.token)).body;
  assert.equal(after.status, "failure");
  assert.match(after.failure.reason, /removed from the file store/);
});

test("killed between copying the file and recording it, the next run continues with the copy", async () => {
  const quiet = await startTestApp({ worker: false });
  const its = await makeWorkspace(quiet.db);
  const { manage: ask } = dataTools(quiet);
  const key = `imports/${its.id}/tone.mp3`;
  await quiet.store.put(key, fixture("good-cbr.mp3"));
  const { body } = await ask("POST", "/recordings", its.admin.token, { media: { url: key } });
  assert.equal(body.status, "awaiting");
  const copied = await quiet.store.put(uploadFileKey(body.id), fixture("good-cbr.mp3"));
  await fetchImportJob(quiet, body.id);
  assert.equal((await quiet.store.head(uploadFileKey(body.id)))?.etag, copied.etag);
  assert.equal((await ask("GET", `/imports/${body.id}`, its.admin.token)).body.status, "processing");
});

test("only objects below the workspace's own folder may be named, and no URL is ever fetched", async () => {
  await app.store.put(`imports/${stranger.id}/theirs.mp4`, Buffer.from("x"));
  for (const url of [
    "http://127.0.0.1/x.mp4",
    "https://example.com/imports/x.mp4",
    "file:///etc/passwd.mp4",
    "s3://bucket/imports/x.mp4",
    `s3://bucket/${folder}/x.mp4`,
    `imports/${stranger.id}/theirs.mp4`,
    "uploads/x/file.mp4",
    "recordings/x/media.mp4",
    `${folder}/../${stranger.id}/theirs.mp4`,
    `${folder}/.hidden.mp4`,
    `/${folder}/x.mp4`,
    `${folder}/nothing.mp4`,
    `${folder}/%2e%2e/x.mp4`,
    `${folder}/`,
  ])
    assert.ok((await faults({ media: { url, format: "mp4" } }, admin.token)).includes("/media/url"), url);
});

test("permissions: members send files and can't name objects in the store, viewers can't import", async () => {
  await app.store.put(`${folder}/there.mp4`, Buffer.from("x"));
  for (const name of ["there", "missing"]) {
    const refused = await bring({ media: { url: `${folder}/${name}.mp4` } });
    assert.deepEqual([refused.status, refused.body.error], [403, "forbidden"]);
  }
  assert.equal((await bring(words, viewer.token)).status, 403);
  assert.equal((await bring(words, null)).status, 401);
  const own = await bring(words);
  assert.equal((await manage("GET", `/imports/${own.body.id}`, stranger.token)).status, 404);
  assert.equal((await manage("GET", `/imports/${own.body.id}`, workspace.token)).status, 200);
  const { body: upload } = await call(
    app,
    "POST",
    "/uploads/create",
    { media_type: "transcript", attributes: words },
    { token: member.token },
  );
  assert.equal((await manage("GET", `/imports/${upload.id}`, member.token)).status, 404);
});

test("all violations are reported at once, in every part of the body", async () => {
  assert.deepEqual(await faults({}), ["/recorder_ids", "/transcript"]);
  assert.deepEqual(await faults({ media: { format: "exe" }, recorder_ids: [member.id] }), ["/media/format"]);
  assert.deepEqual(
    await faults({
      external_id: " ",
      title: 5,
      start_datetime: "2019-03-01T10:00:00Z",
      source: "phone",
      share_state: "secret",
      tags: ["a b"],
      team_ids: [unknownId()],
      recorder_ids: [stranger.member.id],
      meeting_type_id: unknownId(),
      calendar_event: { ical_uid: "" },
      crm: { crm_deal_ids: 1 },
      participants: [
        { phone: " " },
        { name: "A", email: "x" },
        { name: "B", observed_join_time: "2018-01-01T00:00:00Z" },
      ],
      screenshares: [
        { start: 0, end: 1, participant: 3 },
        { start: 5, end: 5, participant: 0 },
        { start: 0, end: 12_001, participant: 0 },
      ],
      ...words,
    }),
    [
      "/calendar_event/ical_uid",
      "/crm/crm_deal_ids",
      "/external_id",
      "/meeting_type_id",
      "/participants/0",
      "/participants/0/phone",
      "/participants/1/email",
      "/participants/2/observed_join_time",
      "/recorder_ids/0",
      "/screenshares/0/participant",
      "/screenshares/1/end",
      "/screenshares/2/end",
      "/share_state",
      "/source",
      "/tags/0",
      "/team_ids/0",
      "/title",
    ],
  );
});

test("an import is an upload: shown there as in the contract, with its events", async () => {
  const { body } = await bring({ participants: [{ name: "Ada", crm_contact_id: "c" }], ...words });
  await ended(body.id);
  const upload = await call(
    app,
    "POST",
    `/uploads/${body.id}`,
    { include: ["attributes"] },
    { token: member.token },
  );
  assert.equal(upload.status, 200, upload.text);
  assert.deepEqual(upload.body.attributes.participants, [
    { name: "Ada", email: null, phone: null, speaker_key: null },
  ]);
  const events = await eventsOf(body.id);
  assert.deepEqual([events[0], events.length > 2], ["upload_added", true]);
});
