import { randomUUID, randomUUIDv7 } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { pino } from "pino";
import { completeFields } from "../../../../contract/recordings/fields.ts";
import { startTestApp, type TestAppOptions } from "../../../../test/support/app.ts";
import { makeWorkspace } from "../../../../test/support/factories.ts";
import { startSpeechServer } from "../../../../test/support/speech-server.ts";
import { cutWav, makeWav, readWav, type Tone } from "../../../../test/support/wav.ts";
import { findDefaultMeetingType } from "../../../people/directory/queries.ts";
import { defaultRetryPolicy, type RetryPolicy } from "../../../platform/model-server/retry.ts";
import { recordingObjectKey } from "../../../platform/storage/layout.ts";
import { createRecording } from "../../../recordings/recordings/create.ts";
import { type ExtractSpeech, type TranscriptionDependencies, transcribeRecordingJob } from "../job.ts";
import { openAiTranscriber } from "../server/openai.ts";
import { requestTranscription } from "../service.ts";

/** Cuts a WAV file at fixed intervals, as the real implementation cuts a recording's audio. */
export function cutEvery(chunkMs: number, overlapMs = 1000): ExtractSpeech {
  return async ({ inputPath, outDir }, { signal }) => {
    signal?.throwIfAborted();
    const file = await readFile(inputPath);
    const { durationMs } = readWav(file);
    await mkdir(outDir, { recursive: true });
    const chunks = [];
    for (let startMs = 0; startMs < durationMs; startMs += chunkMs) {
      const endMs = Math.min(durationMs, startMs + chunkMs + overlapMs);
      const path = join(outDir, `${randomUUID()}.wav`);
      await writeFile(path, cutWav(file, startMs, endMs));
      chunks.push({ path, startMs, endMs });
    }
    return { durationMs, chunks };
  };
}

/** Fast enough for tests; waits of more than a second are left to the sweep. */
export const quickRetry: RetryPolicy = {
  ...defaultRetryPolicy,
  firstDelayMs: 1,
  maxDelayMs: 5,
  maxWaitInJobMs: 1000,
};

/** Ten seconds with a tone in every second but the last: three chunks of 4 s that overlap by 1 s. */
export const tenSeconds: readonly Tone[] = Array.from({ length: 9 }, (_, second) => ({
  startMs: second * 1000 + 200,
  endMs: second * 1000 + 800,
  hz: 200 + 50 * second,
}));

/** A Parley server, a speech server, and helpers for the transcription tests. */
export async function startTranscription(env: TestAppOptions["env"] = {}) {
  const speech = await startSpeechServer();
  const app = await startTestApp({
    worker: false,
    env: { PARLEY_TRANSCRIPTION_URL: speech.url, PARLEY_TRANSCRIPTION_API_KEY: "sk-test", ...env },
  });
  const { db, jobs, store, config } = app;
  if (config.transcription?.engine !== "server") throw new Error("transcription is not set up");
  const deps: TranscriptionDependencies = {
    db,
    store,
    config,
    transcriber: openAiTranscriber(config.transcription, { timeoutMs: () => 20_000 }),
    extractSpeech: cutEvery(4000),
    log: pino({ level: "silent" }),
    retry: quickRetry,
  };
  const workspace = await makeWorkspace(db);

  /** A recording as promotion creates it, with a requested transcript. Its file is a WAV, whatever its name. */
  async function makeRecording(
    options: { tones?: readonly Tone[]; participants?: readonly string[]; hasFile?: boolean } = {},
  ): Promise<string> {
    const id = randomUUIDv7();
    const file = makeWav(10_000, options.tones ?? tenSeconds);
    if (options.hasFile !== false) await store.put(recordingObjectKey(id, "media.mp3"), file);
    await db.kysely.transaction().execute(async (tx) => {
      await createRecording(tx, {
        values: {
          ...completeFields({}),
          id,
          workspace_id: workspace.id,
          title: "Harbour",
          start_datetime: new Date("2026-05-01T10:00:00Z"),
          end_datetime: new Date("2026-05-01T10:00:10Z"),
          duration_ms: 10_000,
          media_type: "audio",
          external: false,
          meeting_type_id: await findDefaultMeetingType(tx, workspace.id, "internal"),
        },
        participants: (options.participants ?? []).map((name) => ({
          id: randomUUIDv7(),
          name,
          email: null,
          phone: null,
          scope: "unknown",
          confirmed_attendee: false,
          attended: true,
        })),
      });
      await tx
        .insertInto("recording_media")
        .values({
          recording_id: id,
          format: "mp3",
          has_storyboard: false,
        })
        .execute();
      await requestTranscription(tx, jobs, id);
    });
    return id;
  }

  /** Runs the job as a worker does. */
  function run(recordingId: string, changes: Partial<TranscriptionDependencies> = {}, signal?: AbortSignal) {
    return transcribeRecordingJob({ ...deps, ...changes }, recordingId, signal);
  }

  async function segments(recordingId: string) {
    const { rows } = await sql<{
      speaker: string;
      participant_id: string | null;
      start_ms: number;
      text: string;
    }>`
      select speaker, participant_id, start_ms, text from transcript_segments
      where recording_id = ${recordingId} order by position`.execute(db.kysely);
    return rows;
  }

  async function recording(recordingId: string) {
    return db.kysely
      .selectFrom("recordings")
      .select(["transcript_version", "transcript_language"])
      .where("id", "=", recordingId)
      .executeTakeFirstOrThrow();
  }

  /** Types of the events of a recording without those of its progress, in order. */
  async function events(recordingId: string): Promise<string[]> {
    const rows = await db.kysely
      .selectFrom("events")
      .select("type")
      .where("subject_id", "=", recordingId)
      .where("type", "<>", "transcription_updated")
      .orderBy("id")
      .execute();
    return rows.map((row) => row.type);
  }

  return { app, db, jobs, deps, speech, workspace, makeRecording, run, segments, recording, events };
}
