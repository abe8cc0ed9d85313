import assert from "node:assert/strict";
import { test } from "node:test";
import { withoutExtension } from "./download-name.ts";
import { titleOfPath } from "./recording-title.ts";
import { titleInFile } from "./title-in-file.ts";

test("a title is the file's name without extension, or the folder's where files are only numbered", () => {
  const cases: readonly [path: string, title: string, isZoom?: boolean][] = [
    ["meeting.mp4", "meeting"],
    ["a/b/Board, May.MTS", "Board, May"],
    ["Budget v1.2", "Budget v1.2"],
    ["Budget v1.2.mp4", "Budget v1.2"],
    ["talk.final.mp4", "talk.final"],
    ["Weekly/00012.mts", "Weekly"],
    ["2026-03-04 10.15.22 Weekly/video1234567890.mp4", "Weekly", true],
    ["00012.mts", "00012"],
    ["Gespräch é.mp3", "Gespräch é"],
  ];
  for (const [path, title, isZoom] of cases) assert.equal(titleOfPath(path, isZoom), title, path);
});

test("a title stored in a file counts unless it is a program's name", () => {
  for (const title of [
    "Board meeting",
    "Zoom integration review",
    "Video strategy",
    "会議",
    "Recording of the board",
  ])
    assert.equal(titleInFile(title), title);
  for (const program of [
    ...[
      "Zoom Meeting",
      "OBS Studio",
      "Lavf60.3.100",
      "Core Media Video",
      "VideoHandler",
      "Chrome",
      "Untitled 3",
    ],
    ...[
      "Screen Recording",
      "Recording 12",
      "2026-03-04 10:15",
      "",
      "  ",
      "QuickTime Player",
      "Track 01",
      "Teams",
    ],
  ])
    assert.equal(titleInFile(program), undefined, program);
  assert.equal(titleInFile("Acme Recorder Pro", "Acme Recorder Pro"), undefined);
  assert.equal(titleInFile("Kick\u0000off.mp4"), "Kick off");
  for (const name of ["Kickoff.mka", "Kickoff.m2ts", "Kickoff.WMA"])
    assert.equal(titleInFile(name), "Kickoff");
  assert.equal(titleInFile("Version 2.final"), "Version 2.final");
  assert.equal(titleInFile("x".repeat(3000))?.length, 500);
});

test("the name of a download repeats no extension", () => {
  assert.equal(withoutExtension("talk.mp4", "mp4"), "talk");
  assert.equal(withoutExtension("TALK.MP4 ", "mp4"), "TALK");
  for (const title of ["talk", "talk.mp3", "talkmp4", ".mp4", "mp4", ""])
    assert.equal(withoutExtension(title, "mp4"), title);
});
