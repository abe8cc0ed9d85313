import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { StoreError } from "../../storage/store.ts";
import { createOutageLog, toProblem } from "./errors.ts";
import { ProblemError } from "./problem.ts";

/** An error as the database driver throws it. */
function databaseError(code: string, message = "told by PostgreSQL"): Error {
  return Object.assign(new Error(message), { code });
}

test("transient database errors are 503 with Retry-After and reveal no database message", () => {
  for (const error of [
    databaseError("53100", 'could not extend file "base/1/2"'),
    databaseError("40P01"),
    databaseError("57014"),
    databaseError("57P01"),
    databaseError("25006", "cannot execute INSERT in a read-only transaction"),
    databaseError("08006"),
    databaseError("ECONNREFUSED"),
    new Error("Connection terminated unexpectedly"),
    new Error("timeout exceeded when trying to connect"),
  ]) {
    const problem = toProblem(error);
    assert.equal(problem.code, "unavailable", error.message);
    assert.ok(Number(problem.headers["retry-after"]) > 0);
    assert.equal(problem.message.includes(error.message), false);
  }
});

test("an unreachable file store is 503 and not mistaken for the database, nor is a missing file", () => {
  const unreachable = Object.assign(new StoreError("could not read a: ECONNREFUSED", true, null), {
    code: "ECONNREFUSED",
  });
  assert.match(toProblem(unreachable).message, /^the file store can't be reached/);
  assert.ok(Number(toProblem(unreachable).headers["retry-after"]) > 0);
  const missing = Object.assign(new Error("no such file"), { code: "ENOENT", path: "/data/a" });
  assert.equal(toProblem(missing).code, "internal");
  assert.equal(toProblem(new StoreError("could not read a: AccessDenied", false, null)).code, "internal");
});

test("unexpected errors are 500 without details; ProblemErrors stay as they are", () => {
  const secret = toProblem(databaseError("42P01", 'relation "x" does not exist'));
  assert.equal(secret.code, "internal");
  assert.equal(secret.message.includes("relation"), false);
  const own = new ProblemError("forbidden", "not yours");
  assert.equal(toProblem(own), own);
});

test("an outage is logged once with its stack and then by the number of requests, each outage for itself", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    const lines: unknown[][] = [];
    const log = { error: (...line: unknown[]) => lines.push(line) };
    const logOutage = createOutageLog(60_000);
    const failures = [databaseError("08006"), databaseError("08006"), databaseError("08006")];
    for (const error of failures) logOutage(log, "no database", error);
    const store = new Error("refused");
    logOutage(log, "no file store", store);
    assert.deepEqual(lines, [
      [{ err: failures[0] }, "unavailable: no database"],
      [{ err: store }, "unavailable: no file store"],
    ]);
    mock.timers.tick(60_000);
    assert.deepEqual(lines.slice(2), [
      [{ requests: 2, seconds: 60 }, "unavailable: no database; more requests failed"],
    ]);
    logOutage(log, "no database", failures[1]);
    assert.deepEqual(lines.at(-1), [{ err: failures[1] }, "unavailable: no database"]);
  } finally {
    mock.timers.reset();
  }
});
