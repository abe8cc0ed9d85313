import assert from "node:assert/strict";
import { test } from "node:test";
import { parseTimestamp, readTimestamp } from "../../../../shared/times/timestamp.ts";

test("every ISO 8601 form of a calendar date-time gives the same instant", () => {
  for (const text of [
    "2026-10-05T14:30:00Z",
    "2026-10-05T14:30Z",
    "2026-10-05t14:30z",
    "2026-10-05T14:30",
    "2026-10-05T16:30:00+02:00",
    "2026-10-05T16:30+02:00",
    "2026-10-05T16:30:00+0200",
    "2026-10-05T16:30+02",
    "2026-10-05T11:00:00-0330",
    "20261005T143000Z",
    "20261005T1430Z",
    "20261005T163000+0200",
    "20261005T1630+02:00",
    "2026-10-05T14:30:00,000Z",
    "2026-10-05T14:30,0Z",
    "2026-10-05T14,5Z",
    "2026-10-05T14.5Z",
  ])
    assert.equal(parseTimestamp(text)?.toISOString(), "2026-10-05T14:30:00.000Z", text);
});

test("fractions belong to the last unit given and are cut off below a millisecond", () => {
  for (const [text, expected] of [
    ["2026-10-05T14:30:00,57Z", "2026-10-05T14:30:00.570Z"],
    ["2026-10-05T14:30:00.9999Z", "2026-10-05T14:30:00.999Z"],
    ["2026-10-05T14:30:00.123456789123456789Z", "2026-10-05T14:30:00.123Z"],
    ["20261005T143000,29", "2026-10-05T14:30:00.290Z"],
    ["2026-10-05T14:30,25Z", "2026-10-05T14:30:15.000Z"],
    ["2026-10-05T14,123456789Z", "2026-10-05T14:07:24.444Z"],
  ] as const)
    assert.equal(parseTimestamp(text)?.toISOString(), expected, text);
});

test("a date alone is its midnight in UTC; years below 100 and leap days are kept", () => {
  for (const [text, expected] of [
    ["2026-10-05", "2026-10-05T00:00:00.000Z"],
    ["20261005", "2026-10-05T00:00:00.000Z"],
    ["2024-02-29", "2024-02-29T00:00:00.000Z"],
    ["2000-02-29", "2000-02-29T00:00:00.000Z"],
    ["0050-01-01T00:00Z", "0050-01-01T00:00:00.000Z"],
    ["0001-01-01T00:00Z", "0001-01-01T00:00:00.000Z"],
    ["9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"],
  ] as const)
    assert.equal(parseTimestamp(text)?.toISOString(), expected, text);
});

test("an invalid timestamp returns an error that names the problem", () => {
  for (const [text, problem] of [
    ["2026-02-29", /date that exists/],
    ["1900-02-29", /date that exists/],
    ["2026-04-31T10:00Z", /date that exists/],
    ["2026-13-01T10:00Z", /date that exists/],
    ["2026-00-10", /date that exists/],
    ["20261032", /date that exists/],
    ["2026-10-05T24:00:00Z", /hour 24.*next day/],
    ["2026-10-05T25:00Z", /between 00:00:00 and 23:59:59/],
    ["2026-10-05T14:60Z", /between 00:00:00 and 23:59:59/],
    ["2016-12-31T23:59:60Z", /leap second/],
    ["2026-10-05T14:30+24:00", /offset/],
    ["2026-10-05T14:30+02:60", /offset/],
    ["2026-W41-1", /week date/],
    ["2026W411T1030Z", /week date/],
    ["2026-278", /day of the year/],
    ["2026278T1430Z", /day of the year/],
    ["2026-10-05T14:30:00 02:00", /%2B/],
    ["0001-01-01T00:00+01:00", /years 1 to 9999/],
    ["9999-12-31T23:30-01:00", /years 1 to 9999/],
    ["0000-01-01", /years 1 to 9999/],
    ["", /ISO 8601/],
    ["2026", /ISO 8601/],
    ["2026-10", /ISO 8601/],
    ["2026-1005", /ISO 8601/],
    ["202610-05", /ISO 8601/],
    ["2026-10-05T14:3000Z", /ISO 8601/],
    ["2026-10-05T14:30:00.Z", /ISO 8601/],
    ["2026-10-05Z", /ISO 8601/],
    ["2026-10-05 14:30:00Z", /ISO 8601/],
    ["2026-10-05T14:30:00Zx", /ISO 8601/],
    ["2026-10-05T14:30:00Z\n", /ISO 8601/],
    ["+12026-10-05", /ISO 8601/],
    ["٢٠٢٦-١٠-٠٥", /ISO 8601/],
    [`2026-10-05T14:30:00.${"1".repeat(100_000)}Z`, /at most 64 characters/],
  ] as const) {
    const result = readTimestamp(text);
    assert.match("problem" in result ? result.problem : "accepted", problem, text.slice(0, 60));
  }
});
