import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { engineMessage } from "./protocol.ts";
import { readLines } from "./read-lines.ts";

test("messages of the engine's process are validated: impossible times, numbers and forms are refused", () => {
  const words = [{ startMs: 0, endMs: 5, text: "a" }];
  const result = (value: object) => ({ type: "result", id: 1, result: value });
  const transcript = { language: null, durationMs: 10, segments: [], words, unclear: 0 };
  const voices = { voices: [{ ms: 5, embedding: [1] }], turns: [{ startMs: 0, endMs: 5, voice: 0 }] };
  for (const valid of [{ type: "ready" }, result(transcript), result(voices)])
    assert.ok(engineMessage.safeParse(valid).success, JSON.stringify(valid));
  for (const invalid of [
    { type: "run" },
    { type: "progress", id: 1, fraction: 7 },
    result({}),
    result({ ...transcript, words: [{ startMs: -1, endMs: 5, text: "a" }] }),
    result({ ...transcript, words: [{ startMs: 0, endMs: 1e12, text: "a" }] }),
    result({ ...transcript, words: [{ startMs: 0, endMs: 5, text: "a".repeat(10_001) }] }),
    result({ ...voices, turns: [{ startMs: 0, endMs: 5, voice: -1 }] }),
    result({ ...voices, voices: [{ ms: 5, embedding: [null] }] }),
  ])
    assert.equal(engineMessage.safeParse(invalid).success, false, JSON.stringify(invalid));
});

test("a line without an end is refused once at its limit, and the stream goes unread", () => {
  const input = new PassThrough();
  const lines: (string | null)[] = [];
  readLines(input, 100, (line) => lines.push(line));
  input.emit("data", Buffer.from("one\ntw"));
  input.emit("data", Buffer.from("o\n"));
  for (let n = 0; n < 5; n++) input.emit("data", Buffer.alloc(50, "x"));
  assert.deepEqual(lines, ["one", "two", null]);
});
