import assert from "node:assert/strict";
import { test } from "node:test";
import { call, olderVersion, startTestApp } from "../../../../test/support/app.ts";
import {
  makeTeam,
  makeUser,
  makeWorkspace,
  sampleTranscript,
  unknownId,
  waitForRecording,
} from "../../../../test/support/factories.ts";
import { type Input, startUploads } from "../test/uploads.ts";

const { app, workspace, member, stranger, create, staged, events } = await startUploads();

test("list: a page with large transcripts ends early and continues with its cursor", async () => {
  const own = await makeWorkspace(app.db);
  const segments = Array.from({ length: 490 }, (_, index) => ({
    speaker_key: "a",
    start: index,
    end: index,
    text: "x".repeat(10_000),
  }));
  const count = 5;
  for (let index = 0; index < count; index++)
    await create(
      { auto_promote: false, attributes: { transcript: { language: "en", segments } } },
      own.member.token,
    );
  const list = (cursor?: string) =>
    call(app, "POST", "/uploads", { include: { transcript: true }, cursor }, { token: own.member.token });
  const first = await list();
  assert.ok(first.body.uploads.length >= 1 && first.body.uploads.length < count);
  const second = await list(first.body.cursor);
  const ids = [...first.body.uploads, ...second.body.uploads].map(({ id }: { id: string }) => id);
  assert.equal(new Set(ids).size, count);
  assert.equal(ids.length, count);
});

test("update: changes the given attributes and keeps the rest; each edit is reported", async () => {
  const team = await makeTeam(app.db, workspace);
  const { body } = await staged({ title: "Before", participants: [{ name: "Ann" }] });
  const update = (attributes: Input) =>
    call(
      app,
      "PATCH",
      `/uploads/${body.id}`,
      { attributes, include: { attributes: true } },
      { token: member.token },
    );
  const first = await update({ title: "After", team_id: team.id });
  assert.equal(first.status, 200);
  assert.deepEqual(first.body.attributes, {
    title: "After",
    start_datetime: null,
    team_id: team.id,
    recorder_ids: [member.id],
    participants: [{ name: "Ann", email: null, phone: null, speaker_key: null }],
  });
  assert.equal(first.body.status, "staged");
  const second = await update({
    team_id: null,
    start_datetime: "2026-01-02T03:04:05Z",
    participants: [],
    transcript: { language: "de", segments: [] },
  });
  assert.equal(second.body.attributes.team_id, null);
  assert.equal(second.body.attributes.start_datetime, "2026-01-02T03:04:05.000Z");
  assert.equal((await update({ title: "" })).body.title, "Transcript of 2 January 2026");
  assert.equal((await update({})).status, 200);
  assert.deepEqual(await events(body.id), [
    ["upload_added", "initial"],
    ["upload_updated", "staged"],
    ["upload_updated", "staged"],
    ["upload_updated", "staged"],
    ["upload_updated", "staged"],
  ]);
  const read = await call(
    app,
    "POST",
    `/uploads/${body.id}`,
    { include: { transcript: true } },
    { token: member.token },
  );
  assert.deepEqual(read.body.attributes.transcript, { language: "de", segments: [], anonymous_speakers: [] });
});

test("update: refused input changes nothing and reports nothing", async () => {
  const { body } = await staged({ title: "Before" });
  const answer = await call(
    app,
    "PATCH",
    `/uploads/${body.id}`,
    { attributes: { title: "After", team_id: unknownId() } },
    { token: member.token },
  );
  assert.equal(answer.status, 400);
  const read = await call(app, "POST", `/uploads/${body.id}`, {}, { token: member.token });
  assert.equal(read.body.title, "Before");
  assert.equal((await events(body.id)).length, 2);
});

test("promote: takes a staged upload to promoting and then to a recording, once", async () => {
  const { body } = await staged({ title: "Reviewed" });
  const promote = () =>
    call(
      app,
      "POST",
      `/uploads/${body.id}/promote`,
      { include: { attributes: true } },
      { token: member.token },
    );
  const promoted = await promote();
  assert.equal(promoted.status, 200);
  assert.equal(promoted.body.status, "promoting");
  assert.equal(promoted.body.attributes.title, "Reviewed");
  const again = await promote();
  assert.equal(again.status, 409);
  assert.equal(again.body.error, "wrong_state");
  const recordingId = await waitForRecording(app, member.token, body.id);
  const late = await call(
    app,
    "PATCH",
    `/uploads/${body.id}`,
    { attributes: { title: "Too late" } },
    { token: member.token },
  );
  assert.equal(late.status, 409);
  assert.deepEqual(await events(body.id), [
    ["upload_added", "initial"],
    ["upload_updated", "staged"],
    ["upload_updated", "promoting"],
    ["upload_updated", "success"],
  ]);
  const rows = await app.db.kysely
    .selectFrom("recordings")
    .select("id")
    .where("title", "=", "Reviewed")
    .execute();
  assert.deepEqual(rows, [{ id: recordingId }]);
});

test("promote: twenty concurrent requests create one recording", async () => {
  const { body } = await staged({ title: "Only once" });
  const answers = await Promise.all(
    Array.from({ length: 20 }, () =>
      call(app, "POST", `/uploads/${body.id}/promote`, {}, { token: member.token }),
    ),
  );
  assert.deepEqual(answers.map((answer) => answer.status).sort(), [200, ...Array(19).fill(409)]);
  await waitForRecording(app, member.token, body.id);
  assert.equal(
    (await app.db.kysely.selectFrom("recordings").select("id").where("title", "=", "Only once").execute())
      .length,
    1,
  );
});

test("list: newest first over pages, filtered by media type, with includes", async () => {
  const paged = await startTestApp({ env: { PARLEY_PAGE_SIZE: "2" }, worker: false });
  const own = await makeWorkspace(paged.db);
  const ids: string[] = [];
  for (let index = 0; index < 5; index++) {
    const created = await call(
      paged,
      "POST",
      "/uploads/create",
      { media_type: "transcript", auto_promote: false, attributes: { transcript: sampleTranscript } },
      { token: own.member.token },
    );
    ids.unshift(created.body.id);
  }
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    // Later pages are asked for by the cursor alone.
    const body: Input = cursor
      ? { cursor }
      : { filter: { media_type: "transcript" }, include: { transcript: true } };
    const page = await call(paged, "POST", "/uploads", body, { token: own.member.token });
    for (const upload of page.body.uploads) {
      seen.push(upload.id);
      assert.equal(upload.attributes.transcript.segments.length, 3);
    }
    cursor = page.body.cursor;
  } while (cursor !== null);
  assert.deepEqual(seen, ids);
  const videos = await call(
    paged,
    "POST",
    "/uploads",
    { filter: { media_type: "video" } },
    { token: own.member.token },
  );
  assert.deepEqual(videos.body, { uploads: [], cursor: null });
});

test("visibility: a personal token sees its own uploads, a workspace token all of its workspace, others none", async () => {
  const { body } = await staged();
  const other = await makeUser(app.db, workspace);
  const read = (token: string) => call(app, "POST", `/uploads/${body.id}`, {}, { token });
  assert.equal((await read(workspace.token)).status, 200);
  for (const token of [other.token, stranger.token, stranger.member.token]) {
    assert.equal((await read(token)).status, 404);
    for (const [method, path] of [
      ["PATCH", ""],
      ["POST", "/promote"],
    ] as const)
      assert.equal((await call(app, method, `/uploads/${body.id}${path}`, {}, { token })).status, 404);
    const listed = await call(app, "POST", "/uploads", {}, { token });
    assert.equal(
      listed.body.uploads.some((upload: { id: string }) => upload.id === body.id),
      false,
    );
  }
});

test("2025-10-31 has none of these operations, and responds with where they are", async () => {
  const { body } = await staged();
  for (const [method, path] of [
    ["POST", "/uploads/create"],
    ["POST", "/uploads"],
    ["POST", `/uploads/${body.id}`],
    ["PATCH", `/uploads/${body.id}`],
    ["POST", `/uploads/${body.id}/promote`],
  ] as const) {
    const answer = await call(app, method, path, {}, { token: member.token, version: olderVersion });
    assert.equal(answer.status, 404);
    assert.equal(answer.body.error, "not_in_version");
    assert.match(answer.body.detail, /2026-10-01/);
  }
});
