import assert from "node:assert/strict";
import { test } from "node:test";
import { readableLine } from "./readable-log.ts";

test("a log line becomes time, level, message and fields; an error shows its stack", () => {
  assert.equal(
    readableLine(
      '{"level":"info","time":"2026-05-01T10:02:03.000Z","port":3001,"host":"localhost","msg":"listening"}',
    ),
    "10:02:03 info  listening port=3001 host=localhost",
  );
  assert.equal(
    readableLine(
      '{"level":"error","time":"2026-05-01T10:02:03.000Z","err":{"stack":"Error: no\\n    at x"},"msg":"failed"}',
    ),
    "10:02:03 error failed\nError: no\n    at x",
  );
});

test("a line that is no log entry stays as it is", () => {
  for (const line of ["Debugger attached.", "null", "3", '{"a":1}']) assert.equal(readableLine(line), line);
});
