import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, beforeEach, test } from "node:test";
import {
  type Behaviour,
  cutShort,
  flood,
  jsonOnly,
  neverAnswer,
  refuse,
  reply,
  startSpeechServer,
  transcribe,
} from "../../../../test/support/speech-server.ts";
import { makeWav, readWav } from "../../../../test/support/wav.ts";
import type { TranscriptionServerSettings } from "../../../platform/config/config.ts";
import { ModelServerError } from "../../../platform/model-server/refusal.ts";
import type { AudioChunk, TranscribeOptions } from "../transcriber.ts";
import { openAiTranscriber, transcriptionUrl } from "./openai.ts";

const server = await startSpeechServer();
beforeEach(() => {
  server.requests.length = 0;
  server.otherwise(transcribe);
});

const folder = mkdtempSync(join(tmpdir(), "parley-speech-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Ten minutes into the recording: times in responses count from the start of the chunk. */
const audio: AudioChunk = { path: join(folder, "chunk.wav"), startMs: 600_000, endMs: 604_000 };
writeFileSync(
  audio.path,
  makeWav(4000, [
    { startMs: 500, endMs: 1500, hz: 300 },
    { startMs: 2000, endMs: 3500, hz: 800 },
  ]),
);

const key = "sk-test-0123456789abcdef";
const settings: TranscriptionServerSettings = {
  engine: "server",
  url: server.url,
  model: "whisper-1",
  apiKey: key,
  language: null,
};

function transcriber(changes: Partial<TranscriptionServerSettings> = {}, timeoutMs = 10_000) {
  return openAiTranscriber(
    { ...settings, ...changes },
    { timeoutMs: () => timeoutMs, maxResponseBytes: 256 * 1024 },
  );
}

function hear(changes: Partial<TranscriptionServerSettings> = {}, options: Partial<TranscribeOptions> = {}) {
  return transcriber(changes).transcribe(audio, { language: null, ...options });
}

/** The error of a request; its message and causes must never hold the key. */
async function failure(work: Promise<unknown>): Promise<ModelServerError> {
  const error = await work.then(
    () => assert.fail("it succeeded"),
    (error: unknown) => error,
  );
  assert.ok(error instanceof ModelServerError, String(error));
  assert.ok(!error.message.includes(key) && !JSON.stringify(error).includes(key));
  return error;
}

test("transcribe: sends the WAV with model and format, and reads segments, language and length", async () => {
  const heard = await hear();
  assert.equal(heard.language, "en");
  assert.equal(heard.durationMs, 4000);
  assert.deepEqual(
    heard.segments.map(({ text, speaker }) => [text, speaker]),
    [
      ["tone 300", null],
      ["tone 800", null],
    ],
  );
  const [first, second] = heard.segments;
  assert.ok(Math.abs((first?.startMs ?? 0) - 500) < 5 && Math.abs((second?.endMs ?? 0) - 3500) < 5);
  const [request] = server.requests;
  assert.equal(server.requests.length, 1);
  assert.equal(request?.path, "/v1/audio/transcriptions");
  assert.equal(request?.authorization, `Bearer ${key}`);
  assert.equal(request?.fileName, "audio.wav");
  assert.deepEqual([request?.audio.sampleRate, request?.audio.durationMs], [16_000, 4000]);
  assert.deepEqual(request?.fields, {
    model: "whisper-1",
    response_format: "verbose_json",
    temperature: "0",
    "timestamp_granularities[]": "segment,word",
  });
});

test("transcribe: without a key none is sent; the language is sent without region, and so is the vocabulary", async () => {
  await hear({ apiKey: null }, { language: "pt-BR", vocabulary: ["Ana Lúcia", "Parley"] });
  const [request] = server.requests;
  assert.equal(request?.authorization, undefined);
  assert.equal(request?.fields.language, "pt");
  assert.equal(request?.fields.prompt, "Ana Lúcia, Parley.");
});

test("transcribe: a diarizing model is asked for speakers", async () => {
  const heard = await hear({ model: "gpt-4o-transcribe-diarize" }, { vocabulary: ["unsupported there"] });
  assert.deepEqual(
    heard.segments.map(({ text, speaker }) => [text, speaker]),
    [
      ["tone 300", "A"],
      ["tone 800", "B"],
    ],
  );
  const { fields } = server.requests[0] ?? assert.fail();
  assert.deepEqual(
    [fields.response_format, fields.chunking_strategy, fields.prompt],
    ["diarized_json", "auto", undefined],
  );
});

test("transcribe: a server that supports json alone returns one segment as long as the chunk", async () => {
  server.otherwise(jsonOnly);
  const heard = await hear();
  assert.deepEqual(heard.segments, [{ startMs: 0, endMs: 4000, text: "tone 300 tone 800", speaker: null }]);
  assert.deepEqual(
    server.requests.map(({ fields }) => [fields.response_format, fields["timestamp_granularities[]"]]),
    [
      ["verbose_json", "segment,word"],
      ["json", undefined],
    ],
  );
});

test("transcribe: what a server refused is not asked for again, unless everything was refused", async () => {
  const model = transcriber();
  server.script(refuse(400), refuse(400), refuse(400));
  await assert.rejects(model.transcribe(audio, { language: null }));
  server.requests.length = 0;
  server.script(refuse(422));
  await model.transcribe(audio, { language: null });
  await model.transcribe(audio, { language: null });
  assert.deepEqual(
    server.requests.map(({ fields }) => fields["timestamp_granularities[]"]),
    ["segment,word", "segment", "segment"],
  );
});

/** A server that refuses requests with a field, and names it. */
const without =
  (field: string, body: unknown): Behaviour =>
  (request, response) =>
    field in request.fields ? reply(response, 400, body) : transcribe(request, response);

test("transcribe: the vocabulary is sent as prompt and hotwords; a refused one is not sent again, the other is", async () => {
  const vocabulary = ["Ada Lovelace", "Parley"];
  const model = transcriber();
  server.otherwise(without("hotwords", { error: { message: "Unrecognized request argument: hotwords" } }));
  for (let round = 0; round < 2; round++) {
    const { used } = await model.transcribe(audio, { language: "en", vocabulary });
    assert.deepEqual(used, { model: "whisper-1", language: "en", vocabulary });
  }
  assert.deepEqual(
    server.requests.map(({ fields }) => [fields.prompt, fields.hotwords]),
    [
      ["Ada Lovelace, Parley.", "Ada Lovelace, Parley"],
      ["Ada Lovelace, Parley.", undefined],
      ["Ada Lovelace, Parley.", undefined],
    ],
  );
  const other = transcriber();
  server.otherwise((request, response) =>
    "prompt" in request.fields || "hotwords" in request.fields
      ? reply(response, 422, { detail: [{ loc: ["body", "prompt"], msg: "prompt is not supported" }] })
      : transcribe(request, response),
  );
  const { used } = await other.transcribe(audio, { language: null, vocabulary });
  assert.deepEqual(used?.vocabulary, [], "what was refused was not used");
  assert.equal(server.requests.at(-1)?.fields.response_format, "verbose_json", "times are kept");
});

test("transcribe: a long vocabulary is cut to what fits into a prompt, between words", async () => {
  const vocabulary = Array.from({ length: 500 }, (_, index) => `Word${index}`);
  await hear({}, { vocabulary });
  const prompt = server.requests[0]?.fields.prompt ?? "";
  assert.ok(prompt.length <= 600 && prompt.length > 580, `${prompt.length}`);
  assert.match(prompt, /^Word0, .*, Word\d+\.$/);
});

test("transcribe: a diarizing model gets samples of known speakers, until it refuses them", async () => {
  const settings = { model: "gpt-4o-transcribe-diarize" };
  const sample = { path: audio.path, startMs: 500, endMs: 2500 };
  const known = [{ name: "Speaker 1", position: 0, label: "A", sample }];
  const heard = await hear(settings, { known });
  assert.deepEqual(heard.known, [{ name: "Speaker 1", position: 0, label: "A" }]);
  const { lists } = server.requests[0] ?? assert.fail();
  assert.deepEqual(lists["known_speaker_names[]"], ["Speaker 1"]);
  const [reference = ""] = lists["known_speaker_references[]"] ?? [];
  const [head, data = ""] = reference.split(",");
  assert.equal(head, "data:audio/wav;base64");
  assert.equal(readWav(Buffer.from(data, "base64")).durationMs, 2000);

  server.requests.length = 0;
  const model = transcriber(settings);
  server.otherwise(
    without("known_speaker_names[]", {
      error: { message: "Unknown parameter", param: "known_speaker_names" },
    }),
  );
  for (let round = 0; round < 2; round++) {
    const { known: accepted, segments } = await model.transcribe(audio, { language: null, known });
    assert.equal(accepted, undefined);
    assert.equal(segments[0]?.speaker, "A");
  }
  assert.deepEqual(
    server.requests.map(({ lists }) => lists["known_speaker_names[]"]?.length ?? 0),
    [1, 0, 0],
  );
});

test("transcribe: each segment has its words with their times", async () => {
  const { segments } = await hear();
  assert.deepEqual(
    segments.map(({ words }) => words?.map(({ text }) => text)),
    [
      ["tone", "300"],
      ["tone", "800"],
    ],
  );
  for (const { startMs, endMs, words = [] } of segments) {
    assert.equal(words[0]?.startMs, startMs);
    assert.equal(words.at(-1)?.endMs, endMs);
  }
});

test("transcribe: waits for a slow server", async () => {
  server.script((request, response) => {
    setTimeout(() => transcribe(request, response), 300);
  });
  assert.equal((await hear()).segments.length, 2);
});

const refusals: [status: number, isRetryable: boolean, words: RegExp][] = [
  [401, false, /does not accept the key \(401\)\. Check PARLEY_TRANSCRIPTION_API_KEY/],
  [403, false, /does not accept the key \(403\)/],
  [404, false, /no such URL or model \(404\): status 404\. Check PARLEY_TRANSCRIPTION_URL/],
  [413, false, /does not accept an audio file this large/],
  [415, false, /status 415/],
  [400, false, /status 400: status 400\.$/],
  [422, false, /status 422/],
  [302, false, /redirect/],
  [408, true, /status 408/],
  [409, true, /status 409/],
  [425, true, /status 425/],
  [429, true, /status 429/],
  [500, true, /status 500/],
  [503, true, /status 503/],
];

for (const [status, isRetryable, words] of refusals)
  test(`refused with ${status}: ${isRetryable ? "may pass" : "is permanent"}, in plain words`, async () => {
    server.otherwise(refuse(status));
    const error = await failure(hear());
    assert.equal(error.isRetryable, isRetryable);
    assert.match(error.message, words);
  });

test("refused: Retry-After in seconds or as a date says how long to wait", async () => {
  server.script(refuse(429, {}, { "retry-after": "7" }));
  assert.equal((await failure(hear())).retryAfterMs, 7000);
  const date = new Date(Date.now() + 60_000).toUTCString();
  server.script(refuse(503, {}, { "retry-after": date }));
  const { retryAfterMs } = await failure(hear());
  assert.ok(retryAfterMs !== null && retryAfterMs > 50_000 && retryAfterMs <= 60_000);
  server.script(refuse(503, {}, { "retry-after": "soon" }));
  assert.equal((await failure(hear())).retryAfterMs, null);
});

test("refused: the server's own message is included in every usual form, without the key", async () => {
  const forms: [body: unknown, words: RegExp][] = [
    [{ error: { message: `bad key ${key} here` } }, /: bad key \[key\] here\.$/],
    [{ error: "model not loaded" }, /: model not loaded\.$/],
    [{ detail: [{ loc: ["file"], msg: "too short" }] }, /: too short\.$/],
    ["out of memory", /: out of memory\.$/],
    ["<html><h1>Bad Gateway</h1></html>", /status 500\.$/],
    [{ message: "y".repeat(5000) }, /y{300}\.$/],
  ];
  for (const [body, words] of forms) {
    server.script(refuse(500, body));
    assert.match((await failure(hear())).message, words);
  }
});

test("refused while the file is still being sent: the response counts, not the broken connection", async () => {
  const large: AudioChunk = { path: join(folder, "large.wav"), startMs: 0, endMs: 540_000 };
  writeFileSync(large.path, makeWav(540_000, []));
  const rude = createServer((socket) => {
    socket.once("data", () =>
      socket.end("HTTP/1.1 401 Unauthorized\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}"),
    );
    socket.on("error", () => {});
  });
  await new Promise<void>((resolve) => rude.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = rude.address() as { port: number };
    const url = `http://127.0.0.1:${port}`;
    const error = await failure(transcriber({ url }).transcribe(large, { language: null }));
    assert.equal(error.isRetryable, false, error.message);
  } finally {
    await new Promise((resolve) => rude.close(resolve));
    rmSync(large.path);
  }
});

test("unusable responses are retryable: broken JSON, pages, half of one", async () => {
  for (const body of ['{"text": "a', "<html>Welcome</html>", "", "null", '{"status": "ok"}']) {
    server.script((_request, response) => reply(response, 200, body));
    const error = await failure(hear());
    assert.ok(error.isRetryable);
    assert.match(error.message, /^The speech server's response /);
  }
});

test("a truncated response is retryable", async () => {
  server.script(cutShort);
  const error = await failure(hear());
  assert.ok(error.isRetryable);
  assert.match(error.message, /connection to the speech server .* failed/);
});

test("an endless response is stopped at the limit", async () => {
  server.script(flood);
  const error = await failure(hear());
  assert.ok(error.isRetryable);
  assert.match(error.message, /more than 256 KiB/);
});

test("a server that never responds times out", async () => {
  server.script(neverAnswer);
  const error = await failure(transcriber({}, 150).transcribe(audio, { language: null }));
  assert.ok(error.isRetryable);
  assert.match(error.message, /did not respond within/);
});

test("an unreachable server is retryable", async () => {
  const error = await failure(hear({ url: "http://127.0.0.1:1" }));
  assert.ok(error.isRetryable);
  assert.match(error.message, /127\.0\.0\.1:1 failed \(ECONNREFUSED\)/);
});

test("aborted: ends at once with the reason", async () => {
  server.script(neverAnswer);
  const abort = new AbortController();
  const work = hear({}, { signal: abort.signal });
  abort.abort(new Error("stopping"));
  await assert.rejects(work, { message: "stopping" });
  await assert.rejects(hear({}, { signal: abort.signal }), { message: "stopping" });
});

test("a missing file is not a failure of the server", async () => {
  await assert.rejects(
    transcriber().transcribe({ ...audio, path: join(folder, "none.wav") }, { language: null }),
    { code: "ENOENT" },
  );
  assert.equal(server.requests.length, 0);
});

test("URL: a host, a base URL and a whole URL mean the same", () => {
  const whole = "http://speech:8000/v1/audio/transcriptions";
  for (const setting of [
    "http://speech:8000",
    "http://speech:8000/",
    "http://speech:8000/v1",
    whole,
    `${whole}/`,
  ])
    assert.equal(transcriptionUrl(setting).href, whole);
  assert.equal(
    transcriptionUrl("https://proxy.example/openai").href,
    "https://proxy.example/openai/v1/audio/transcriptions",
  );
  assert.equal(transcriptionUrl("http://whisper:8080/inference").href, "http://whisper:8080/inference");
});
