import assert from "node:assert/strict";
import { test } from "node:test";
import { call, everyVersion, startTestApp } from "../../../../test/support/app.ts";
import { makeRecording, makeWorkspace } from "../../../../test/support/factories.ts";
import { formatTranscript } from "./format.ts";

const app = await startTestApp();
const workspace = await makeWorkspace(app.db);

const participants = [{ name: "Åse <b>", email: `ase@${workspace.domain}`, speaker_key: "a" }];
const transcript = {
  language: "nb",
  // Out of order on purpose: the recording's transcript goes by time.
  segments: [
    { speaker_key: "b", start: 3_600_000, end: 3_600_000, text: "one hour in" },
    { speaker_key: "a", start: 0, end: 1500, text: "Tea & <cake> --> now?\n\nYes." },
    { speaker_key: "c", start: 61_001, end: 62_000, text: "Hm." },
  ],
};
const { recordingId } = await makeRecording(app, workspace.member.token, { participants, transcript });

async function read(suffix: string, version: string) {
  const path = `/recordings/${recordingId}/transcript${suffix}`;
  const answer = await call(app, "GET", path, undefined, { token: workspace.member.token, version });
  assert.equal(answer.status, 200);
  return answer;
}

for (const version of everyVersion) {
  test(`transcript JSON: in spoken order, anonymous speakers numbered in the order of the upload (${version})`, async () => {
    const { body } = await read("", version);
    const recording = await call(
      app,
      "POST",
      `/recordings/${recordingId}`,
      { include: { participants: true } },
      { token: workspace.member.token, version },
    );
    assert.deepEqual(body, [
      {
        participant_id: recording.body.participants[0].id,
        speaker: "Åse <b>",
        start: 0,
        end: 1500,
        text: "Tea & <cake> --> now?\n\nYes.",
      },
      { participant_id: null, speaker: "Unknown Speaker 2", start: 61_001, end: 62_000, text: "Hm." },
      {
        participant_id: null,
        speaker: "Unknown Speaker 1",
        start: 3_600_000,
        end: 3_600_000,
        text: "one hour in",
      },
    ]);
  });

  test(`transcript txt: one line per section (${version})`, async () => {
    const { text, headers } = await read(".txt", version);
    assert.match(headers.get("content-type") ?? "", /^text\/plain; charset=utf-8/);
    assert.equal(
      text,
      "Åse <b>: Tea & <cake> --> now? Yes.\nUnknown Speaker 2: Hm.\nUnknown Speaker 1: one hour in\n",
    );
  });

  test(`transcript vtt: WebVTT with numbered cues, voices and escapes (${version})`, async () => {
    const { text, headers } = await read(".vtt", version);
    assert.match(headers.get("content-type") ?? "", /^text\/vtt/);
    assert.equal(
      text,
      [
        "WEBVTT",
        "",
        "1",
        "00:00:00.000 --> 00:00:01.500",
        "<v Åse &lt;b&gt;>Tea &amp; &lt;cake&gt; --&gt; now? Yes.</v>",
        "",
        "2",
        "00:01:01.001 --> 00:01:02.000",
        "<v Unknown Speaker 2>Hm.</v>",
        "",
        "3",
        "01:00:00.000 --> 01:00:00.001",
        "<v Unknown Speaker 1>one hour in</v>",
        "",
      ].join("\n"),
    );
  });

  test(`transcript srt: numbered cues with a comma in the times (${version})`, async () => {
    const { text, headers } = await read(".srt", version);
    assert.match(headers.get("content-type") ?? "", /^application\/x-subrip/);
    assert.equal(
      text,
      [
        "1",
        "00:00:00,000 --> 00:00:01,500",
        "Åse <b>: Tea & <cake> --> now? Yes.",
        "",
        "2",
        "00:01:01,001 --> 00:01:02,000",
        "Unknown Speaker 2: Hm.",
        "",
        "3",
        "01:00:00,000 --> 01:00:00,001",
        "Unknown Speaker 1: one hour in",
        "",
      ].join("\n"),
    );
  });
}

test("transcript: a kept rendering is not shown once the recording is out of sight or has changed", async () => {
  const path = `/recordings/${recordingId}/transcript.txt`;
  const stranger = await makeWorkspace(app.db);
  assert.equal((await call(app, "GET", path, undefined, { token: stranger.token })).status, 404);
  await app.db.kysely.transaction().execute(async (tx) => {
    await tx
      .updateTable("transcript_segments")
      .set({ text: "Corrected." })
      .where("recording_id", "=", recordingId)
      .where("position", "=", 1)
      .execute();
    await tx
      .updateTable("recordings")
      .set((eb) => ({ transcript_version: eb("transcript_version", "+", 1) }))
      .where("id", "=", recordingId)
      .execute();
  });
  const { text } = await call(app, "GET", path, undefined, { token: workspace.member.token });
  assert.match(text, /Unknown Speaker 2: Corrected\./);
});

test("formats: an empty transcript is an empty text, and a valid WebVTT file", async () => {
  assert.equal(String(await formatTranscript("txt", [])), "");
  assert.equal(String(await formatTranscript("srt", [])), "");
  assert.equal(String(await formatTranscript("vtt", [])), "WEBVTT\n");
});

test("formats: times beyond a hundred hours keep their digits", async () => {
  const segment = { participant_id: null, speaker: "A", start: 400_000_007, end: 400_001_000, text: "x" };
  assert.match(String(await formatTranscript("vtt", [segment])), /111:06:40\.007 --> 111:06:41\.000/);
});
