import assert from "node:assert/strict";
import { test } from "node:test";
import { readWords } from "./words.ts";

const result = (tokens: string[], timestamps: number[], durations?: number[]) => ({
  text: tokens.join("").trim(),
  tokens,
  timestamps,
  ...(durations === undefined ? {} : { durations }),
});

test("tokens become words: from the first token's start to the last one's end, without punctuation", () => {
  const words = readWords(
    result([" Hel", "lo", ",", " world", "."], [0.5, 0.75, 1, 1.5, 2], [0.2, 0.25, 0.4, 0.3, 0.5]),
    10_000,
    3000,
  );
  assert.deepEqual(words, [
    { startMs: 10_500, endMs: 11_000, text: "Hello," },
    { startMs: 11_500, endMs: 11_800, text: "world." },
  ]);
});

test("words without durations end where the next begins, and no time decreases or leaves the piece", () => {
  const words = readWords(result([" a", " b", " c"], [1, 0.5, 9]), 0, 2000);
  assert.deepEqual(words, [
    { startMs: 1000, endMs: 1000, text: "a" },
    { startMs: 1000, endMs: 1500, text: "b" },
    { startMs: 2000, endMs: 2000, text: "c" },
  ]);
});

test("tokens that do not spell the text give no words", () => {
  assert.equal(readWords({ text: "あ", tokens: ["�", "�"], timestamps: [0, 0] }, 0, 1000), null);
  assert.equal(readWords({ text: "a", tokens: [" a"], timestamps: [] }, 0, 1000), null);
});
