import { setTimeout as delay } from "node:timers/promises";
import type { FastifyBaseLogger } from "fastify";
import type { Config } from "../config.ts";
import type { Database, Tx } from "../db/database.ts";
import { MediaFailedError } from "../media/render/index.ts";
import { withScratch } from "../media/scratch.ts";
import { recordingObjectKey } from "../storage/layout.ts";
import { ObjectMissingError, type ObjectStore } from "../storage/store.ts";
import { endIfSupplied, finishTranscription } from "./finish.ts";
import {
  type ChunkRow,
  countFailure,
  findChunks,
  findTranscription,
  markFailed,
  markRunning,
  postpone,
  saveChunkPlan,
  saveChunkResult,
} from "./queries.ts";
import { backoffMs, defaultRetryPolicy, type RetryPolicy } from "./retry.ts";
import { type AudioChunk, type Transcriber, TranscriptionError } from "./transcriber.ts";

/**
 * Cuts the sound of a file into 16 kHz mono WAV files, at silences where there are any, neighbours overlapping.
 * Without sound there are no pieces. The same file is always cut the same way.
 * @throws MediaFailedError when the file is at fault; everything else may pass.
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
  readonly extractSpeech: ExtractSpeech;
  readonly log: Pick<FastifyBaseLogger, "info" | "warn">;
  readonly retry?: RetryPolicy;
  /** What follows from a transcript, in the transaction that writes it. */
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

/** For whatever keeps this machine from reading a file that may be good; the log says more. */
const machineReason =
  "The server could not read the sound of the recording, through no fault of the file as far as is known.";

/** Nothing is said in so little, and models refuse it for good: OpenAI below 0.1 s. */
const leastChunkMs = 200;

/** What is under way of one recording. */
interface Run {
  readonly deps: TranscriptionDependencies;
  readonly recordingId: string;
  readonly signal: AbortSignal | undefined;
}

/** How a run ended: all is heard, it has to wait, or there is nothing left to do. */
type Outcome = "heard" | "postponed" | "over";

/**
 * The job that makes the transcript of a recording. The plan of the chunks and what was heard in each are rows, so
 * killed at any moment it goes on where it was, cutting the audio again. Failures of the speech server are noted with
 * the row, and so are those of this machine with the sound: short waits happen here, for long ones the job ends and the
 * sweep brings it back. What is thrown here, such as by the database, is left to the queue.
 * @param signal ends the work; it goes on when the job runs again.
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
  if (found.format === null)
    return fail({ deps, recordingId, signal }, "The recording has no file to transcribe.");
  const startedAt = Date.now();
  if ((await hear({ deps, recordingId, signal }, found.format)) !== "heard") return;
  const chunks = await findChunks(db.kysely, recordingId);
  await finishTranscription(
    db,
    recordingId,
    chunks,
    deps.config.transcription?.language ?? null,
    deps.onTranscript,
  );
  log.info({ recordingId, chunks: chunks.length, ms: Date.now() - startedAt }, "recording transcribed");
}

/** Has every chunk that has no result yet transcribed. */
async function hear(run: Run, format: "mp4" | "mp3"): Promise<Outcome> {
  const { db, store, config } = run.deps;
  const before = await findChunks(db.kysely, run.recordingId);
  if (before.length > 0 && before.every((chunk) => chunk.result !== null)) return "heard";
  return withScratch(config.dataDir, async (scratch): Promise<Outcome> => {
    let chunks: readonly AudioChunk[];
    try {
      const inputPath = await scratch.fetch(store, recordingObjectKey(run.recordingId, `media.${format}`));
      const extracted = await run.deps.extractSpeech(
        { inputPath, outDir: scratch.folder },
        { maxChunkSec, overlapSec, ...(run.signal === undefined ? {} : { signal: run.signal }) },
      );
      chunks = extracted.chunks;
    } catch (error) {
      return settleCutting(run, error);
    }
    const isPlanned = await db.kysely
      .transaction()
      .execute((tx) => saveChunkPlan(tx, run.recordingId, chunks));
    if (!isPlanned) return "over";
    for (const [position, audio] of chunks.entries()) {
      const outcome = await hearChunk(run, audio, position);
      if (outcome !== "heard") return outcome;
    }
    return "heard";
  });
}

async function hearChunk(run: Run, audio: AudioChunk, position: number): Promise<Outcome> {
  const { db, transcriber, config } = run.deps;
  const row: Omit<ChunkRow, "result"> = { position, start_ms: audio.startMs, end_ms: audio.endMs };
  for (;;) {
    // Read anew: a worker that was taken for dead may have finished it.
    const now = (await findChunks(db.kysely, run.recordingId))[position];
    if (now === undefined) return "over";
    if (now.result !== null) return "heard";
    try {
      const result =
        audio.endMs - audio.startMs < leastChunkMs
          ? { language: null, durationMs: null, segments: [] }
          : await transcriber.transcribe(audio, {
              language: config.transcription?.language ?? null,
              ...(run.signal === undefined ? {} : { signal: run.signal }),
            });
      const isKept = await db.kysely
        .transaction()
        .execute((tx) => saveChunkResult(tx, run.recordingId, row, result));
      return isKept ? "heard" : "over";
    } catch (error) {
      if (!(error instanceof TranscriptionError)) throw error;
      const outcome = await settleFailure(run, error);
      if (outcome !== "again") return outcome;
    }
  }
}

/** Decides what a failure of the speech server means. Short waits are over when this returns `again`. */
async function settleFailure(run: Run, error: TranscriptionError): Promise<Outcome | "again"> {
  if (!error.isRetryable) {
    await fail(run, error.message);
    return "over";
  }
  const delayMs = await backOff(run, error.message, error.retryAfterMs);
  if (delayMs === null) return "over";
  if (delayMs > (run.deps.retry ?? defaultRetryPolicy).longestWaitInJobMs) return "postponed";
  await delay(delayMs, undefined, run.signal === undefined ? {} : { signal: run.signal });
  return "again";
}

/**
 * Notes a failure that may pass, and when to try again.
 * @returns how long to wait; null when the transcription is over, since it has failed for too long or is gone.
 */
async function backOff(run: Run, reason: string, retryAfterMs: number | null): Promise<number | null> {
  const { recordingId } = run;
  const { db, log } = run.deps;
  const policy = run.deps.retry ?? defaultRetryPolicy;
  const failure = await countFailure(db.kysely, recordingId, reason);
  if (failure === undefined) return null;
  const { attempts } = failure;
  const delayMs = backoffMs(policy, attempts, retryAfterMs);
  log.warn({ recordingId, attempts, delayMs, reason }, "transcription failed; trying again");
  if (failure.failing_ms + delayMs > policy.giveUpAfterMs) {
    await fail(run, reason);
    return null;
  }
  await postpone(db.kysely, recordingId, delayMs);
  return delayMs;
}

/** Decides what it means that the audio could not be cut. */
async function settleCutting(run: Run, error: unknown): Promise<Outcome> {
  run.signal?.throwIfAborted();
  const { db, log } = run.deps;
  if ((await findTranscription(db.kysely, run.recordingId)) === undefined) return "over";
  if (error instanceof MediaFailedError) {
    await fail(run, `The sound of the recording can't be read. ${error.message}`);
    return "over";
  }
  if (error instanceof ObjectMissingError) {
    await fail(run, "The file of the recording is missing in the store.");
    return "over";
  }
  // The machine, not the file: no space, no memory, a store that does not answer. That may take a while to pass.
  log.warn({ err: error, recordingId: run.recordingId }, "could not cut the sound of a recording");
  const delayMs = await backOff(run, machineReason, null);
  return delayMs === null ? "over" : "postponed";
}

async function fail({ deps, recordingId }: Run, message: string): Promise<void> {
  await markFailed(deps.db.kysely, recordingId, message);
  deps.log.warn({ recordingId, reason: message }, "gave the transcription up");
}
