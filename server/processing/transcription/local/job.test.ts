import assert from "node:assert/strict";
import { cp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { sql } from "kysely";
import { until } from "../../../../test/support/until.ts";
import { recordingObjectKey } from "../../../platform/storage/layout.ts";
import { dataTools } from "../../../recordings/recordings/test/recordings.ts";
import { takeMachine } from "../../models/engine/machine-lock.ts";
import { installModel } from "../../models/install.ts";
import { findInstalled, markerName } from "../../models/store.ts";
import { readTranscriptionProgress } from "../index.ts";
import { joinParts, type PlacedVoices } from "../speakers/assign.ts";
import { cutEvery, quickRetry, startTranscription } from "../test/transcription.ts";
import type { Transcriber } from "../transcriber.ts";
import { localSpeakerFinder, type SpeakerFinder } from "./speaker-finder.ts";
import { localTranscriber } from "./transcriber.ts";

const assets = fileURLToPath(new URL("../../../../test/fixtures/speech/", import.meta.url));
const { app, db, store, workspace, makeRecording, run, segments, recording } = await startWithModel();
const { dataDir } = app.config;
const { manage } = dataTools(app);
const retry = { ...quickRetry, maxUnusable: 3 };
const settings = { engine: "local", isRequired: true, model: null, threads: 1, language: null } as const;

async function startWithModel() {
  const started = await startTranscription();
  await installModel(started.app.config.dataDir, "tiny", {
    type: "folder",
    path: join(assets, "tiny-transducer"),
  });
  return { ...started, store: started.deps.store };
}

/** The engine, with a hook before each chunk. */
function engine(before: (chunk: number) => Promise<void> = async () => {}): Transcriber {
  const local = localTranscriber(settings, { dataDir, session: db.session });
  return {
    ...local,
    async open(folder, options) {
      const opened = await local.open?.(folder, options);
      assert.ok(opened);
      let chunk = 0;
      return {
        ...opened,
        async transcribe(audio, more) {
          await before(chunk++);
          return opened.transcribe(audio, more);
        },
      };
    },
  };
}

async function speak(participants: readonly string[] = []): Promise<string> {
  const id = await makeRecording({ participants });
  await store.put(recordingObjectKey(id, "media.mp3"), await readFile(join(assets, "espeak2.wav")));
  return id;
}

const withEngine = (before?: (chunk: number) => Promise<void>) => ({
  transcriber: engine(before),
  extractSpeech: cutEvery(8000, 2000),
  retry,
});

/** Processes of the engine that this process has started. */
async function engines(): Promise<number[]> {
  const found: number[] = [];
  for (const name of await readdir("/proc")) {
    const command = await readFile(`/proc/${name}/cmdline`, "utf8").catch(() => "");
    const stat = await readFile(`/proc/${name}/stat`, "utf8").catch(() => "");
    if (command.includes("local/child.ts") && stat.split(" ")[3] === String(process.pid))
      found.push(Number(name));
  }
  return found;
}

const progress = async (id: string) =>
  (await readTranscriptionProgress(db.kysely, id)) ?? assert.fail("it is gone");

const speakerFinder = localSpeakerFinder(1, { dataDir, session: db.session });

/** Who speaks when in the test file: seconds and a name. */
async function reference(): Promise<{ startMs: number; endMs: number; name: string }[]> {
  const text = await readFile(join(assets, "espeak2.rttm"), "utf8");
  return text
    .trim()
    .split("\n")
    .map((line) => {
      const [, , , start, length, , , name = ""] = line.split(" ");
      const startMs = Number(start) * 1000;
      return { startMs, endMs: startMs + Number(length) * 1000, name };
    });
}

/** The recording of the first test, and its lines. */
let first = "";
let expected: unknown;
/** Who speaks its lines, if speakers are distinguished. */
let speakers: readonly string[] = [];

const speakersOf = async (id: string) => (await segments(id)).map(({ speaker }) => speaker);

test("the built-in engine transcribes a recording: times never decrease, one process, no files left", async () => {
  const id = await speak();
  const seen = new Set<number>();
  await run(
    id,
    withEngine(async () => {
      for (const pid of await engines()) seen.add(pid);
    }),
  );
  const made = await segments(id);
  first = id;
  expected = made;
  assert.ok(made.length > 3);
  assert.ok(made.every(({ start_ms }, index) => start_ms >= (made[index - 1]?.start_ms ?? 0)));
  assert.equal((await recording(id)).transcript_version, 1);
  assert.deepEqual([(await progress(id)).status, (await progress(id)).progress], ["done", 100]);
  assert.equal(seen.size, 1, "one process for the whole recording");
  assert.deepEqual(await engines(), []);
  assert.deepEqual(await readdir(join(dataDir, "scratch")), []);
});

test("an engine that is killed is started again, and its chunk is repeated", async () => {
  const id = await speak();
  const asked: number[] = [];
  await run(
    id,
    withEngine(async (chunk) => {
      asked.push(chunk);
      if (chunk === 1) for (const pid of await engines()) process.kill(pid, "SIGKILL");
    }),
  );
  assert.deepEqual(await segments(id), expected);
  assert.deepEqual(asked, [0, 1, 2, 3], "the killed chunk was asked for twice");
});

test("a stopped job ends its engine; the next run repeats only what has no result", async () => {
  const id = await speak();
  const stop = new AbortController();
  await assert.rejects(
    run(
      id,
      withEngine(async (chunk) => (chunk === 1 ? stop.abort(new Error("stopping")) : undefined)),
      stop.signal,
    ),
    /stopping/,
  );
  assert.deepEqual(await engines(), []);
  assert.equal((await progress(id)).chunks_done, 1);
  let asked = 0;
  await run(
    id,
    withEngine(async () => void asked++),
  );
  assert.equal(asked, 2);
  assert.deepEqual(await segments(id), expected);
});

test("a transcription that waits for the language engine says so until it works", async () => {
  const release = await takeMachine(db.session, "language", undefined);
  const id = await speak();
  const waitsFor = async () =>
    (await manage("GET", `/recordings/${id}`, workspace.token)).body.transcript.transcription.waits_for;
  assert.equal(await waitsFor(), null);
  const running = run(id, {
    ...withEngine(async () => {
      assert.equal(await waitsFor(), null);
    }),
  });
  const text = await until("it says what it waits for", async () => (await waitsFor()) ?? undefined).finally(
    release,
  );
  assert.equal(text, "Waiting for the language engine, which is at work on this machine.");
  await running;
  assert.equal((await progress(id)).status, "done");
});

test("canceling kills an engine that is at work; transcribing again repeats only what has no result", async () => {
  const id = await speak();
  let canceled: Promise<{ status: number }> | undefined;
  await run(
    id,
    withEngine(async (chunk) => {
      if (chunk !== 1) return;
      // It would be faster than the request; a stopped process can only be killed.
      for (const pid of await engines()) process.kill(pid, "SIGSTOP");
      canceled = manage("DELETE", `/recordings/${id}/transcription`, workspace.token);
    }),
  );
  assert.equal((await canceled)?.status, 200);
  assert.deepEqual(await engines(), []);
  assert.deepEqual(await readdir(join(dataDir, "scratch")), []);
  assert.deepEqual([(await progress(id)).status, (await progress(id)).chunks_done], ["failed", 1]);
  assert.deepEqual(await segments(id), []);
  assert.equal((await manage("POST", `/recordings/${id}/transcription`, workspace.token, {})).status, 200);
  const asked: number[] = [];
  await run(
    id,
    withEngine(async (chunk) => void asked.push(chunk)),
  );
  assert.equal(asked.length, 2);
  assert.deepEqual(await segments(id), expected);
});

test("two voices in overlapping parts get one name each, with less than 2 % of the time confused", async () => {
  await installModel(dataDir, "voices", { type: "folder", path: join(assets, "voice-lda") });
  const { found, folder } = { found: [] as PlacedVoices[], folder: join(dataDir, "scratch", "voices") };
  await cp(join(assets, "espeak2.wav"), join(folder, "input.wav"), { recursive: true });
  const { chunks } = await cutEvery(8000, 2000)(
    { inputPath: join(folder, "input.wav"), outDir: folder },
    { maxChunkSec: 8, overlapSec: 2 },
  );
  const opened = await speakerFinder.open(folder, {});
  for (const chunk of chunks) found.push({ ...chunk, found: await opened.findVoices(chunk, {}) });
  await opened.close();
  await rm(folder, { recursive: true });
  const shared = new Map<string, number>();
  for (const turn of joinParts(found, 2))
    for (const { startMs, endMs, name } of await reference()) {
      const ms = Math.min(endMs, turn.endMs) - Math.max(startMs, turn.startMs);
      if (ms > 0) shared.set(`${turn.speaker} ${name}`, (shared.get(`${turn.speaker} ${name}`) ?? 0) + ms);
    }
  const times = [...shared.values()].toSorted((a, b) => b - a);
  const total = times.reduce((sum, ms) => sum + ms, 0);
  const right = (times[0] ?? 0) + (times[1] ?? 0);
  assert.ok(total > 15_000, `${total} ms of speech`);
  assert.ok(right / total > 0.98, `${JSON.stringify([...shared])}`);
  assert.notEqual(
    [...shared].find(([, ms]) => ms === times[0])?.[0][0],
    [...shared].find(([, ms]) => ms === times[1])?.[0][0],
  );
});

test("words get their speakers over the whole recording", async () => {
  const id = await speak(["Anna", "Ben"]);
  await run(id, { ...withEngine(), speakerFinder });
  speakers = await speakersOf(id);
  assert.deepEqual([...new Set(speakers)].toSorted(), ["Unknown Speaker 1", "Unknown Speaker 2"]);
  assert.equal(speakers[0], "Unknown Speaker 1");
});

test("an engine that ends twice while it tells speakers apart leaves a transcript without any; once, or in a job that resumes, the same speakers again", async () => {
  /** Kills the engine while it works on the second part, the given number of times. */
  const killing = (kills: number): SpeakerFinder => ({
    ...speakerFinder,
    async open(folder, signal) {
      const opened = await speakerFinder.open(folder, signal);
      return {
        ...opened,
        async findVoices(audio, options) {
          if (audio.startMs === 0 || kills-- <= 0) return opened.findVoices(audio, options);
          for (;;) {
            let hasEnded = false;
            const end = () => {
              hasEnded = true;
            };
            const voices = opened.findVoices(audio, options);
            voices.then(end, end);
            let running: number[] = [];
            while (!hasEnded && running.length === 0) running = await engines();
            // It may also end before it is found; then the part is read again.
            if (hasEnded) continue;
            for (const pid of running) process.kill(pid, "SIGKILL");
            return voices;
          }
        },
      };
    },
  });
  const id = await speak();
  await run(id, { ...withEngine(), speakerFinder: killing(2) });
  assert.deepEqual(await segments(id), expected, "the voices of the first part alone are not used");
  const again = await speak(["Anna", "Ben"]);
  await run(again, { ...withEngine(), speakerFinder: killing(1) });
  assert.deepEqual(await speakersOf(again), speakers);

  const other = await speak(["Anna", "Ben"]);
  const stop = new AbortController();
  let asked = 0;
  const stopping: SpeakerFinder = {
    ...speakerFinder,
    async open(folder, signal) {
      const opened = await speakerFinder.open(folder, signal);
      return {
        ...opened,
        findVoices(audio, options) {
          if (asked++ === 1) stop.abort(new Error("stopping"));
          return opened.findVoices(audio, options);
        },
      };
    },
  };
  await assert.rejects(run(other, { ...withEngine(), speakerFinder: stopping }, stop.signal), /stopping/);
  assert.deepEqual(await engines(), []);
  assert.equal((await progress(other)).stage, "speakers");
  asked = 10;
  let transcribed = 0;
  await run(other, { ...withEngine(async () => void transcribed++), speakerFinder: stopping });
  assert.deepEqual([transcribed, asked], [0, 12], "finished parts are not repeated");
  assert.deepEqual(await speakersOf(other), speakers);
});

test("participants' names and vocabulary are preferred, and the history says so", async () => {
  const usedIn = async (id: string) => {
    const { rows } = await sql<{ used: object; unclear_passages: number }>`
      select used, unclear_passages from transcriptions where recording_id = ${id}`.execute(db.kysely);
    return { repeated: rows[0]?.unclear_passages ?? 0, used: rows[0]?.used };
  };
  const ships = async (participants: readonly string[]) => {
    const id = await speak(participants);
    await run(id, withEngine());
    return usedIn(id);
  };
  const [without, preferred] = [await usedIn(first), await ships(["ship"])];
  // The test's model then writes nothing but the preferred word, which is left out as a repetition.
  assert.equal(without.repeated, 0);
  assert.ok(preferred.repeated > 0, "the preferred word is written again and again");
  assert.deepEqual(preferred.used, { model: "tiny", language: null, vocabulary: ["ship"] });
  // Words that the model can't write, and separators of the engine's syntax, change nothing.
  assert.equal((await ships(["Ωμέγα/:5"])).used !== undefined, true);
});

test("a language that no installed model knows fails with the remedy", async () => {
  const model = await findInstalled(dataDir, "tiny");
  assert.ok(model);
  const marker = join(model.folder, markerName);
  const before = await readFile(marker, "utf8");
  await writeFile(marker, JSON.stringify({ ...JSON.parse(before), languages: ["en"] }));
  const id = await speak();
  await run(id, { ...withEngine(), config: { dataDir, transcription: { ...settings, language: "ja" } } });
  const { status, last_error } = await progress(id);
  assert.equal(status, "failed");
  assert.match(
    last_error ?? "",
    /No installed speech model \(tiny\) knows the language "ja".*install whisper-small/,
  );
  await writeFile(marker, before);
});

test("a model with a changed byte is refused by name, and nothing is transcribed", async () => {
  const model = await findInstalled(dataDir, "tiny");
  assert.ok(model);
  const path = join(model.folder, "joiner.int8.onnx");
  const file = await readFile(path);
  file[500] = (file[500] ?? 0) ^ 1;
  await writeFile(path, file);
  const id = await speak();
  await run(id, withEngine());
  const { status, last_error } = await progress(id);
  assert.equal(status, "failed");
  assert.match(last_error ?? "", /tiny is damaged: joiner\.int8\.onnx does not match its SHA-256/);
  assert.deepEqual(
    (await sql`select 1 from transcript_segments where recording_id = ${id}`.execute(db.kysely)).rows,
    [],
  );
});
