import assert from "node:assert/strict";
import { test } from "node:test";
import { call, olderVersion, startTestApp } from "../../test/support/app.ts";
import {
  makeTeam,
  makeUser,
  makeWorkspace,
  sampleTranscript,
  unknownId,
  waitForRecording,
} from "../../test/support/factories.ts";

const app = await startTestApp();
const workspace = await makeWorkspace(app.db);
const { member } = workspace;
const stranger = await makeWorkspace(app.db);

// biome-ignore lint/suspicious/noExplicitAny: inputs here are often wrong on purpose.
type Input = Record<string, any>;

function create(input: Input, token = member.token) {
  return call(app, "POST", "/uploads/create", { media_type: "transcript", ...input }, { token });
}

function staged(attributes: Input = {}, token = member.token) {
  return create({ auto_promote: false, attributes: { transcript: sampleTranscript, ...attributes } }, token);
}

async function events(uploadId: string) {
  const rows = await app.db.kysely
    .selectFrom("events")
    .select(["type", "data"])
    .where("subject_id", "=", uploadId)
    .orderBy("id")
    .execute();
  return rows.map((row) => [row.type, (row.data as Record<string, unknown>).status]);
}

async function countUploads(): Promise<number> {
  const row = await app.db.kysely
    .selectFrom("uploads")
    .select((eb) => eb.fn.countAll<string>().as("count"))
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

test("create: every field of the contract; attributes and transcript only when asked for", async () => {
  const { status, body } = await staged({ title: "Budget", start_datetime: "2026-04-01T08:00:00+02:00" });
  assert.equal(status, 200);
  assert.deepEqual(Object.keys(body).sort(), [
    "auto_promote",
    "created_datetime",
    "id",
    "media_type",
    "recording_id",
    "status",
    "title",
    "updated_datetime",
  ]);
  assert.equal(body.status, "staged");
  assert.equal(body.auto_promote, false);
  assert.equal(body.recording_id, null);
  const read = (include: unknown) =>
    call(app, "POST", `/uploads/${body.id}`, { include }, { token: member.token });
  assert.deepEqual((await read({ attributes: true })).body.attributes, {
    title: "Budget",
    start_datetime: "2026-04-01T06:00:00.000Z",
    team_id: null,
    recorder_ids: [member.id],
    participants: [],
  });
  assert.deepEqual((await read(["transcript"])).body.attributes, {
    title: "Budget",
    transcript: {
      ...sampleTranscript,
      anonymous_speakers: [
        { speaker_key: "s1", name: "Unknown Speaker 1" },
        { speaker_key: "s2", name: "Unknown Speaker 2" },
      ],
    },
  });
});

test("create with auto_promote: becomes a recording by itself, and every step is reported once and in order", async () => {
  const { body } = await create({ attributes: { transcript: sampleTranscript } });
  assert.equal(body.status, "promoting");
  assert.equal(body.auto_promote, true);
  const recordingId = await waitForRecording(app, member.token, body.id);
  assert.deepEqual(await events(body.id), [
    ["upload_added", "initial"],
    ["upload_updated", "staged"],
    ["upload_updated", "promoting"],
    ["upload_updated", "success"],
  ]);
  const added = await app.db.kysely
    .selectFrom("events")
    .select("type")
    .where("subject_id", "=", recordingId)
    .execute();
  assert.deepEqual(added, [{ type: "recording_added" }]);
});

test("create: a title is generated when none is given, and a start time when none is known", async () => {
  const before = Date.now();
  for (const title of [undefined, null, "", "  "]) {
    const { body } = await create({
      attributes: { title, transcript: sampleTranscript, start_datetime: "2026-04-01T08:00:00Z" },
    });
    assert.equal(body.title, "Transcript of 1 April 2026");
  }
  const { body } = await create({ attributes: { transcript: sampleTranscript } });
  const recordingId = await waitForRecording(app, member.token, body.id);
  const recording = await call(app, "POST", `/recordings/${recordingId}`, {}, { token: member.token });
  const start = Date.parse(recording.body.start_datetime);
  assert.ok(start >= before - 1 && start <= Date.now() + 1);
});

test("create: a refused upload names every fault by its place and leaves nothing behind", async () => {
  const before = await countUploads();
  const foreignTeam = await makeTeam(app.db, stranger);
  const cases: [Input, string[], string?][] = [
    [{}, ["/attributes/transcript"]],
    [{ attributes: {} }, ["/attributes/transcript"]],
    [{ media_type: "slides" }, ["/media_type"]],
    [{ media_type: null }, ["/media_type"]],
    [{ auto_promote: "yes", attributes: [] }, ["/attributes", "/auto_promote"]],
    [
      { attributes: { transcript: sampleTranscript, start_datetime: "2999-01-01T00:00:00Z" } },
      ["/attributes/start_datetime"],
    ],
    [
      { attributes: { transcript: sampleTranscript, start_datetime: "2026-02-30T00:00:00Z" } },
      ["/attributes/start_datetime"],
    ],
    [
      {
        attributes: {
          transcript: sampleTranscript,
          participants: [{ speaker_key: "s1" }, { name: " ", email: "" }],
        },
      },
      ["/attributes/participants/0", "/attributes/participants/1"],
    ],
    [
      {
        attributes: {
          transcript: sampleTranscript,
          team_id: foreignTeam.id,
          recorder_ids: [member.id, stranger.member.id],
        },
      },
      ["/attributes/recorder_ids/1", "/attributes/team_id"],
    ],
    [{ attributes: { transcript: { segments: [] } } }, ["/attributes/transcript/language"]],
    [
      {
        attributes: {
          transcript: { language: "en", segments: [{ speaker_key: "a", start: 5, end: 4, text: "x" }] },
        },
      },
      ["/attributes/transcript/segments/0/end"],
    ],
    [
      {
        attributes: {
          transcript: { language: "en", segments: [{ speaker_key: "a", start: -1, end: 1.5, text: "x" }] },
        },
      },
      ["/attributes/transcript/segments/0/end", "/attributes/transcript/segments/0/start"],
    ],
    [
      {
        attributes: {
          transcript: {
            language: "en",
            segments: [{ speaker_key: "a", start: 0, end: 3_000_000_000, text: "x\0" }],
          },
        },
      },
      ["/attributes/transcript/segments/0/text"],
    ],
    [
      {
        attributes: {
          transcript: { language: "en", segments: [{ speaker_key: "a", start: 0, end: 1, text: "\ud800" }] },
        },
      },
      ["/attributes/transcript/segments/0/text"],
    ],
    // What the schema refuses and what the database does not know, in one answer.
    [
      {
        attributes: {
          start_datetime: new Date(Date.now() + 5000).toISOString(),
          participants: [{ speaker_key: "s1" }],
          recorder_ids: [stranger.member.id],
          team_id: foreignTeam.id,
        },
      },
      [
        "/attributes/participants/0",
        "/attributes/recorder_ids/0",
        "/attributes/start_datetime",
        "/attributes/team_id",
        "/attributes/transcript",
      ],
    ],
    [{ attributes: { transcript: sampleTranscript } }, ["/attributes/recorder_ids"], workspace.token],
    [
      { attributes: { transcript: sampleTranscript, recorder_ids: [] } },
      ["/attributes/recorder_ids"],
      workspace.token,
    ],
  ];
  for (const [input, pointers, token] of cases) {
    const answer = await create(input, token);
    assert.equal(answer.status, 400, JSON.stringify(input));
    assert.equal(answer.body.error, "invalid_input");
    assert.deepEqual(
      answer.body.violations.map((violation: { pointer: string }) => violation.pointer).sort(),
      pointers,
    );
  }
  assert.equal(await countUploads(), before);
});

test("create with a workspace token: the users named are the recorders", async () => {
  const other = await makeUser(app.db, workspace);
  const { body } = await create(
    {
      attributes: {
        transcript: sampleTranscript,
        recorder_ids: [other.id, member.id.toUpperCase(), other.id],
      },
    },
    workspace.token,
  );
  const recordingId = await waitForRecording(app, workspace.token, body.id);
  const recording = await call(app, "POST", `/recordings/${recordingId}`, {}, { token: other.token });
  assert.deepEqual(
    recording.body.recorders.map((recorder: { id: string }) => recorder.id),
    [other.id, member.id],
  );
});

test("create with a personal token that credits only others: whoever uploaded it keeps seeing it", async () => {
  const other = await makeUser(app.db, workspace);
  const { body } = await create({ attributes: { transcript: sampleTranscript, recorder_ids: [other.id] } });
  const recordingId = await waitForRecording(app, member.token, body.id);
  const read = await call(app, "POST", `/recordings/${recordingId}`, {}, { token: member.token });
  assert.deepEqual(
    read.body.recorders.map((recorder: { id: string }) => recorder.id),
    [other.id],
  );
});

test("create: null means absent for lists and the transcript, and emails are folded as the database does", async () => {
  const missing = await create({ attributes: { transcript: null, participants: null, recorder_ids: null } });
  assert.deepEqual(
    missing.body.violations.map((violation: { pointer: string }) => violation.pointer),
    ["/attributes/transcript"],
  );
  const participants = [
    { email: `ΟΔΟΣ@${workspace.domain}` },
    { email: `İpek@${workspace.domain.toUpperCase()}` },
    { email: "no email" },
  ];
  const { body } = await create({
    attributes: { transcript: sampleTranscript, participants, recorder_ids: null },
  });
  const recordingId = await waitForRecording(app, member.token, body.id);
  const read = await call(
    app,
    "POST",
    `/recordings/${recordingId}`,
    { include: { participants: true } },
    { token: member.token },
  );
  assert.deepEqual(
    read.body.participants.map((participant: { scope: string }) => participant.scope),
    ["internal", "internal", "unknown"],
  );
});

test("titles: the longest allowed, of letters that fold to many, is stored, found and renamed", async () => {
  const title = Array.from({ length: 500 }, (_, index) =>
    String.fromCodePoint(0x4e00 + ((index * 7919) % 20_000)),
  ).join("");
  const { body } = await create({ attributes: { title, transcript: sampleTranscript } });
  const recordingId = await waitForRecording(app, member.token, body.id);
  const found = await call(
    app,
    "POST",
    "/recordings",
    { filter: { title_search: title.slice(100, 110) } },
    { token: member.token },
  );
  assert.deepEqual(
    found.body.recordings.map((recording: { id: string }) => recording.id),
    [recordingId],
  );
  const renamed = await call(
    app,
    "PATCH",
    `/recordings/${recordingId}`,
    { title: "\ufdfa".repeat(500) },
    { token: member.token },
  );
  assert.equal(renamed.status, 200, renamed.text);
});

test("list: a page with large transcripts ends early and goes on with its cursor", async () => {
  const own = await makeWorkspace(app.db);
  const segments = Array.from({ length: 900 }, (_, index) => ({
    speaker_key: "a",
    start: index,
    end: index,
    text: "x".repeat(10_000),
  }));
  for (let index = 0; index < 3; index++)
    await create(
      { auto_promote: false, attributes: { transcript: { language: "en", segments } } },
      own.member.token,
    );
  const first = await call(
    app,
    "POST",
    "/uploads",
    { include: { transcript: true } },
    { token: own.member.token },
  );
  assert.equal(first.body.uploads.length, 1);
  const second = await call(
    app,
    "POST",
    "/uploads",
    { include: { transcript: true }, cursor: first.body.cursor },
    { token: own.member.token },
  );
  assert.equal(second.body.uploads.length, 1);
  assert.notEqual(second.body.uploads[0].id, first.body.uploads[0].id);
});

test("create: speakers are matched by speaker_key, the first participant that claims one; the others stay anonymous", async () => {
  const transcript = {
    language: "en",
    segments: ["x", "a", "y", "x", "b"].map((speaker_key, index) => ({
      speaker_key,
      start: index * 1000,
      end: index * 1000 + 500,
      text: `line ${index}`,
    })),
  };
  const participants = [
    { name: "Ann", speaker_key: "a" },
    { name: "Impostor", speaker_key: "a" },
    { email: "bo@elsewhere.example", speaker_key: "b" },
  ];
  const created = await create({ include: { transcript: true }, attributes: { transcript, participants } });
  assert.deepEqual(created.body.attributes.transcript.anonymous_speakers, [
    { speaker_key: "x", name: "Unknown Speaker 1" },
    { speaker_key: "y", name: "Unknown Speaker 2" },
  ]);
  const recordingId = await waitForRecording(app, member.token, created.body.id);
  const entries = await call(app, "GET", `/recordings/${recordingId}/transcript`, undefined, {
    token: member.token,
  });
  assert.deepEqual(
    entries.body.map((entry: { speaker: string }) => entry.speaker),
    ["Unknown Speaker 1", "Ann", "Unknown Speaker 2", "Unknown Speaker 1", "bo@elsewhere.example"],
  );
});

test("update: changes what is given and keeps the rest; each edit is reported", async () => {
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

test("promote: twenty at once make one recording", async () => {
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
    const body: Input = {
      filter: { media_type: "transcript" },
      include: { transcript: true },
      ...(cursor ? { cursor } : {}),
    };
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

test("visibility: a personal token sees its own uploads, a workspace token all of its workspace, nobody others'", async () => {
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

test("2025-10-31 has none of these operations, and says where they are", async () => {
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
