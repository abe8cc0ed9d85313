import assert from "node:assert/strict";
import { test } from "node:test";
import { timeInName } from "../../../shared/times/time-in-name.ts";
import { findStart } from "./start-time.ts";

const timeZone = "Europe/Berlin";

test("the start time is found in the names that Zoom, Meet, Teams, OBS and phones give", () => {
  const winter = "2026-03-04T09:15:22.000Z";
  const minute = "2026-03-04T09:15:00.000Z";
  for (const [name, expected] of [
    ["GMT20260304-091522_Recording_1920x1080.mp4", winter],
    ["2026-03-04 10.15.22 Weekly sync 123456789/video1234567.mp4", winter],
    ["Weekly sync - 2026_03_04 10_15 CET - Recording.mp4", minute],
    ["Weekly sync – 2026/03/04 10:15 GMT+1 – Recording", minute],
    ["abc-defg-hij (2026-03-04 at 04:15 GMT-5).mp4", minute],
    ["abc-defg-hij (2026-03-04 at 14:45 GMT+5:30).mp4", minute],
    ["Weekly sync - 2026_03_04 05_45 GMT-3_30 - Recording.mp4", minute],
    ["Weekly sync-20260304_091522UTC-Meeting Recording.mp4", winter],
    ["Weekly sync-20260304_101522-Meeting Recording.mp4", winter],
    ["2026-03-04 10-15-22.mkv", winter],
    ["Screen Recording 2026-03-04 at 10.15.22 AM.mov", winter],
    ["Screen Recording 2026-03-04 at 10.15.22\u202fAM.mov", winter],
    ["Screen Recording 2026-03-04 at 10.15.22\u00a0AM.mov", winter],
    ["VID_20260304_101522.mp4", winter],
    ["20260304_101522.mp4", winter],
    ["PXL_20260304_091522123.mp4", winter],
    ["WhatsApp Video 2026-03-04 at 10.15.22.mp4", winter],
    ["room-20260304T091522Z.mp4", winter],
    ["2026-03-04T09:15:22Z.mp4", winter],
    ["2026-03-04T09_15_22.123Z.mp4", winter],
    ["2026-03-04T10-15-22+0100.mp4", winter],
    ["2026-03-04T144522+05:30.mp4", winter],
    ["2026-03-04T10-15-22+01-00.mp4", winter],
    ["2026-03-04 10-15-22-10-30-00.mp4", winter],
    ["2026-03-04T04-15-22-0500.mp4", winter],
    ["2026-03-04 04.15.22 -05_00 Board.mp4", winter],
    ["2026-03-04_09-15-22_UTC.mp4", winter],
    ["2026-03-04 11-15-22 (EET).mkv", winter],
    ["rec-20260304101522.wav", winter],
    ["Aufnahme 04.03.2026 10.15.22.m4a", winter],
    // Neither zones nor halves of the day.
    ["2026-03-04 10-15-22 Estimate.mp4", winter],
    ["2026-03-04 10-15-22 Zoom.mp4", winter],
    ["2026-03-04 10-15 Ambulance.mp4", minute],
    ["2026-03-04 10-15-22-0002.mp4", winter],
    ["2026-03-04 1015-1130 Board.mp4", minute],
    ["2026-02-31 10-15-22 of 2026-03-04 10-15-22.mp4", winter],
    // Daylight saving time.
    ["2026-07-04 10-15-22.mkv", "2026-07-04T08:15:22.000Z"],
    ["Recording 2026-02-31 10-15-22.mkv", undefined],
    ["Budget 2026.mp4", undefined],
    ["call 20260304101.mp4", undefined],
    [`${"2026-03-".repeat(5000)}.mp4`, undefined],
  ] as const) {
    const found = timeInName(name, timeZone);
    assert.equal(
      found === undefined ? undefined : new Date(found).toISOString(),
      expected,
      name.slice(0, 80),
    );
  }
});

test("the container's time comes before the name's, and the name's before that of the last change", () => {
  const file = { name: "2026-03-04 10-15-22.mkv", modified: "2026-05-05T11:00:00.000Z", timeZone };
  const facts = { durationMs: 3_600_000 };
  assert.deepEqual(findStart({ ...facts, startedAt: "2026-01-01T00:00:00.000Z" }, file), {
    at: "2026-01-01T00:00:00.000Z",
    from: "container",
  });
  assert.deepEqual(findStart(facts, file), { at: "2026-03-04T09:15:22.000Z", from: "name" });
  assert.deepEqual(findStart(facts, { ...file, name: "board.mkv" }), {
    at: "2026-05-05T10:00:00.000Z",
    from: "modified",
  });
  assert.equal(
    findStart(facts, { name: "2099-03-04 10-15-22.mkv", modified: null, timeZone: null }),
    undefined,
  );
  assert.equal(findStart(facts, undefined), undefined);
});
