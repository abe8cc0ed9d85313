import assert from "node:assert/strict";
import { test } from "node:test";
import { call } from "../../../../test/support/app.ts";
import {
  makeTeam,
  makeUser,
  sampleTranscript,
  waitForRecording,
} from "../../../../test/support/factories.ts";
import { type Input, startUploads } from "../test/uploads.ts";

const { app, workspace, member, stranger, create, staged, events, countUploads } = await startUploads();

test("create: every field of the contract; attributes and transcript only when requested", async () => {
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

test("create: generates a title and a start time when none is given", async () => {
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
  const created = Date.parse(body.created_datetime);
  assert.ok(created >= before - 1 && created <= Date.now() + 1);
  assert.equal(Date.parse(recording.body.start_datetime), created - recording.body.duration_ms);
  assert.equal(Date.parse(recording.body.end_datetime), created, "a recording doesn't end in the future");
});

test("create: a refused upload lists every violation by its pointer and leaves nothing behind", async () => {
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
    [
      { attributes: { transcript: { language: "en", segments: Array(50_001).fill({}) } } },
      ["/attributes/transcript/segments"],
    ],
    // Violations of the schema and ids unknown to the database, in one response.
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

test("create with a personal token that credits only others: the uploader keeps access", async () => {
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

test("titles: the longest allowed, with letters that fold to several, is stored, found and renamed", async () => {
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

test("create: speakers are matched by speaker_key, the first participant that claims one; the others stay anonymous, under names that no participant has", async () => {
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
    // A name that an anonymous speaker would get.
    { name: "unknown speaker 1" },
  ];
  const created = await create({ include: { transcript: true }, attributes: { transcript, participants } });
  assert.deepEqual(created.body.attributes.transcript.anonymous_speakers, [
    { speaker_key: "x", name: "Unknown Speaker 2" },
    { speaker_key: "y", name: "Unknown Speaker 3" },
  ]);
  const recordingId = await waitForRecording(app, member.token, created.body.id);
  const entries = await call(app, "GET", `/recordings/${recordingId}/transcript`, undefined, {
    token: member.token,
  });
  assert.deepEqual(
    entries.body.map((entry: { speaker: string }) => entry.speaker),
    ["Unknown Speaker 2", "Ann", "Unknown Speaker 3", "Unknown Speaker 2", "bo@elsewhere.example"],
  );
});
