import assert from "node:assert/strict";
import { test } from "node:test";
import { alignWords, splitWords } from "./align-words.ts";

/** Word n of a text is spoken from second n to n + 1. */
const spoken = (text: string) =>
  splitWords(text).map((word, n) => ({ text: word, time: { start: n * 1000, end: (n + 1) * 1000 } }));

/** The words of a changed text, each with the second it starts and, if longer than one, the second it ends. */
function carried(from: string, to: string): string {
  const words = splitWords(to);
  return alignWords(spoken(from), words)
    .map((time, n) => {
      const [start, end] = [(time?.start ?? Number.NaN) / 1000, (time?.end ?? Number.NaN) / 1000];
      const when = time === null ? "?" : end - start === 1 ? String(start) : `${start}-${end}`;
      return `${words[n]}:${when}`;
    })
    .join(" ");
}

for (const [name, from, to, expected] of [
  ["the same text", "so we meet at nine", "so we meet at nine", "so:0 we:1 meet:2 at:3 nine:4"],
  ["case and punctuation", "so we meet", "So, we meet.", "So,:0 we:1 meet.:2"],
  [
    "one word corrected",
    "we meet in hambug today",
    "we meet in Hamburg today",
    "we:0 meet:1 in:2 Hamburg:3 today:4",
  ],
  ["several words become one", "use cube net ease now", "use Kubernetes now", "use:0 Kubernetes:1-4 now:4"],
  [
    "one word becomes several",
    "use kubernetes now",
    "use cube net ease now",
    "use:0 cube:? net:? ease:? now:2",
  ],
  ["a word removed", "we really meet today", "we meet today", "we:0 meet:2 today:3"],
  ["a word added", "we meet today", "we shall meet today", "we:0 shall:? meet:1 today:2"],
  ["a repeated word removed: which one is not known", "the the cat sat", "the cat sat", "the:? cat:2 sat:3"],
  ["a repeated word added", "so the cat sat", "so the the cat sat", "so:0 the:? the:? cat:2 sat:3"],
  ["a repeated phrase removed", "a b a b c", "a b c", "a:? b:? c:4"],
  ["two words swapped", "red green blue", "green red blue", "green:? red:0 blue:2"],
  ["both ends changed", "er we meet at nine right", "we meet at ten", "we:1 meet:2 at:3 ten:4-6"],
  ["nothing in common", "one two three", "four five", "four:? five:?"],
  ["everything removed", "one two three", "", ""],
  ["everything added", "", "one two", "one:? two:?"],
] as const)
  test(`words keep their times: ${name}`, () => assert.equal(carried(from, to), expected));

test("ten thousand words that are all alike, or nearly, are aligned in linear time", () => {
  const cost = (from: string, to: string): number => {
    const before = process.cpuUsage();
    carried(from, to);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
  const many = (length: number, word: (n: number) => string) =>
    Array.from({ length }, (_, n) => word(n)).join(" ");
  for (const [from, to] of [
    [many(10_000, () => "a"), many(9_000, () => "a")],
    [many(10_000, (n) => `${n % 7}`), many(9_000, (n) => `${n % 5}`)],
    [many(10_000, (n) => `${n}`), many(10_000, (n) => `${9999 - n}`)],
    [many(10_000, (n) => (n % 3 === 0 ? `w${n}` : "a")), many(10_000, (n) => (n % 3 === 0 ? `w${n}` : "b"))],
  ] as const)
    assert.ok(cost(from, to) < 1000);
});
