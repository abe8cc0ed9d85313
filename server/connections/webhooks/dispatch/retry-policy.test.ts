import assert from "node:assert/strict";
import { test } from "node:test";
import { readConfig } from "../../../platform/config/config.ts";
import { decide, isDeadFor, type ResponseOutcome } from "./retry-policy.ts";

const HOUR = 3_600_000;
const { hookRetryScheduleMs: scheduleMs } = readConfig({}, "/tmp");
const now = new Date("2026-03-04T05:06:07.000Z");

function decided(response: Partial<ResponseOutcome>, attempt = 1, random = 0, at = now) {
  return decide({
    response: { ok: false, status: 500, headers: {}, ...response },
    attempt,
    now: at,
    scheduleMs,
    random: () => random,
  });
}

/** Ms until the next attempt. */
function waitOf(response: Partial<ResponseOutcome>, attempt = 1, random = 0): number {
  const decision = decided(response, attempt, random);
  assert.equal(decision.outcome, "retry");
  return decision.at.getTime() - now.getTime();
}

test("retry schedule: 5 s, 30 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h", () => {
  const inSeconds = scheduleMs.map((ms) => ms / 1000);
  assert.deepEqual(inSeconds, [5, 30, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]);
});

test("retry policy: a success is delivered at any attempt, even the last", () => {
  for (const attempt of [1, 5, 11, 99])
    assert.deepEqual(decided({ ok: true, status: 204 }, attempt), { outcome: "delivered" });
});

test("retry policy: each failure waits as long as the schedule says, then it is exhausted", () => {
  scheduleMs.forEach((ms, index) => {
    assert.equal(waitOf({}, index + 1), ms);
    assert.equal(waitOf({ status: null }, index + 1), ms);
    assert.equal(waitOf({ status: 302 }, index + 1), ms);
  });
  assert.deepEqual(decided({}, 11), { outcome: "exhausted" });
  assert.deepEqual(decided({}, 12), { outcome: "exhausted" });
});

test("retry policy: the jitter is at most 20 % and takes nothing off", () => {
  assert.equal(waitOf({}, 3, 0), 300_000);
  assert.equal(waitOf({}, 3, 0.5), 330_000);
  assert.equal(waitOf({}, 3, 0.999_999_999), 360_000);
});

test("retry policy: whatever chance does, an outage of 75 hours is survived, and the hook is not yet dead", () => {
  for (const random of [0, 0.5, 0.999]) {
    let at = now;
    let attempts = 0;
    for (;;) {
      attempts++;
      const decision = decided({ status: null }, attempts, random, at);
      if (decision.outcome !== "retry") break;
      at = decision.at;
    }
    assert.equal(attempts, 11);
    assert.ok(at.getTime() - now.getTime() > 75 * HOUR);
    assert.equal(isDeadFor(now, at), false);
  }
});

test("retry policy: 410 is gone at once", () => {
  assert.deepEqual(decided({ status: 410 }), { outcome: "gone" });
  assert.deepEqual(decided({ status: 410, headers: { "retry-after": "60" } }, 11), { outcome: "gone" });
});

test("retry policy: Retry-After is the least wait, in seconds or as a date, with any failure", () => {
  for (const status of [429, 503, 500, 404, 302])
    assert.equal(waitOf({ status, headers: { "retry-after": "120" } }), 120_000);
  for (const date of [
    "Wed, 04 Mar 2026 06:06:07 GMT",
    "Wednesday, 04-Mar-26 06:06:07 GMT",
    "Wed Mar  4 06:06:07 2026",
  ])
    assert.equal(waitOf({ status: 429, headers: { "retry-after": date } }), HOUR, date);
  // Shorter than the schedule: the schedule counts.
  assert.equal(waitOf({ headers: { "retry-after": "120" } }, 4), 1_800_000);
});

test("retry policy: Retry-After puts nothing off by more than a day, and does not add attempts", () => {
  for (const value of ["86401", "99999999999999999999", "Fri, 01 Jan 2100 00:00:00 GMT"])
    assert.equal(waitOf({ status: 503, headers: { "retry-after": value } }), 24 * HOUR, value);
  assert.deepEqual(decided({ status: 503, headers: { "retry-after": "5" } }, 11), { outcome: "exhausted" });
});

test("retry policy: a Retry-After that makes no sense or is past is ignored", () => {
  for (const value of [
    "",
    "soon",
    "-5",
    "1.5",
    "1e9",
    "0x10",

    "2027-01-01",
    "Wed, 99 Foo 2026",
    "Monday",
  ])
    assert.equal(waitOf({ status: 503, headers: { "retry-after": value } }), 5000, value);
  assert.equal(waitOf({ headers: { "retry-after": "Wed, 04 Mar 2020 06:06:07 GMT" } }), 5000);
  assert.equal(waitOf({ headers: { "retry-after": "0" } }), 5000);
});

test("a hook is dead once it has only failed for five days", () => {
  const failing = (ms: number) => isDeadFor(new Date(now.getTime() - ms), now);
  assert.equal(isDeadFor(null, now), false);
  assert.equal(failing(0), false);
  assert.equal(failing(120 * HOUR - 1), false);
  assert.equal(failing(120 * HOUR), true);
});
