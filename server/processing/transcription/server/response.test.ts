import assert from "node:assert/strict";
import { test } from "node:test";
import { ModelServerError } from "../../../platform/model-server/refusal.ts";
import { toLanguageCode } from "../languages.ts";
import { readTranscription } from "./response.ts";

/** Segments as [start, end, text, speaker] of a chunk of 10 s. */
function read(answer: unknown) {
  const body = typeof answer === "string" ? answer : JSON.stringify(answer);
  return readTranscription(body, 10_000).segments.map((segment) => [
    segment.startMs,
    segment.endMs,
    segment.text,
    segment.speaker,
  ]);
}

const accepted: [title: string, answer: unknown, segments: unknown[]][] = [
  [
    "verbose_json: seconds become whole milliseconds",
    { text: "a b", segments: [{ start: 0.0004, end: 1.2345, text: " a b " }] },
    [[0, 1235, "a b", null]],
  ],
  [
    "times written as text (vLLM does so with the duration)",
    { duration: "10.0", segments: [{ start: "1.5", end: "2", text: "a" }] },
    [[1500, 2000, "a", null]],
  ],
  [
    "text alone: one segment as long as the chunk",
    { text: " All of it. " },
    [[0, 10_000, "All of it.", null]],
  ],
  ["empty text: nobody speaks", { text: "  " }, []],
  ["no segments and no text: nobody speaks", { text: "", segments: [] }, []],
  ["no segments but text: the text counts", { text: "Hello.", segments: [] }, [[0, 10_000, "Hello.", null]]],
  [
    "diarized_json: segments with speakers and a type",
    { segments: [{ type: "transcript.text.segment", id: "s1", speaker: "A", start: 0, end: 1, text: "hi" }] },
    [[0, 1000, "hi", "A"]],
  ],
  [
    "speakers as numbers",
    { segments: [{ speaker: 0, start: 0, end: 1, text: "hi" }] },
    [[0, 1000, "hi", "0"]],
  ],
  [
    "times before the start, beyond the end and the wrong way round are cut to the chunk",
    {
      segments: [
        { start: -3, end: 2, text: "a" },
        { start: 4, end: 3, text: "b" },
        { start: 9, end: 30, text: "c" },
        { start: 40, end: 50, text: "d" },
      ],
    },
    [
      [0, 2000, "a", null],
      [4000, 4000, "b", null],
      [9000, 10_000, "c", null],
      [10_000, 10_000, "d", null],
    ],
  ],
  [
    "missing times: from the one before to the next one",
    { segments: [{ end: 2, text: "a" }, { text: "b" }, { start: 5, text: "c" }] },
    [
      [0, 2000, "a", null],
      [2000, 5000, "b", null],
      [5000, 10_000, "c", null],
    ],
  ],
  [
    "NaN, as Python writes it, is a missing figure; in a text it is a word",
    '{"segments": [{"start": NaN, "end": 2.0, "avg_logprob": -Infinity, "text": "is: NaN, yes"}]}',
    [[0, 2000, "is: NaN, yes", null]],
  ],
  [
    "empty segments are dropped, and the rest is sorted by start",
    {
      segments: [
        { start: 5, end: 6, text: "b" },
        { start: 0, end: 1, text: " \n" },
        { start: 2, end: 3, text: "a" },
      ],
    },
    [
      [2000, 3000, "a", null],
      [5000, 6000, "b", null],
    ],
  ],
  [
    "what Whisper imagined in silence is dropped, and does not come back as the text",
    {
      text: "Thank you for watching.",
      segments: [
        { start: 0, end: 10, text: "Thank you for watching.", no_speech_prob: 0.95, avg_logprob: -1.2 },
      ],
    },
    [],
  ],
  [
    "quiet speech that the model is sure of stays, and so does what only one figure speaks against",
    {
      segments: [
        { start: 0, end: 1, text: "a", no_speech_prob: 0.95, avg_logprob: -0.3 },
        { start: 1, end: 2, text: "b", no_speech_prob: 0.1, avg_logprob: -1.5 },
        { start: 2, end: 3, text: "c", no_speech_prob: 0.99 },
      ],
    },
    [
      [0, 1000, "a", null],
      [1000, 2000, "b", null],
      [2000, 3000, "c", null],
    ],
  ],
  [
    "control characters, line breaks and broken surrogates become harmless",
    '{"segments": [{"start": 0, "end": 1, "text": "a\\u0000b\\nc\\ud800", "speaker": " S\\u0000 "}]}',
    [[0, 1000, "a b c\ufffd", "S"]],
  ],
  [
    "words alone: by sentence, pause and speaker",
    {
      text: "Good morning. Shall we begin yes",
      words: [
        { word: "Good", start: 0, end: 0.4 },
        { word: "morning.", start: 0.5, end: 1 },
        { word: "Shall", start: 1.1, end: 1.3 },
        { word: "we", start: 1.3, end: 1.4 },
        { word: "begin", start: 3, end: 3.5, speaker: "A" },
        { word: "yes", start: 3.6, end: 4, speaker: "B" },
      ],
    },
    [
      [0, 1000, "Good morning.", null],
      [1100, 1400, "Shall we", null],
      [3000, 3500, "begin", "A"],
      [3600, 4000, "yes", "B"],
    ],
  ],
  [
    "words with their spaces, and words of a language without",
    {
      words: [
        { word: " can", start: 0, end: 0.2 },
        { word: "'t", start: 0.2, end: 0.3 },
        { word: " go", start: 0.3, end: 0.5 },
      ],
    },
    [[0, 500, "can't go", null]],
  ],
  [
    "Chinese words are joined without spaces",
    {
      words: [
        { word: "今天", start: 0, end: 1 },
        { word: "开会", start: 1, end: 2 },
      ],
    },
    [[0, 2000, "今天开会", null]],
  ],
];

for (const [title, answer, segments] of accepted)
  test(`response: ${title}`, () => assert.deepEqual(read(answer), segments));

const refused: [title: string, body: string][] = [
  ["a page", "<!doctype html><html>Bad gateway</html>"],
  ["nothing", ""],
  ["half of one", '{"text": "half of'],
  ["another object", '{"error": "out of memory"}'],
  ["a list", "[]"],
  ["segments that are none", '{"segments": [{"start": 0, "end": 1}]}'],
  ["segments that are text", '{"segments": "none", "text": "a"}'],
  ["text that is a number", '{"text": 5}'],
];

for (const [title, body] of refused)
  test(`response: ${title} is refused as a retryable failure`, () => {
    assert.throws(
      () => readTranscription(body, 10_000),
      (error) =>
        error instanceof ModelServerError &&
        error.isRetryable &&
        /^The speech server's response /.test(error.message),
    );
  });

test("response: an object with very many keys is refused before it is parsed", () => {
  const keys = Array.from({ length: 1001 }, (_, index) => `"k${index}":1`).join(",");
  assert.throws(() => read(`{"text":"a","usage":{${keys}}}`), ModelServerError);
});

test("response: language and duration", () => {
  assert.equal(
    readTranscription('{"text": "", "languages": [{"code": "sv"}, {"code": "en"}]}', 1).language,
    "sv",
  );
  const { language, durationMs } = readTranscription(
    '{"text": "", "language": "english", "duration": 9.9999}',
    10_000,
  );
  assert.deepEqual([language, durationMs], ["en", 10_000]);
  assert.deepEqual(
    [readTranscription('{"text": ""}', 1).language, readTranscription('{"text": ""}', 1).durationMs],
    [null, null],
  );
});

test("language: codes and English names become codes, everything else null", () => {
  const cases: [string, string | null][] = [
    ["en", "en"],
    ["EN", "en"],
    ["pt-BR", "pt-br"],
    ["zh_Hans", "zh-hans"],
    ["english", "en"],
    ["German", "de"],
    ["Mandarin", "zh"],
    ["haitian creole", "ht"],
    ["maori", "mi"],
    ["myanmar", "my"],
    ["lao", "lo"],
    ["yue", "yue"],
    ["jw", "jv"],
    ["klingonish", null],
    ["", null],
    ["<script>", null],
    ["__proto__", null],
  ];
  for (const [name, code] of cases) assert.equal(toLanguageCode(name), code, name);
});
