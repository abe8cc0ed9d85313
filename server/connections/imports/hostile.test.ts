import assert from "node:assert/strict";
import { test } from "node:test";
import { startTestApp } from "../../../test/support/app.ts";
import {
  makeRecording,
  makeWorkspace,
  sampleTranscript,
  unknownId,
} from "../../../test/support/factories.ts";
import { isFullRun } from "../../../test/support/full.ts";
import { dataTools } from "../../recordings/recordings/test/recordings.ts";

const app = await startTestApp();
const { manage } = dataTools(app);
const workspace = await makeWorkspace(app.db);
const { admin } = workspace;

/** Values that are wrong nearly everywhere, or at the edge of what is valid. */
const hostile: readonly unknown[] = [
  null,
  true,
  "",
  " ",
  "x".repeat(5000),
  "\u0000",
  "\ud800",
  "'; drop table recordings; --",
  "0001-01-01T00:00:00Z",
  "9999-12-31T23:59:59Z",
  "+010000-01-01T00:00:00Z",
  0,
  -1,
  0.5,
  2_147_483_647,
  2_147_483_648,
  1e300,
  [],
  [null],
  [[]],
  Array.from({ length: 1100 }, () => unknownId()),
  {},
  { id: {} },
  unknownId(),
  unknownId().toUpperCase(),
];

/** One in so many bodies is sent, so that each position gets other values than its neighbours. */
const step = isFullRun ? 1 : 3;

/** Every way to put a hostile value at one position of a body. */
function* spoiled(body: unknown): Generator<unknown> {
  yield* hostile;
  if (typeof body !== "object" || body === null) return;
  for (const [name, value] of Object.entries(body)) {
    for (const inner of spoiled(value)) {
      if (Array.isArray(body)) yield body.map((entry, index) => (String(index) === name ? inner : entry));
      else yield { ...body, [name]: inner };
    }
  }
}

test("no body makes the server fail, whatever value is in any position", async () => {
  const { recordingId: id } = await makeRecording(app, admin.token, {
    participants: [{ name: "Ada", speaker_key: "s1" }],
  });
  const { participants } = (await manage("GET", `/recordings/${id}`, admin.token)).body;
  const ada = participants[0].id;
  const types = (await manage("GET", "/meeting_types", admin.token)).body.meeting_types;
  const person = {
    name: "A",
    email: "a@b.example",
    phone: "1",
    crm_contact_id: "c",
    attended: true,
    observed_join_time: "2026-01-01T00:00:00Z",
    observed_leave_time: "2026-01-01T00:00:01Z",
  };
  const data = {
    title: "T",
    start_datetime: "2026-01-01T00:00:00Z",
    source: "zoom",
    share_state: "public",
    tags: ["a"],
    team_ids: [unknownId()],
    recorder_ids: [admin.id],
    meeting_type_id: types[0].id,
    calendar_event: {
      ical_uid: "u",
      scheduled_start_datetime: "2026-01-01T00:00:00Z",
      scheduled_end_datetime: "2026-01-02T00:00:00Z",
    },
    crm: { crm_company_ids: ["c"], crm_deal_ids: ["d"] },
  };
  const version = { transcript_version: 0 };
  const calls: [method: string, path: string, body: object][] = [
    ["PATCH", `/recordings/${id}`, { ...data, screenshares: [{ start: 0, end: 1, participant_id: ada }] }],
    ["POST", `/recordings/${id}/participants`, person],
    ["PATCH", `/recordings/${id}/participants/${ada}`, person],
    ["PUT", `/recordings/${id}/private_notes`, { text: "t" }],
    ["POST", "/meeting_types", { name: "N", scope: "internal", is_default: true }],
    ["PATCH", `/meeting_types/${types[1].id}`, { name: "M", scope: "external", is_default: true }],
    ["POST", `/recordings/${id}/transcript/corrections`, { ...version, segments: [{ index: 0, text: "t" }] }],
    [
      "POST",
      `/recordings/${id}/transcript/speakers/rename`,
      { ...version, speaker: { participant_id: ada, name: "x" }, name: "n" },
    ],
    [
      "POST",
      `/recordings/${id}/transcript/speakers/merge`,
      { ...version, from: [{ name: "x" }], into: { participant_id: ada } },
    ],
    [
      "POST",
      `/recordings/${id}/transcript/assignments`,
      { ...version, from_index: 0, to_index: 1, indexes: [0], to: { name: "x" } },
    ],
    ["POST", `/recordings/${id}/transcript/undo`, { ...version, edit: 1 }],
    ["POST", `/recordings/${id}/transcription`, { edits: "keep" }],
    [
      "POST",
      "/recordings",
      {
        external_id: "e",
        media: { format: "mp4", url: "imports/x.mp4" },
        ...data,
        participants: [person],
        screenshares: [{ start: 0, end: 1, participant: 0 }],
        transcript: { language: "en", segments: [sampleTranscript.segments[0]] },
      },
    ],
  ];
  let count = 0;
  for (const [method, path, body] of calls) {
    const bodies = [...spoiled(body)].filter((_, index) => index % step === 0);
    for (let at = 0; at < bodies.length; at += 8)
      await Promise.all(
        bodies.slice(at, at + 8).map(async (wrong) => {
          const { status, text } = await manage(method, path, admin.token, wrong);
          assert.ok(status < 500, `${method} ${path} ${JSON.stringify(wrong)?.slice(0, 500)}: ${text}`);
        }),
      );
    count += bodies.length;
  }
  assert.ok(count > 1000, `${count} requests`);
});

test("malformed ids and parameters in URLs never cause a server error", async () => {
  const { recordingId: id } = await makeRecording(app, admin.token);
  for (const path of [
    `/recordings/${id}/transcript/edits?before=999999999`,
    `/recordings/${id}/transcript/edits?before=-1`,
    `/recordings/${id}/transcript/edits?before=1&before=2`,
    `/recordings/${id}/transcript/edits/999999999`,
    `/recordings/${id}/transcript/edits/99999999999999`,
    "/imports/x",
    `/imports/${unknownId()}`,
    "/recordings/x",
  ])
    assert.ok((await manage("GET", path, admin.token)).status < 500, path);
  for (const query of ["?reassign_to=x", "?reassign_to=", `?reassign_to=${unknownId()}`])
    assert.ok((await manage("DELETE", `/meeting_types/${unknownId()}${query}`, admin.token)).status < 500);
  for (const name of ["x", "..%2f..%2fmedia.mp4", "storyboard-99999.jpg", "waveform.json"])
    assert.ok((await fetch(`${app.url}/_/media/recordings/${id}/files/${name}`)).status < 500);
});
