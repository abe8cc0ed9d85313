import assert from "node:assert/strict";
import { test } from "node:test";
import { NoTranscriptError, readTranscriptJson } from "./transcript-json.ts";

const read = (value: unknown) =>
  readTranscriptJson(typeof value === "string" ? value : JSON.stringify(value));
/** Speaker, start, end and text of each segment. */
const said = (value: unknown) =>
  read(value).segments.map(({ speaker_key, start, end, text }) => [speaker_key, start, end, text]);

const entries = [
  { participant_id: "a", speaker: "Ana: Lima", start: 0, end: 900, text: "At 10:30 then." },
  { participant_id: null, speaker: "Unknown Speaker 1", start: 1000, end: 2500, text: "好的，明天见" },
  { participant_id: "b", speaker: "Ben", start: 2500, end: 2500, text: "Yes." },
  { participant_id: "c", speaker: "Ben", start: 2600, end: 3000, text: "No." },
];

test("the API's JSON is read, and two participants with one name stay separate", () => {
  assert.deepEqual(said(entries), [
    ["Ana: Lima", 0, 900, "At 10:30 then."],
    ["Unknown Speaker 1", 1000, 2500, "好的，明天见"],
    ["Ben", 2500, 2500, "Yes."],
    ["Ben (2)", 2600, 3000, "No."],
  ]);
});

test("milliseconds stay milliseconds when an entry has no speaker or a fraction, and as an upload has them", () => {
  const expected = [
    ["Ana", 0, 1501, "Good morning."],
    ["Speaker 1", 1501, 3000, "Hello."],
  ];
  const segments = [
    { speaker: "Ana", start: 0, end: 1501, text: "Good morning." },
    { start: 1501, end: 3000, text: "Hello." },
  ];
  assert.deepEqual(said(segments), expected);
  assert.deepEqual(
    said([
      { ...segments[0], end: 1500.5 },
      { ...segments[1], speaker: null },
    ]),
    expected,
  );
  const keyed = segments.map(({ speaker = null, ...one }) => ({ speaker_key: speaker, ...one }));
  assert.deepEqual(said({ language: "en", segments: keyed }), expected);
  // Seconds: one sentence in a silent hour, as a model has it.
  assert.deepEqual(said([{ start: 0, end: 3600, text: "Bye.", seek: 0 }]), [
    ["Speaker 1", 0, 3_600_000, "Bye."],
  ]);
});

test("an entry that can't be read is reported with its line, and the others are read", () => {
  const wrong = (change: object) =>
    `[\n${JSON.stringify({ ...entries[0], text: 'a "quoted], {text}' })},\n\n${JSON.stringify({ ...entries[1], ...change }, null, 2)}\n]`;
  for (const [change, reason] of [
    [{ text: 1 }, "entry 2 has no “text”"],
    [{ start: "soon" }, "entry 2 has no “start” that can be read"],
    [{ end: 1 }, "entry 2 ends before it starts"],
    [{ end: 2 ** 31 }, "entry 2 is later than a recording can be long"],
    [{ text: "x".repeat(10_001) }, "entry 2 has 10001 characters, more than 10000; split it"],
  ] as const) {
    const { segments, unread } = read(wrong(change));
    assert.deepEqual([segments.length, unread.count, unread.first], [1, 1, [{ line: 4, reason }]]);
  }
  assert.throws(() => read('["x"]'), NoTranscriptError);
  assert.throws(() => read('{"title": "Call"}'), NoTranscriptError);
  assert.throws(() => read("[]"), /This file has no text/);
  assert.throws(() => read('{"segments": [{"text": "Hi"}]}'), /entry 1 has no “start”/);
  assert.throws(() => read('[\n{"speaker": "Ana",\n}\n]'), /check line 3/);
  assert.throws(() => read("[{"), /This isn't valid JSON/);
});

test("what OpenAI and faster-whisper write is read: no speaker, a negative start, no end", () => {
  const segments = [
    { id: 0, seek: 0, start: -0.02, end: 2.5, text: " Hello there.", speaker: null },
    { id: 1, seek: 0, start: 2.5, end: null, text: " Bye.", speaker: "SPEAKER_00" },
    { id: 2, seek: 0, start: 5, end: null, text: " Ok", speaker: "Speaker 1" },
  ];
  const expected = [
    ["Speaker 2", 0, 2500, "Hello there."],
    ["SPEAKER_00", 2500, 5000, "Bye."],
    ["Speaker 1", 5000, 5195, "Ok"],
  ];
  for (const value of [
    { task: "transcribe", text: "", segments },
    { segments, words: [] },
    segments,
    { result: { segments } },
  ])
    assert.deepEqual(said(value), expected);
  assert.deepEqual(said([{ start: 1, end: 2, text: "Whole seconds" }]), [
    ["Speaker 1", 1000, 2000, "Whole seconds"],
  ]);
});

test("what whisperX writes is read, with the words whose times it has", () => {
  const words = [
    { word: "In", start: 0.1, end: 0.3, score: 0.9, speaker: "SPEAKER_01" },
    { word: "2024" },
    { word: " yes.", start: 0.9, end: 1.2 },
  ];
  const [segment] = read({
    segments: [{ start: 0.1, end: 1.2, text: "In 2024 yes.", words, speaker: "SPEAKER_01" }],
  }).segments;
  assert.deepEqual(segment, {
    ...{ speaker_key: "SPEAKER_01", start: 100, end: 1200, text: "In 2024 yes." },
    words: [
      { text: "In", start: 100, end: 300 },
      { text: "yes.", start: 900, end: 1200 },
    ],
  });
  assert.deepEqual(said({ segments: [{ words }] }), [["Speaker 1", 100, 1200, "In 2024 yes."]]);
});

test("what whisper.cpp and Transformers write is read, and words without segments are joined to sentences", () => {
  const timestamps = { from: "00:00:01,500", to: "00:00:02,750" };
  assert.deepEqual(
    said({
      result: { language: "en" },
      transcription: [
        { timestamps, offsets: { from: 1500, to: 2750 }, text: " One.", speaker: 0 },
        {
          timestamps,
          text: " Two.",
          tokens: [{ text: " Two", timestamps, offsets: { from: 1500, to: 1600 } }],
        },
      ],
    }),
    [
      ["Speaker 0", 1500, 2750, "One."],
      ["Speaker 1", 1500, 2750, "Two."],
    ],
  );
  assert.deepEqual(
    said({
      text: "x",
      chunks: [
        { timestamp: [0, 2.5], text: " One" },
        { timestamp: [3, null], text: "Two" },
      ],
    }),
    [
      ["Speaker 1", 0, 2500, "One"],
      ["Speaker 1", 3000, 3195, "Two"],
    ],
  );
  const word = (text: string, start: number) => ({ word: text, start, end: start + 0.5 });
  assert.deepEqual(
    said({ text: "", words: [word("So.", 0), word("we", 1), word("go", 1.5), word("on", 4)] }),
    [
      ["Speaker 1", 0, 500, "So."],
      ["Speaker 1", 1000, 2000, "we go"],
      ["Speaker 1", 4000, 4500, "on"],
    ],
  );
});
