import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { sql } from "kysely";
import { makeWav, readWav, type Tone } from "../../../test/support/wav.ts";
import { recordingObjectKey } from "../../platform/storage/layout.ts";
import { dataTools } from "../../recordings/recordings/test/recordings.ts";
import { extractSpeech, renderMedia } from "../media/render/index.ts";
import { encodeStereo } from "../media/render/test/stereo.ts";
import { factsOf } from "../media/render/test/support.ts";
import { encodeFile } from "../media/test/encode.ts";
import { installModel } from "../models/install.ts";
import type { TranscriptionDependencies } from "./job.ts";
import type { SpeakerFinder } from "./local/speaker-finder.ts";
import { localTranscriber } from "./local/transcriber.ts";
import { startTranscription } from "./test/transcription.ts";

const assets = fileURLToPath(new URL("../../../test/fixtures/speech/", import.meta.url));
const { app, db, deps, makeRecording, recording, run, speech, workspace } = await startTranscription();
const { dataDir } = app.config;
const { manage } = dataTools(app);

/** Channels must need no model of speakers. */
const speakerFinder: SpeakerFinder = {
  isAvailable: async () => true,
  findModel: async () => null,
  open: async () => assert.fail("the speakers are known from the channels"),
};

async function makeStereo(channels: readonly [Int16Array, Int16Array]): Promise<string> {
  const id = await makeRecording();
  const folder = await mkdtemp(join(tmpdir(), "parley-stereo-"));
  try {
    encodeStereo(join(folder, "stereo.mp3"), channels);
    await deps.store.put(recordingObjectKey(id, "media.mp3"), await readFile(join(folder, "stereo.mp3")));
  } finally {
    await rm(folder, { recursive: true });
  }
  return id;
}

async function segments(id: string) {
  const { rows } = await sql<{ speaker: string; start_ms: number; end_ms: number; text: string }>`
    select speaker, start_ms, end_ms, text from transcript_segments where recording_id = ${id} order by position`.execute(
    db.kysely,
  );
  return rows;
}

const speak = (id: string, changes: Partial<TranscriptionDependencies> = {}) =>
  run(id, { extractSpeech, speakerFinder, maxChunkSec: 5, ...changes });

const tones = (hz: number, seconds: readonly number[]): Tone[] =>
  seconds.map((second) => ({ startMs: second * 1000 + 200, endMs: second * 1000 + 900, hz }));
const samplesOf = (of: readonly Tone[]): Int16Array => readWav(makeWav(10_000, of)).samples;

test("a speech server gets each channel on its own, and the channels are the speakers by first appearance", async () => {
  // The right channel speaks first, and in one second both do.
  const id = await makeStereo([
    samplesOf(tones(300, [1, 3, 5, 6, 8])),
    samplesOf(tones(500, [0, 2, 4, 6, 7, 9])),
  ]);
  await speak(id);
  assert.ok(speech.requests.every((request) => new Set(request.tones.map(({ hz }) => hz)).size === 1));
  const made = await segments(id);
  assert.deepEqual(made.map(({ speaker, text }) => [text, speaker]).toSorted(), [
    ...new Array(5).fill(["tone 300", "Unknown Speaker 2"]),
    ...new Array(6).fill(["tone 500", "Unknown Speaker 1"]),
  ]);
  assert.deepEqual(
    made.map(({ start_ms }) => Math.round((start_ms - 200) / 1000)),
    [0, 1, 2, 3, 4, 5, 6, 6, 7, 8, 9],
  );
});

test("speakers with tracks of their own have their names; a track without a name stays unknown", async () => {
  const id = await makeRecording();
  const folder = await mkdtemp(join(tmpdir(), "parley-tracks-"));
  try {
    const sound = (hz: number, second: number) => ({
      codec: "aac",
      hz,
      sounds: (sec: number) => sec >= second && sec < second + 1,
    });
    const path = join(folder, "tracks.mkv");
    encodeFile(path, { format: "matroska", audio: [sound(300, 1), sound(500, 3), sound(700, 5)] });
    const track = { codec: "aac", channels: 1, title: null, language: null };
    const { speechPath } = await renderMedia({
      inputPath: path,
      outDir: folder,
      facts: {
        ...factsOf("a.m4a", { container: "mkv", isStoredForm: false }),
        audioTracks: [track, track, track],
      },
      audioTracks: "speakers",
    });
    await deps.store.put(recordingObjectKey(id, "speech.webm"), await readFile(speechPath ?? ""));
  } finally {
    await rm(folder, { recursive: true });
  }
  await sql`update recording_media set speaker_tracks = '{Ada,"",Ben}' where recording_id = ${id}`.execute(
    db.kysely,
  );
  await sql`
    insert into participants (id, workspace_id, recording_id, name, scope, position, confirmed_attendee, attended)
    select gen_random_uuid(), ${workspace.id}, ${id}, name, 'unknown', n, true, true from unnest('{Ada,Cleo}'::text[]) with ordinality as x (name, n)`.execute(
    db.kysely,
  );
  await speak(id);
  const { rows } = await sql<{ speaker: string; text: string; is_participant: boolean }>`
    select speaker, text, participant_id is not null as is_participant from transcript_segments
    where recording_id = ${id} order by position`.execute(db.kysely);
  assert.deepEqual(
    rows.map(({ speaker, text, is_participant }) => [speaker, text, is_participant]),
    [
      ["Ada", "tone 300", true],
      ["Unknown Speaker 1", "tone 500", false],
      ["Ben", "tone 700", false],
    ],
  );
});

test("the same sound in both channels is transcribed once, without speakers from channels", async () => {
  const both = samplesOf([...tones(300, [1, 3, 5, 7]), ...tones(500, [0, 2, 4, 6])]);
  const id = await makeStereo([both, both]);
  await speak(id, { maxChunkSec: 60, speakerFinder: { ...speakerFinder, isAvailable: async () => false } });
  const made = await segments(id);
  assert.equal(made.length, 8);
  assert.deepEqual([...new Set(made.map(({ speaker }) => speaker))], ["Unknown Speaker"]);
});

test("the built-in engine: two voices in two channels, none confused, the same speakers when repeated", async () => {
  await installModel(dataDir, "tiny", { type: "folder", path: join(assets, "tiny-transducer") });
  const settings = { engine: "local", isRequired: true, model: null, threads: 1, language: null } as const;
  const { samples } = readWav(await readFile(join(assets, "espeak2.wav")));
  const turns = (await readFile(join(assets, "espeak2.rttm"), "utf8"))
    .trim()
    .split("\n")
    .map((line) => {
      const [, , , start, length, , , name = ""] = line.split(" ");
      return { start: Number(start) * 1000, end: (Number(start) + Number(length)) * 1000, name };
    });
  const names = [...new Set(turns.map(({ name }) => name))];
  const channelOf = (name: string): Int16Array => {
    const channel = new Int16Array(samples.length);
    for (const turn of turns.filter((of) => of.name === name))
      channel.set(samples.subarray(turn.start * 16, turn.end * 16), turn.start * 16);
    return channel;
  };
  const id = await makeStereo([channelOf(names[1] ?? ""), channelOf(names[0] ?? "")]);
  const transcriber = localTranscriber(settings, { dataDir, session: db.session });
  await speak(id, { transcriber, maxChunkSec: 10 });
  const made = await segments(id);
  assert.deepEqual(
    [...new Set(made.map(({ speaker }) => speaker))],
    ["Unknown Speaker 1", "Unknown Speaker 2"],
  );
  for (const { speaker, start_ms, end_ms } of made) {
    const shared = names.map((of) =>
      turns
        .filter(({ name }) => name === of)
        .reduce(
          (sum, { start, end }) => sum + Math.max(0, Math.min(end, end_ms) - Math.max(start, start_ms)),
          0,
        ),
    );
    const [own = 0, other = 0] = speaker === "Unknown Speaker 1" ? shared : shared.toReversed();
    assert.ok(own > other, `${speaker} at ${start_ms}-${end_ms}: ${own} of ${own + other} ms`);
  }
  const rerun = await manage("POST", `/recordings/${id}/transcription`, workspace.token, {});
  assert.equal(rerun.status, 200);
  await speak(id, { transcriber, maxChunkSec: 10 });
  assert.equal((await recording(id)).transcript_version, 2);
  assert.deepEqual(await segments(id), made);
});
