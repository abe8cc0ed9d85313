import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseSubtitles } from "../../../../shared/transcripts/subtitles.ts";
import { formatTranscript } from "./format.ts";

const spaced = (text: string): string => text.replaceAll(/\s+/g, " ").trim();
const hasWord = (text: string): boolean => /[\p{L}\p{N}]/u.test(text);

const anything = fc
  .oneof(
    fc.string({ unit: "grapheme", maxLength: 60 }),
    fc.constantFrom("<v Bo>x &lt; <b>y</b>", "{\\an8}1 --> 2", "Note: NOTE"),
  )
  .map((text) => spaced(text.replaceAll("\0", "")));
const text = anything.filter(hasWord);
/** Longer than any limit on words, but not than a speaker's name may be. */
const name = fc
  .tuple(text, fc.constantFrom("", " of the Royal Society for the Prevention of Short Names and Colons"))
  .map(([first, rest]) => first + rest);
const segment = (speaker: fc.Arbitrary<string>, said: fc.Arbitrary<string>) =>
  fc.array(
    fc.record({ gap: fc.nat(5_000_000), length: fc.integer({ min: 1, max: 60_000 }), speaker, text: said }),
    {
      minLength: 1,
      maxLength: 12,
    },
  );

interface Entry {
  readonly gap: number;
  readonly length: number;
  readonly speaker: string;
  readonly text: string;
}

/** Writes a transcript, and reads it again. */
async function readBack(format: "vtt" | "srt", entries: readonly Entry[]) {
  let at = 0;
  const segments = entries.map(({ gap, length, ...rest }) => {
    const start = at + gap;
    at = start + length;
    return { participant_id: null, start, end: at, ...rest };
  });
  const read = parseSubtitles(String(await formatTranscript(format, segments)));
  assert.deepEqual(
    read.map(({ speaker_key, start, end, text: said }) => ({ start, end, speaker: speaker_key, text: said })),
    segments.map(({ start, end, speaker, text: said }) => ({ start, end, speaker, text: said })),
  );
}

test("WebVTT that Parley writes comes back whole, with any words and names", async () => {
  await fc.assert(
    fc.asyncProperty(segment(name, text), (entries) => readBack("vtt", entries)),
    { numRuns: 100 },
  );
});

test("SubRip that Parley writes comes back whole, unless it has markup, or a name has a colon", async () => {
  const isPlain = (one: string): boolean => !/[<&{]/.test(one);
  const plainName = name.filter((one) => isPlain(one) && !/[:：]/.test(one) && /^[\p{L}\p{N}]/u.test(one));
  await fc.assert(
    fc.asyncProperty(segment(plainName, text.filter(isPlain)), (entries) => readBack("srt", entries)),
    { numRuns: 100 },
  );
});
