import { setTimeout as delay } from "node:timers/promises";
import type { FastifyBaseLogger } from "fastify";
import type { Config } from "../../platform/config/config.ts";
import type { Database, Tx } from "../../platform/db/database.ts";
import { ModelServerError } from "../../platform/model-server/refusal.ts";
import { decideRetry, defaultRetryPolicy, type RetryPolicy } from "../../platform/model-server/retry.ts";
import { recordingObjectKey } from "../../platform/storage/layout.ts";
import { ObjectMissingError, type ObjectStore } from "../../platform/storage/store.ts";
import { modelAttempted } from "../../platform/telemetry/signals.ts";
import { MediaFailedError } from "../media/render/index.ts";
import { withScratch } from "../media/scratch.ts";
import { endIfSupplied, finishTranscription } from "./finish.ts";
import type { SpeakerFinder } from "./local/speaker-finder.ts";
import type { SpeechDetector } from "./local/speech-detector.ts";
import {
  countFailure,
  type FailureCause,
  findChunks,
  findSpeechChoices,
  findTranscription,
  hasChunkResult,
  isRunning,
  markFailed,
  markRunning,
  postpone,
  type SpeechChoices,
  saveChunkPlan,
  saveChunkProgress,
  saveChunkResult,
  saveChunkVoices,
  saveStage,
  saveWaiting,
} from "./queries.ts";
import { markSilence } from "./silence.ts";
import { findKnownSpeakers } from "./speakers/known-speakers.ts";
import type { AudioChunk, KnownSpeaker, Transcriber } from "./transcriber.ts";

/**
 * Cuts a file's audio into 16 kHz mono WAV files with overlaps, at silences where possible. Without audio there are no
 * chunks. Where the channels carry one voice each, every channel is cut on its own. The same file is always cut the same way.
 * @throws MediaFailedError when the file can't be decoded; other errors may be transient.
 */
export type ExtractSpeech = (
  input: { readonly inputPath: string; readonly outDir: string },
  options: { readonly maxChunkSec: number; readonly overlapSec: number; readonly signal?: AbortSignal },
) => Promise<{ readonly durationMs: number; readonly chunks: readonly AudioChunk[] }>;

export interface TranscriptionDependencies {
  readonly db: Database;
  readonly store: ObjectStore;
  readonly config: Pick<Config, "dataDir" | "transcription">;
  readonly transcriber: Transcriber;
  /** Tells speakers apart; absent: only the model's own speakers are used. */
  readonly speakerFinder?: SpeakerFinder;
  /** Finds what need not be transcribed; absent: everything is. */
  readonly speechDetector?: SpeechDetector;
  /** Longest chunk; absent: as long as speech servers accept. */
  readonly maxChunkSec?: number;
  readonly extractSpeech: ExtractSpeech;
  readonly log: Pick<FastifyBaseLogger, "info" | "warn">;
  readonly retry?: RetryPolicy;
  /** Follow-up work, in the transaction that writes the transcript. */
  readonly onTranscript?: (
    tx: Tx,
    recording: { readonly id: string; readonly workspaceId: string },
  ) => Promise<void>;
}

/**
 * Nine minutes are 17 MB: below the 25 MB that OpenAI and vLLM take in one request, and the 600 s of vLLM. Longer
 * chunks make fewer seams.
 */
const maxChunkSec = 540;
const overlapSec = 2;

/** For any failure of this machine to read a file that may be fine; the log has the details. */
const machineReason = "The server could not read the recording's audio. The file may not be the cause.";

/** So short a chunk holds no speech, and models refuse it: OpenAI below 0.1 s. */
const minChunkMs = 200;

/** A transcription in progress. */
interface Run {
  readonly deps: TranscriptionDependencies;
  readonly recordingId: string;
  /** Aborted when the worker stops or the transcription is canceled. */
  readonly signal: AbortSignal;
  readonly choices: SpeechChoices;
}

/** How a run ended: all chunks are transcribed, it has to wait, or nothing is left to do. */
type Outcome = "transcribed" | "postponed" | "over";

/**
 * The job that transcribes a recording. The chunk plan and the result of each chunk are rows, so a killed job resumes
 * where it stopped, after cutting the audio again. Failures of the speech server and of reading the audio are stored on
 * the row: for short waits the job waits itself, for long ones it ends and the sweep restarts it. Other errors, such as
 * the database's, are left to the queue.
 * @param signal stops the job; the next run resumes.
 */
export async function transcribeRecordingJob(
  deps: TranscriptionDependencies,
  recordingId: string,
  signal?: AbortSignal,
): Promise<void> {
  const { db, log } = deps;
  const found = await findTranscription(db.kysely, recordingId);
  if (found === undefined || !found.is_due || !(await markRunning(db.kysely, recordingId))) return;
  if (await endIfSupplied(db, recordingId)) return;
  const choices = await chooseSpeech(deps, recordingId);
  const watch = watchForCancel(deps, recordingId);
  const signals = [watch.canceled, ...(signal === undefined ? [] : [signal])];
  try {
    await transcribe({ deps, recordingId, signal: AbortSignal.any(signals), choices }, found.file);
  } catch (error) {
    if (signal?.aborted || !watch.canceled.aborted) throw error;
    log.info({ recordingId }, "transcription stopped because it was canceled, or has ended elsewhere");
  } finally {
    watch.stop();
  }
  // Requested again before this job noticed the cancellation: it begins at once, without another turn in the queue.
  if (watch.canceled.aborted && (await findTranscription(db.kysely, recordingId))?.status === "pending")
    await transcribeRecordingJob(deps, recordingId, signal);
}

/** How often a job checks whether its transcription was canceled. */
const cancelCheckMs = 1000;

/** Aborts once the transcription was canceled, is gone, or has ended in another process. */
function watchForCancel(
  { db }: TranscriptionDependencies,
  recordingId: string,
): { readonly canceled: AbortSignal; stop(): void } {
  const canceling = new AbortController();
  const check = async (): Promise<void> => {
    // Without the database the next check finds out.
    if (!(await isRunning(db.kysely, recordingId).catch(() => true)))
      canceling.abort(new Error("the transcription was canceled"));
  };
  const timer = setInterval(() => void check(), cancelCheckMs);
  return { canceled: canceling.signal, stop: () => clearInterval(timer) };
}

/** Transcribes the recording and writes its transcript, or stores why that failed. */
async function transcribe(run: Run, file: string | null): Promise<void> {
  const { deps, recordingId } = run;
  const { db, log } = deps;
  if (file === null) return fail(run, "The recording has no file to transcribe.", "recording");
  const startedAt = Date.now();
  if ((await transcribeChunks(run, file)) !== "transcribed") return;
  const chunks = await findChunks(db.kysely, recordingId);
  const outcome = {
    language: run.choices.language,
    voiceModel: (await deps.speakerFinder?.findModel()) ?? null,
  };
  await finishTranscription(db, recordingId, chunks, outcome, deps.onTranscript);
  modelAttempted.publish({ model: "transcription", result: "success" });
  log.info({ recordingId, chunks: chunks.length, ms: Date.now() - startedAt }, "recording transcribed");
}

/** What the users chose, with the operator's language where they chose none. */
async function chooseSpeech(deps: TranscriptionDependencies, recordingId: string): Promise<SpeechChoices> {
  const { language, vocabulary } = await findSpeechChoices(deps.db.kysely, recordingId);
  return { language: language ?? deps.config.transcription?.language ?? null, vocabulary };
}

/** Transcribes every chunk that has no result yet. */
async function transcribeChunks(run: Run, file: string): Promise<Outcome> {
  const { db, store, config } = run.deps;
  const before = await findChunks(db.kysely, run.recordingId);
  const { speakerFinder } = run.deps;
  const findsSpeakers = (await speakerFinder?.isAvailable()) ?? false;
  const isDone = before.every(
    (chunk) => chunk.result !== null && (chunk.voices !== null || chunk.channel !== null || !findsSpeakers),
  );
  if (before.length > 0 && isDone) return "transcribed";
  return withScratch(config.dataDir, async (scratch): Promise<Outcome> => {
    let chunks: readonly AudioChunk[];
    try {
      await startStage(run, "audio");
      const inputPath = await scratch.fetch(store, recordingObjectKey(run.recordingId, file));
      const extracted = await run.deps.extractSpeech(
        { inputPath, outDir: scratch.folder },
        {
          maxChunkSec: run.deps.maxChunkSec ?? maxChunkSec,
          overlapSec,
          signal: run.signal,
        },
      );
      chunks = extracted.chunks;
    } catch (error) {
      return handleCuttingFailure(run, error);
    }
    const isPlanned = await db.kysely
      .transaction()
      .execute((tx) => saveChunkPlan(tx, run.recordingId, chunks));
    if (!isPlanned) return "over";
    const { speechDetector, log } = run.deps;
    if (speechDetector !== undefined)
      chunks = await startWithWait(run, (onWait) =>
        markSilence(speechDetector, scratch.folder, chunks, { log, signal: run.signal, onWait }),
      );
    await startStage(run, "words");
    const outcome = await withTranscriber(run, scratch.folder, async (transcriber) => {
      for (const position of chunks.keys()) {
        const result = await transcribeChunk(run, transcriber, chunks, position);
        if (result !== "transcribed") return result;
      }
      return "transcribed";
    });
    const isMixed = chunks.every(({ channel }) => channel === undefined);
    if (outcome !== "transcribed" || !isMixed || !findsSpeakers || speakerFinder === undefined)
      return outcome;
    return findSpeakers(run, speakerFinder, scratch.folder, chunks);
  });
}

/**
 * Finds the voices of every chunk that has none yet, a second time where the engine crashed. A transcript without speakers
 * is better than none.
 */
async function findSpeakers(
  run: Run,
  finder: SpeakerFinder,
  folder: string,
  chunks: readonly AudioChunk[],
): Promise<Outcome> {
  const { db, log } = run.deps;
  const { signal } = run;
  await startStage(run, "speakers");
  const rows = await findChunks(db.kysely, run.recordingId);
  try {
    const opened = await startWithWait(run, (onWait) => finder.open(folder, { signal, onWait }));
    try {
      for (const [position, audio] of chunks.entries()) {
        if (rows[position]?.voices != null) continue;
        const onProgress = progressWriter(run);
        const find = () => opened.findVoices(audio, { onProgress, signal });
        const voices = await find().catch((error: unknown) => {
          const isCrash = error instanceof ModelServerError && error.isRetryable && !signal.aborted;
          if (isCrash) return find();
          throw error;
        });
        if (!(await saveChunkVoices(db.kysely, run.recordingId, position, voices))) return "over";
      }
    } finally {
      await opened.close();
    }
  } catch (error) {
    if (!(error instanceof ModelServerError)) throw error;
    log.warn(
      { err: error, recordingId: run.recordingId },
      "could not tell the speakers of a recording apart",
    );
  }
  return "transcribed";
}

/** Saves what the transcription does from now on. */
async function startStage({ deps, recordingId }: Run, stage: "audio" | "words" | "speakers"): Promise<void> {
  await deps.db.kysely.transaction().execute((tx) => saveStage(tx, recordingId, stage));
}

/** Starts an engine, and shows what it waits for meanwhile. */
async function startWithWait<Opened>(
  { deps: { db, log }, recordingId }: Run,
  start: (onWait: (text: string) => void) => Promise<Opened>,
): Promise<Opened> {
  let saving: Promise<void> | null = null;
  const save = (text: string | null): Promise<void> =>
    saveWaiting(db.kysely, recordingId, text).catch((error: Error) =>
      log.warn({ err: error, recordingId }, "could not write what a transcription waits for"),
    );
  try {
    return await start((text) => {
      saving = save(text);
    });
  } finally {
    if (saving !== null) {
      await saving;
      await save(null);
    }
  }
}

/** Opens the model for one recording, if it needs that. */
async function withTranscriber(
  run: Run,
  folder: string,
  work: (transcriber: Transcriber) => Promise<Outcome>,
): Promise<Outcome> {
  const { transcriber } = run.deps;
  const { open } = transcriber;
  const opened =
    open === undefined
      ? undefined
      : await startWithWait(run, (onWait) => open(folder, { ...run.choices, signal: run.signal, onWait }));
  try {
    return await work(opened ?? transcriber);
  } finally {
    await opened?.close();
  }
}

async function transcribeChunk(
  run: Run,
  transcriber: Transcriber,
  chunks: readonly AudioChunk[],
  position: number,
): Promise<Outcome> {
  const { db } = run.deps;
  const audio = chunks[position] as AudioChunk;
  const row = { position, start_ms: audio.startMs, end_ms: audio.endMs };
  for (;;) {
    // Read again: a worker that was taken for dead may have finished it.
    const isDone = await hasChunkResult(db.kysely, run.recordingId, position);
    if (isDone === undefined) return "over";
    if (isDone) return "transcribed";
    try {
      const result =
        audio.endMs - audio.startMs < minChunkMs || audio.isSilent
          ? { language: null, durationMs: null, segments: [] }
          : await transcriber.transcribe(audio, {
              ...run.choices,
              known: await findKnown(run, transcriber, chunks, position),
              signal: run.signal,
              onProgress: progressWriter(run),
            });
      const isKept = await db.kysely
        .transaction()
        .execute((tx) => saveChunkResult(tx, run.recordingId, row, result));
      return isKept ? "transcribed" : "over";
    } catch (error) {
      if (!(error instanceof ModelServerError)) throw error;
      const outcome = await handleServerFailure(run, error);
      if (outcome !== "again") return outcome;
    }
  }
}

/** The speakers of earlier chunks, for a model that can recognize them. */
async function findKnown(
  { deps, recordingId }: Run,
  transcriber: Transcriber,
  chunks: readonly AudioChunk[],
  position: number,
): Promise<KnownSpeaker[]> {
  if (transcriber.recognizesSpeakers !== true || chunks[position]?.channel !== undefined) return [];
  const rows = await findChunks(deps.db.kysely, recordingId);
  return findKnownSpeakers(
    chunks,
    rows.slice(0, position).map(({ result }) => result),
  );
}

/** How often the progress within a chunk is written. */
const progressEveryMs = 1000;

/** Writes the progress within a chunk, at most once a second. */
function progressWriter({ deps, recordingId }: Run): (fraction: number) => void {
  let writtenAt = performance.now();
  return (fraction) => {
    if (performance.now() - writtenAt < progressEveryMs) return;
    writtenAt = performance.now();
    deps.db.kysely
      .transaction()
      .execute((tx) => saveChunkProgress(tx, recordingId, fraction))
      .catch((error: Error) =>
        deps.log.warn({ err: error, recordingId }, "could not write the progress of a transcription"),
      );
  };
}

/** Handles a failure of the speech server. Before it returns `again`, the short wait is over. */
async function handleServerFailure(run: Run, error: ModelServerError): Promise<Outcome | "again"> {
  if (!error.isRetryable) {
    await fail(run, error.message, "model");
    return "over";
  }
  const delayMs = await backOff(run, error);
  if (delayMs === null) return "over";
  if (delayMs > (run.deps.retry ?? defaultRetryPolicy).maxWaitInJobMs) return "postponed";
  await delay(delayMs, undefined, { signal: run.signal });
  return "again";
}

/**
 * Records a failure that may be transient, and when to retry.
 * @returns how long to wait; null when the transcription has failed for too long or is gone.
 */
async function backOff(run: Run, error: ModelServerError): Promise<number | null> {
  const { recordingId } = run;
  const { db, log, retry: policy = defaultRetryPolicy } = run.deps;
  const reason = error.message;
  const failure = await countFailure(db.kysely, recordingId, reason);
  if (failure === undefined) return null;
  const decision = decideRetry(policy, error, failure);
  if (decision.action === "fail") {
    await fail(run, reason, "model");
    return null;
  }
  const { delayMs } = decision;
  modelAttempted.publish({ model: "transcription", result: "error" });
  log.warn({ recordingId, attempts: failure.attempts, delayMs, reason }, "transcription failed; retrying");
  await postpone(db.kysely, recordingId, delayMs);
  return delayMs;
}

/** Handles a failure to cut the audio. */
async function handleCuttingFailure(run: Run, error: unknown): Promise<Outcome> {
  run.signal.throwIfAborted();
  const { db, log } = run.deps;
  if ((await findTranscription(db.kysely, run.recordingId)) === undefined) return "over";
  if (error instanceof MediaFailedError) {
    await fail(run, `The recording's audio can't be read. ${error.message}`, "recording");
    return "over";
  }
  if (error instanceof ObjectMissingError) {
    await fail(run, "The recording's file is missing from the file store.", "recording");
    return "over";
  }
  // The machine, not the file: no space, no memory, a store that does not respond. That may take a while to pass.
  log.warn({ err: error, recordingId: run.recordingId }, "could not cut the audio of a recording");
  const delayMs = await backOff(run, new ModelServerError("transient", machineReason));
  return delayMs === null ? "over" : "postponed";
}

async function fail({ deps, recordingId }: Run, message: string, cause: FailureCause): Promise<void> {
  await deps.db.kysely.transaction().execute((tx) => markFailed(tx, recordingId, message, cause));
  modelAttempted.publish({ model: "transcription", result: "failure" });
  deps.log.warn({ recordingId, reason: message }, "transcription failed permanently");
}
