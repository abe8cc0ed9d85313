import assert from "node:assert/strict";
import { test } from "node:test";
import { cutSegment, publicName } from "./transcript-excerpt.ts";

const words = { start: 10_000, end: 20_000, text: "one two three four five six seven eight nine ten" };

test("a segment gives the words that lie in a range, and times from the range's start", () => {
  const cases: [range: [number, number], expected: [number, number, string] | null][] = [
    [
      [0, 30_000],
      [10_000, 20_000, words.text],
    ],
    [
      [10_000, 20_000],
      [0, 10_000, words.text],
    ],
    [
      [0, 15_000],
      [10_000, 15_000, "one two three four five"],
    ],
    [
      [15_000, 40_000],
      [0, 5000, "six seven eight nine ten"],
    ],
    [
      [14_000, 16_000],
      [0, 2000, "five six"],
    ],
    [[20_000, 30_000], null],
    [[0, 10_000], null],
    // Shorter than a word.
    [[10_001, 10_002], null],
  ];
  for (const [[start, end], expected] of cases) {
    const cut = cutSegment(words, { start, end });
    assert.deepEqual(cut && [cut.start, cut.end, cut.text], expected, `${start}–${end}`);
  }
});

test("an instant counts as one, and a segment without words as nothing", () => {
  const instant = { start: 500, end: 500, text: "Hm" };
  assert.deepEqual(cutSegment(instant, { start: 500, end: 600 }), { start: 0, end: 0, text: "Hm" });
  assert.equal(cutSegment(instant, { start: 400, end: 500 }), null);
  assert.equal(cutSegment({ start: 0, end: 1000, text: "" }, { start: 500, end: 600 }), null);
});

test("an excerpt cuts a line without spaces at its end too", () => {
  const text = "今日は港の契約について話します。それから給料の話もします。";
  const cut = cutSegment({ start: 0, end: 10_000, text }, { start: 0, end: 5000 });
  assert.match(cut?.text ?? "", /^今日は港の契約について/);
  assert.doesNotMatch(cut?.text ?? "", /給料/);
});

test("a line that is said to end before it can be said gives what can be said in the range", () => {
  const text = Array.from({ length: 200 }, (_, index) => `word${index}`).join(" ");
  for (const end of [9000, 9500]) {
    const cut = cutSegment({ start: 9000, end, text }, { start: 0, end: 10_000 });
    assert.match(cut?.text ?? "", /^word0 word1/);
    assert.ok(cut && cut.text.length < 30);
  }
});

test("visitors see names of speakers, but no domain of an email and no phone number", () => {
  for (const [name, shown] of [
    ["Ann Lee", "Ann Lee"],
    ["ann@example.com", "ann"],
    ["Ann (ann.lee@example.com)", "Ann (ann.lee)"],
    ["+49 30 123456", "Unknown Speaker"],
    ["Speaker 2", "Speaker 2"],
    ["007", "007"],
  ] as const)
    assert.equal(publicName(name), shown);
});
