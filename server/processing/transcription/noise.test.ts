import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { encodeClip } from "../../../bench/media.ts";
import { reply } from "../../../test/support/speech-server.ts";
import { recordingObjectKey } from "../../platform/storage/layout.ts";
import { extractSpeech } from "../media/render/index.ts";
import { installModel } from "../models/install.ts";
import { localSpeechDetector } from "./local/speech-detector.ts";
import { localTranscriber } from "./local/transcriber.ts";
import { repeatsOnePhrase, withoutRepetitions } from "./repetition.ts";
import { cutEvery, startTranscription } from "./test/transcription.ts";

const assets = fileURLToPath(new URL("../../../test/fixtures/speech/", import.meta.url));
const { app, db, deps, speech, makeRecording, run, segments } = await startTranscription();
const { dataDir } = app.config;

/** Four minutes of noise, as an encoder writes it. */
const noise = join(dataDir, "noise.mp3");
encodeClip(noise, {
  audio: {
    source: [["anoisesrc", "duration=240:amplitude=0.3:color=pink"]],
    codec: "libmp3lame",
    bitsPerSec: 64_000,
  },
});

async function recordingOf(path: string): Promise<string> {
  const id = await makeRecording();
  await deps.store.put(recordingObjectKey(id, "media.mp3"), await readFile(path));
  return id;
}

const unclearOf = async (id: string) =>
  (await db.pool.query("select unclear_passages from transcriptions where recording_id = $1", [id])).rows[0]
    .unclear_passages;

test("four minutes of noise give no words with the built-in engine, and are counted as one passage", async () => {
  await installModel(dataDir, "tiny", { type: "folder", path: join(assets, "tiny-transducer") });
  const settings = { engine: "local", isRequired: true, model: null, threads: 1, language: null } as const;
  const transcriber = localTranscriber(settings, { dataDir, session: db.session });
  const id = await recordingOf(noise);
  await run(id, { transcriber, extractSpeech });
  assert.deepEqual(await segments(id), []);
  assert.equal(await unclearOf(id), 1);
});

test("noise is not sent to a speech server, speech is", async () => {
  speech.otherwise((_request, response) => reply(response, 200, { text: "Thank you for watching." }));
  const speechDetector = localSpeechDetector(db);
  const id = await recordingOf(noise);
  await run(id, { extractSpeech, speechDetector });
  assert.deepEqual([speech.requests.length, await segments(id)], [0, []]);

  const spoken = await recordingOf(join(assets, "espeak2.wav"));
  await run(spoken, {
    speechDetector,
    extractSpeech: async (input, options) => {
      const { durationMs, chunks } = await cutEvery(60_000)(input, options);
      // Shorter parts are not examined.
      return { durationMs, chunks: chunks.map((chunk) => ({ ...chunk, endMs: 60_000 })) };
    },
  });
  assert.equal(speech.requests.length, 1);
  assert.equal((await segments(spoken)).length, 1);
});

test("a segment that repeats one phrase is dropped and counted", async () => {
  speech.otherwise((_request, response) =>
    reply(response, 200, {
      segments: [
        { start: 0, end: 1, text: "Good morning." },
        { start: 1, end: 3, text: "Thank you. Thank you. Thank you. Thank you. Thank" },
      ],
    }),
  );
  const id = await makeRecording();
  await run(id, { extractSpeech: cutEvery(60_000) });
  assert.deepEqual(
    (await segments(id)).map(({ text }) => text),
    ["Good morning."],
  );
  assert.equal(await unclearOf(id), 1);
});

test("a sentence that is returned as thirty segments is kept once, across requests too, and the rest is counted", async () => {
  speech.otherwise((_request, response) =>
    reply(response, 200, {
      segments: Array.from({ length: 30 }, (_, n) => ({
        start: n / 4,
        end: (n + 1) / 4,
        text: " Thank you.",
      })),
    }),
  );
  for (const chunkMs of [60_000, 5000]) {
    const id = await makeRecording();
    await run(id, { extractSpeech: cutEvery(chunkMs, 0) });
    assert.deepEqual(
      (await segments(id)).map(({ text }) => text),
      ["Thank you."],
    );
    assert.ok((await unclearOf(id)) >= 29);
  }
});

test("sequences that repeat keep their first run; what people say again, or one after the other, stays", () => {
  const left = (speakers: readonly string[], ...texts: readonly string[]) =>
    withoutRepetitions(
      texts.map((text, index) => ({
        text,
        speaker: speakers[index % speakers.length],
        startMs: index * 1000,
        endMs: index * 1000 + 900,
      })),
    )
      .map(({ text }) => text)
      .join(" ");
  const loop = Array.from({ length: 7 }, () => ["Thank you.", "See you next week."]).flat();
  assert.equal(
    left(["a"], "Hello.", ...loop, "Thank you.", "Good bye."),
    "Hello. Thank you. See you next week. Good bye.",
  );
  assert.equal(left(["a"], ...Array(6).fill("Thank you. Thank you."), "Thank you!"), "Thank you. Thank you.");
  assert.equal(left(["a"], ...Array(30).fill("♪")), "♪");
  assert.equal(left(["a"], ...Array(7).fill("Yes.")), Array(7).fill("Yes.").join(" "), "short");
  assert.equal(left(["a"], ...Array(5).fill("We agree on that.")).length, 89, "five times");
  const votes = Array(12).fill("I vote for it.");
  assert.equal(left(["a", "b", "c", "d", "e"], ...votes), votes.join(" "), "several speakers");
  const pauses = Array.from({ length: 9 }, (_, n) => ({
    text: "That sounds good.",
    speaker: 0,
    startMs: n * 60_000,
    endMs: n * 60_000 + 900,
  }));
  assert.equal(withoutRepetitions(pauses).length, 9, "with pauses");
  const many = Array.from({ length: 200_000 }, (_, n) => ({
    text: `Number ${n % 5}.`,
    speaker: null,
    startMs: n,
    endMs: n + 1,
  }));
  assert.equal(withoutRepetitions(many).length, many.length, "a sequence of five, in linear time");
  assert.deepEqual(withoutRepetitions([]), []);
});

test("repeated phrases are recognized in any script and in time proportional to the length", () => {
  const repeated = [
    "so, so so so so so so so so so so so so",
    "ご視聴ありがとうございました。".repeat(4),
    "abc ".repeat(2500),
  ];
  const spoken = ["No, no, no, no, no.", "Thank you. Thank you.", "I think that I think that you think.", ""];
  for (const text of repeated) assert.ok(repeatsOnePhrase(text), text);
  for (const text of spoken) assert.equal(repeatsOnePhrase(text), false, text);
  assert.equal(repeatsOnePhrase(`${"a".repeat(1_000_000)}b`), false);
});
