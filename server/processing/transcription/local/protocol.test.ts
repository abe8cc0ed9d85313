import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { engineMessage } from "../../models/engine/engine.ts";
import { Fraction, Transcript, Voices } from "./protocol.ts";

const message = engineMessage({ progress: Fraction, result: z.union([Transcript, Voices]) });

test("messages of the engine's process are validated: impossible times, numbers and forms are refused", () => {
  const words = [{ startMs: 0, endMs: 5, text: "a" }];
  const result = (value: object) => ({ type: "result", id: 1, result: value });
  const transcript = { language: null, durationMs: 10, segments: [], words, unclear: 0 };
  const voices = { voices: [{ ms: 5, embedding: [1] }], turns: [{ startMs: 0, endMs: 5, voice: 0 }] };
  for (const valid of [{ type: "ready" }, result(transcript), result(voices)])
    assert.ok(message.safeParse(valid).success, JSON.stringify(valid));
  for (const invalid of [
    { type: "run" },
    { type: "progress", id: 1, progress: 7 },
    result({}),
    result({ ...transcript, words: [{ startMs: -1, endMs: 5, text: "a" }] }),
    result({ ...transcript, words: [{ startMs: 0, endMs: 1e12, text: "a" }] }),
    result({ ...transcript, words: [{ startMs: 0, endMs: 5, text: "a".repeat(10_001) }] }),
    result({ ...voices, turns: [{ startMs: 0, endMs: 5, voice: -1 }] }),
    result({ ...voices, voices: [{ ms: 5, embedding: [null] }] }),
  ])
    assert.equal(message.safeParse(invalid).success, false, JSON.stringify(invalid));
});
