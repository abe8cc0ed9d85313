import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseBackups } from "./prune.ts";
import { lastDueTime } from "./schedule.ts";

test("a backup is due at its time of day, today or yesterday", () => {
  const at = (hour: number, minute: number, day = 22): Date => new Date(2026, 10, day, hour, minute);
  assert.deepEqual(lastDueTime(at(3, 0), 180), at(3, 0));
  assert.deepEqual(lastDueTime(at(23, 59), 180), at(3, 0));
  assert.deepEqual(lastDueTime(at(2, 59), 180), at(3, 0, 21));
});

test("the newest backup of each day, week and month is kept, and always the newest of all", () => {
  const day = (date: string): string => `${date}T030000Z`;
  // A backup every day from January to 22 November, and a second one on the last day.
  const ids = Array.from({ length: 326 }, (_, index) =>
    day(new Date(Date.UTC(2026, 0, 1 + index)).toISOString().slice(0, 10)),
  );
  ids.push("2026-11-22T110000Z");
  assert.deepEqual(
    [...chooseBackups(ids, { days: 3, weeks: 0, months: 0 })],
    ["2026-11-22T110000Z", day("2026-11-21"), day("2026-11-20")],
  );
  // Sundays end a week: 22, 15 and 8 November.
  assert.deepEqual(
    [...chooseBackups(ids, { days: 0, weeks: 3, months: 0 })],
    ["2026-11-22T110000Z", day("2026-11-15"), day("2026-11-08")],
  );
  assert.deepEqual([...chooseBackups(ids, { days: 0, weeks: 0, months: 12 })].slice(-2), [
    day("2026-02-28"),
    day("2026-01-31"),
  ]);
  assert.equal(chooseBackups(ids, { days: 7, weeks: 4, months: 12 }).size, 20);
  assert.deepEqual(
    [...chooseBackups([day("2020-01-01")], { days: 1, weeks: 0, months: 0 })],
    [day("2020-01-01")],
  );
  assert.equal(chooseBackups([], { days: 1, weeks: 0, months: 0 }).size, 0);
});
