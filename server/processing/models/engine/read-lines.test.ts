import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { readLines } from "./read-lines.ts";

test("a line without an end is refused once at its limit, and the stream goes unread", () => {
  const input = new PassThrough();
  const lines: (string | null)[] = [];
  readLines(input, 100, (line) => lines.push(line));
  input.emit("data", Buffer.from("one\ntw"));
  input.emit("data", Buffer.from("o\n"));
  for (let n = 0; n < 5; n++) input.emit("data", Buffer.alloc(50, "x"));
  assert.deepEqual(lines, ["one", "two", null]);
});
