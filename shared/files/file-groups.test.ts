import assert from "node:assert/strict";
import { test } from "node:test";
import { filesOf, groupFiles } from "./file-groups.ts";
import { titleOfPath } from "./recording-title.ts";

const found = (name: string) => ({ name });

/** The groups of files with these names, in short. */
function group(...names: readonly string[]) {
  return groupFiles(names.map(found)).map(({ main, tracks, transcript, chat, others }) => ({
    main: main.name,
    ...(tracks.length > 0 && { speakers: tracks.map(({ speaker }) => speaker) }),
    ...(transcript && { transcript: transcript.name }),
    ...(chat && { chat: chat.name }),
    ...(others.length > 0 && { others: others.map(({ name }) => name) }),
  }));
}

test("each media file is a recording, a file whose name tells nothing may be one, and others are left alone", () => {
  assert.deepEqual(
    group("a.mp4", "a.mov", "b.opus", "notes.txt", "parley.json", "c.vtt", "a.mp4.error.txt"),
    [{ main: "a.mov" }, { main: "a.mp4" }, { main: "b.opus" }, { main: "notes.txt" }],
  );
});

test("files that aren't complete yet are left alone; a transcript belongs to a recording without an extension too", () => {
  assert.deepEqual(
    group(
      "a.mp4.part",
      "b.crdownload",
      "c.TMP",
      ".d",
      "~$e.docx",
      "f.mp4~",
      "Talk",
      "Talk.vtt",
      "Talk chat.txt",
    ),
    [{ main: "Talk", transcript: "Talk.vtt", chat: "Talk chat.txt" }],
  );
  assert.deepEqual(group("Talk.mp4", "Talk.pdf", "Talk.vtt"), [
    { main: "Talk.mp4", transcript: "Talk.vtt" },
    { main: "Talk.pdf" },
  ]);
});

test("transcripts and chats with the name of a media file belong to it", () => {
  assert.deepEqual(group("Call.mp4", "call.VTT", "Call.cc.vtt", "Call.json", "Call chat.txt"), [
    { main: "Call.mp4", transcript: "call.VTT", chat: "Call chat.txt", others: ["Call.json", "Call.cc.vtt"] },
  ]);
  assert.deepEqual(group("a.mp4", "a.de.srt", "a.b.mp4", "a.b.srt", "chat.txt"), [
    { main: "a.b.mp4", transcript: "a.b.srt" },
    { main: "a.mp4", transcript: "a.de.srt" },
  ]);
  assert.deepEqual(group("a.mp4", "a.mp4.srt", "chat.txt"), [
    { main: "a.mp4", transcript: "a.mp4.srt", chat: "chat.txt" },
  ]);
});

test("a transcript belongs to a recording whose name is written with other code points, or in capitals", () => {
  const recording = "Gespräch é.mp3".normalize("NFD");
  const transcript = "GESPRÄCH É.vtt".normalize("NFC");
  assert.deepEqual(
    groupFiles([found(recording), found(transcript)]).map((group) => [
      group.main.name,
      group.transcript?.name,
    ]),
    [[recording, transcript]],
  );
});

test("captions of every format belong to their media file, those that name speakers before others", () => {
  assert.deepEqual(group("a.mp4", "a.sbv", "a.TTML", "a.ass", "b.mp3", "b.dfxp", "c.mp3", "c.ssa"), [
    { main: "a.mp4", transcript: "a.TTML", others: ["a.ass", "a.sbv"] },
    { main: "b.mp3", transcript: "b.dfxp" },
    { main: "c.mp3", transcript: "c.ssa" },
  ]);
});

test("the tracks that Zoom stores for each speaker belong to the mixed file", () => {
  const speakers = ["Ada Lovelace", "Grace"];
  const tracks = ["audioAdaLovelace11234567.m4a", "audioGrace21234567.m4a"];
  assert.deepEqual(group("zoom_0.mp4", "audio_only.m4a", "chat.txt", ...tracks), [
    { main: "zoom_0.mp4", speakers, chat: "chat.txt", others: ["audio_only.m4a"] },
  ]);
  assert.deepEqual(group("audio1234567.m4a", ...tracks.map((name) => `Audio Record/${name}`)), [
    { main: "audio1234567.m4a", speakers },
  ]);
  assert.deepEqual(group("meeting.mp4", ...tracks.map((name) => `Audio Record/${name}`)), [
    { main: "meeting.mp4", speakers },
  ]);
  assert.deepEqual(group("video1234567.mp4", ...tracks), [{ main: "video1234567.mp4", speakers }]);
});

test("files that only look like tracks are recordings", () => {
  assert.deepEqual(group("talk.mp4", "audiobook1.m4a"), [{ main: "talk.mp4" }, { main: "audiobook1.m4a" }]);
  assert.deepEqual(group("lecture.mp4", "audio1.m4a", "audioInterview1.m4a", "audioInterview2.m4a"), [
    { main: "lecture.mp4" },
    { main: "audio1.m4a" },
    { main: "audioInterview1.m4a" },
    { main: "audioInterview2.m4a" },
  ]);
  assert.deepEqual(group("audioAda1.m4a", "audioGrace2.m4a"), [
    { main: "audioAda1.m4a" },
    { main: "audioGrace2.m4a" },
  ]);
  assert.deepEqual(group("video1.mp4", "video2.mp4", "audio2.m4a"), [
    { main: "video1.mp4" },
    { main: "video2.mp4", others: ["audio2.m4a"] },
  ]);
});

test("the forms in which Zoom's cloud stores a meeting are one recording", () => {
  const meeting = "GMT20260304-101522_Recording";
  assert.deepEqual(
    group(
      ...[`${meeting}.m4a`, `${meeting}_gallery_1280x720.mp4`, `${meeting}_1280x720.mp4`],
      ...[`${meeting}.transcript.vtt`, `${meeting}.cc.vtt`, `${meeting}newChat.txt`],
    ),
    [
      {
        main: `${meeting}_1280x720.mp4`,
        transcript: `${meeting}.transcript.vtt`,
        chat: `${meeting}newChat.txt`,
        others: [`${meeting}_gallery_1280x720.mp4`, `${meeting}.m4a`, `${meeting}.cc.vtt`],
      },
    ],
  );
});

test("cloud meetings that began in the same second are separate recordings", () => {
  const time = "GMT20260304-101522";
  assert.deepEqual(
    group(
      ...[`${time}_Recording_1280x720.mp4`, `${time}_Recording_gallery_1280x720.mp4`],
      ...[`${time}_Recording_1280x720 (1).mp4`, `${time}_Recording (1).transcript.vtt`],
      `${time}_Recording.transcript.vtt`,
    ),
    [
      { main: `${time}_Recording_1280x720 (1).mp4`, transcript: `${time}_Recording (1).transcript.vtt` },
      {
        main: `${time}_Recording_1280x720.mp4`,
        transcript: `${time}_Recording.transcript.vtt`,
        others: [`${time}_Recording_gallery_1280x720.mp4`],
      },
    ],
  );
  assert.deepEqual(group(`${time}_Board_640x360.mp4`, `${time}_Sales_640x360.mp4`), [
    { main: `${time}_Board_640x360.mp4` },
    { main: `${time}_Sales_640x360.mp4` },
  ]);
  assert.deepEqual(group(`${time}_Recording_640x360.mp4`, `${time}_Recording_1280x720.mp4`), [
    { main: `${time}_Recording_1280x720.mp4` },
    { main: `${time}_Recording_640x360.mp4` },
  ]);
});

test("with more speakers than an import has parts, the mixed file is used, and no file is lost", () => {
  const tracks = Array.from({ length: 20 }, (_, index) => `audioS${String.fromCharCode(65 + index)}1.m4a`);
  const [only, ...rest] = groupFiles([found("zoom_0.mp4"), ...tracks.map(found)]);
  assert.deepEqual([rest.length, only?.tracks.length], [0, 0]);
  assert.equal(only && filesOf(only).length, 21);
});

test("recordings are named after their file, or after the folder where programs only number files", () => {
  const title = (name: string, folder: string) => {
    const [one] = groupFiles([found(name)]);
    return one && titleOfPath(`${folder}/${one.main.name}`, one.isZoom);
  };
  const folder = "Zoom/2026-03-04 10.15.22 Weekly planning";
  assert.equal(title("zoom_0.mp4", folder), "Weekly planning");
  assert.equal(title("video1234.mp4", folder), "Weekly planning");
  assert.equal(title("zoom_0.mp4", ""), "zoom_0");
  assert.equal(title("Board.v2.mp4", "Meetings"), "Board.v2");
});

test("names with very many extensions are grouped in time, and only the last three are compared", () => {
  const names = Array.from({ length: 20_000 }, (_, n) => `${"a.".repeat(100)}${n}.vtt`);
  const startedAt = performance.now();
  assert.deepEqual(group("a.mp4", ...names), [{ main: "a.mp4" }]);
  const took = performance.now() - startedAt;
  const plain = performance.now();
  group("a.mp4", ...names.map((name) => name.replaceAll(".", "-").replace("-vtt", ".vtt")));
  assert.ok(took < 10 * (performance.now() - plain) + 50, `${took} ms`);
  assert.deepEqual(group("Talk.v2.mp4", "talk.v2.mp4.en.vtt", "Talk.v2.transcript.en.srt"), [
    { main: "Talk.v2.mp4", transcript: "talk.v2.mp4.en.vtt", others: ["Talk.v2.transcript.en.srt"] },
  ]);
});
