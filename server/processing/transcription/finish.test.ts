import assert from "node:assert/strict";
import { test } from "node:test";
import { maxBlockingMs } from "../../../test/support/blocking-time.ts";
import { finishTranscription } from "./finish.ts";
import { type ChunkRow, markRunning } from "./queries.ts";
import { startTranscription } from "./test/transcription.ts";

// Runs alone: it measures how long the event loop is blocked.

const { db, makeRecording, segments } = await startTranscription();

/** Three words a second, in parts of five minutes, as the built-in engine finds them. */
function partsOf(hours: number): ChunkRow[] {
  return Array.from({ length: hours * 12 }, (_, position) => {
    const start_ms = position * 300_000;
    const words = Array.from({ length: 900 }, (_, index) => ({
      text: `word${(position * 900 + index) % 997}${index % 12 === 11 ? "." : ""}`,
      startMs: index * 333,
      endMs: index * 333 + 300,
    }));
    const result = { language: "en", durationMs: 300_000, segments: [], words };
    return { position, start_ms, end_ms: start_ms + 300_000, channel: null, result, voices: null };
  });
}

/** @returns a recording whose transcription runs. */
async function makeRunning(): Promise<string> {
  const id = await makeRecording();
  assert.equal(await markRunning(db.kysely, id), true);
  return id;
}

test("a run that was canceled and requested again in another language writes nothing", async () => {
  const id = await makeRunning();
  await db.pool.query("update transcriptions set status = 'pending' where recording_id = $1", [id]);
  await finishTranscription(db, id, partsOf(1), { language: "en", voiceModel: null });
  assert.deepEqual(await segments(id), []);
});

test("the transcript of a meeting of eight hours is merged and written without keeping others waiting for a quarter of a second", async () => {
  const parts = partsOf(8);
  const given = { language: null, voiceModel: null };
  const blocked: number[] = [];
  // The first run compiles; what the machine does besides may fall into one of the others.
  for (let round = 0; round < 4; round++) {
    const id = await makeRunning();
    blocked.push(await maxBlockingMs(() => finishTranscription(db, id, parts, given)));
    assert.ok((await segments(id)).length >= 7200);
  }
  assert.ok(Math.min(...blocked.slice(1)) < 250, `${blocked} ms`);
});
