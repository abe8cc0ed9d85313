import assert from "node:assert/strict";
import { test } from "node:test";
import { type FormerSegment, type FreshSegment, planReapply } from "./reapply.ts";

const fresh = (start_ms: number, end_ms: number, text: string, speaker = "Voice 1"): FreshSegment => ({
  start_ms,
  end_ms,
  text,
  speaker,
  participant_id: null,
});
const former = (
  start_ms: number,
  end_ms: number,
  text: string,
  original: FormerSegment["original"],
  speaker = "Voice 1",
): FormerSegment => ({ ...fresh(start_ms, end_ms, text, speaker), original });

test("text: moves to the segment that covers the same time by half, and nowhere else", () => {
  const edited = former(1000, 2000, "right", { text: "wrong" });
  const table: [start: number, end: number, isTaken: boolean][] = [
    [1000, 2000, true],
    [1500, 2500, true],
    [1501, 2501, false],
    [1000, 3000, true],
    [1000, 3001, false],
    [1000, 1500, true],
    [1000, 1499, false],
    [3000, 4000, false],
  ];
  for (const [start, end, isTaken] of table) {
    const { changes, lost } = planReapply([edited], [fresh(start, end, "heard")]);
    assert.deepEqual(
      changes,
      isTaken ? [{ positions: [0], before: { text: "heard" }, after: { text: "right" } }] : [],
      `${start}-${end}`,
    );
    assert.deepEqual(lost, isTaken ? [] : [{ start: 1000, end: 2000, text: "right" }]);
  }
});

test("text: segments without edits, or with the same text again, are not touched; each is used once", () => {
  assert.deepEqual(planReapply([former(0, 100, "a", null)], [fresh(0, 100, "b")]).changes, []);
  assert.deepEqual(
    planReapply([former(0, 100, "a", { speaker: "V" }, "V")], [fresh(0, 100, "b")]).changes,
    [],
  );
  assert.deepEqual(planReapply([former(0, 100, "a", { text: "b" })], [fresh(0, 100, "a")]), {
    changes: [],
    lost: [],
  });
  const { changes, lost } = planReapply(
    [former(0, 100, "one", { text: "x" }), former(100, 200, "two", { text: "y" })],
    [fresh(0, 200, "all")],
  );
  assert.deepEqual([changes.length, lost.length], [1, 1]);
});

test("speakers: a renamed voice is found by when it speaks, whatever its new label", () => {
  const was = { speaker: "Voice 1" };
  const { changes, lost } = planReapply(
    [
      former(0, 1000, "a", was, "Ada"),
      former(1000, 2000, "b", null, "Voice 2"),
      former(2000, 3000, "c", was, "Ada"),
    ],
    [
      fresh(0, 1100, "a", "Voice 7"),
      fresh(1100, 2000, "b", "Voice 8"),
      fresh(2000, 2400, "c", "Voice 7"),
      fresh(9000, 9900, "d", "Voice 7"),
    ],
  );
  assert.deepEqual(lost, []);
  assert.deepEqual(changes, [
    {
      positions: [0, 2, 3],
      before: { speaker: "Voice 7", participant_id: null },
      after: { speaker: "Ada", participant_id: null },
    },
  ]);
});

test("speakers: a single reassigned segment stays reassigned, the rest of the voice does not", () => {
  const { changes } = planReapply(
    [
      former(0, 1000, "a", null),
      former(1000, 2000, "b", { speaker: "Voice 1", participant_id: null }, "Bo"),
      former(2000, 3000, "c", null),
    ],
    [fresh(0, 1000, "a"), fresh(1000, 2000, "b"), fresh(2000, 3000, "c")],
  );
  assert.deepEqual(
    changes.map(({ positions, after }) => [positions, after.speaker]),
    [[[1], "Bo"]],
  );
});

test("speakers: edits that can't be applied are reported", () => {
  const { changes, lost } = planReapply(
    [former(0, 1000, "a", { speaker: "Voice 1" }, "Ada")],
    [fresh(5000, 6000, "z")],
  );
  assert.deepEqual(
    [changes, lost],
    [[], [{ start: 0, end: 1000, speaker: { participant_id: null, name: "Ada" } }]],
  );
});

test("text and speaker of one segment are one change", () => {
  const edited = former(0, 1000, "right", { text: "wrong", speaker: "Voice 1", participant_id: null }, "Ada");
  const { changes } = planReapply([edited], [fresh(0, 1000, "heard")]);
  assert.deepEqual(changes, [
    {
      positions: [0],
      before: { text: "heard", speaker: "Voice 1", participant_id: null },
      after: { text: "right", speaker: "Ada", participant_id: null },
    },
  ]);
});

test("fifty thousand segments are matched in a moment", () => {
  const count = 50_000;
  const before = Array.from({ length: count }, (_, n) =>
    former(n * 300, n * 300 + 280, `r${n}`, { text: "w" }),
  );
  const after = Array.from({ length: count }, (_, n) => fresh(n * 300 + 20, n * 300 + 290, `h${n}`));
  const began = performance.now();
  const { changes, lost } = planReapply(before, after);
  assert.deepEqual([changes.length, lost.length], [count, 0]);
  assert.ok(performance.now() - began < 5000);
});
