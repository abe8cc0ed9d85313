import assert from "node:assert/strict";
import { test } from "node:test";
import { isFullRun } from "../../../../test/support/full.ts";
import { validateMedia } from "./index.ts";
import { audio, fixture, limits, oneStep, validateHere, video } from "./test/files.ts";
import { mutations } from "./test/mutate.ts";
import { seeded } from "./test/random.ts";

// Runs alone: it measures how long the event loop is blocked.

const files = [
  ["good-faststart.mp4", video],
  ["good-index-at-end.mp4", video],
  ["good-fragmented.mp4", video],
  ["bad-two-videos.mp4", video],
  ["onestep-mpeg4-pcm.mov", oneStep("mov")],
  ["onestep-alac.m4a", oneStep("m4a")],
  ["good-cbr.mp3", audio],
  ["good-44100.mp3", audio],
] as const;

/** The mutant of a number: file and damage take turns, the places are drawn. */
function mutant(number: number) {
  const [name, expectation] = files[number % files.length] ?? files[0];
  const kinds = Object.entries(mutations);
  const [kind, mutate] = kinds[Math.floor(number / files.length) % kinds.length] ?? kinds[0] ?? assert.fail();
  const random = seeded(number);
  return { title: `mutant ${number}: ${name}, ${kind}`, content: mutate(fixture(name), random), expectation };
}

/** How many are validated in a thread each, as a server does, and how many without. */
const [threaded, direct] = isFullRun ? [304, 4000] : [56, 1120];

test(`mutants: ${threaded} damaged files end in a result within ten seconds each, and the main thread stays responsive`, async () => {
  let worstMs = 0;
  let last = performance.now();
  const heartbeat = setInterval(() => {
    worstMs = Math.max(worstMs, performance.now() - last);
    last = performance.now();
  }, 20);
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < threaded) {
      const { title, content, expectation } = mutant(next);
      next += 1;
      const startedAt = performance.now();
      const result = await validateMedia(
        {
          size: content.length,
          path: null,
          read: async (start, end) => content.subarray(start, end + 1),
        },
        expectation,
        limits,
      );
      assert.ok(performance.now() - startedAt < 10_000, title);
      if (!result.ok) {
        assert.match(result.reason, /^[A-Z].{20,}/, title);
        // That is what is said when the thread ended by an error nobody thought of.
        assert.doesNotMatch(result.reason, /could not be checked|Error|\.ts|node:/, title);
      }
    }
  };
  try {
    await Promise.all([lane(), lane()]);
  } finally {
    clearInterval(heartbeat);
  }
  assert.ok(worstMs < 2000, `the main thread stood still for ${worstMs} ms`);
});

test(`mutants: ${direct} more, validated without a thread, throw nothing`, () => {
  const counts = { accepted: 0, refused: 0 };
  for (let number = 1000; number < 1000 + direct; number += 1) {
    const { title, content, expectation } = mutant(number);
    const startedAt = performance.now();
    try {
      counts[validateHere(content, expectation).ok ? "accepted" : "refused"] += 1;
    } catch (error) {
      throw new Error(title, { cause: error });
    }
    assert.ok(performance.now() - startedAt < 2000, title);
  }
  // A mutation that always, or never, spoils a file would test little.
  assert.ok(counts.accepted > direct / 10 && counts.refused > direct / 10, JSON.stringify(counts));
});
