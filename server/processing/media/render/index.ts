import { resolve } from "node:path";
import type { ConvertedContainer } from "../../../../shared/files/media-formats.ts";
import { outputPath } from "../../../platform/confinement/index.ts";
import type { MediaFacts } from "../../../platform/db/json-columns.ts";
import type { MeasuredMedia } from "../validate/measured.ts";
import { runChild } from "./process/run-child.ts";
import type { AudioTracks, Companions, RenderResult, SpeechResult } from "./protocol.ts";

export { MediaFailedError, MediaKilledError } from "./errors.ts";
export type {
  AudioTracks,
  Companion,
  CompanionFailure,
  Companions,
  RenderResult,
  SpeechResult,
  StoryboardIndex,
  Waveform,
} from "./protocol.ts";

/** Limits of the process that works on one file; absent limits are derived from the file. */
export interface MediaWorkOptions {
  /** Aborting ends the process; the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** 0 to 1, never backwards. */
  readonly onProgress?: ((fraction: number) => void) | undefined;
  readonly timeoutMs?: number | undefined;
  /** MiB. Enforced where the system reports memory (Linux). */
  readonly maxMemoryMb?: number | undefined;
  readonly maxOutputBytes?: number | undefined;
}

/** A job has two more hours, for fetching the file and storing the results. */
export const maxRenderMs = 10 * 3_600_000;

/** Re-encoding 4K, the most that cameras produce, took up to 450 MiB. */
const defaultMaxMemoryMb = 1536;
/** Six GiB: the largest file allowed, and half of that for what re-encoding may add. */
const defaultMaxOutputBytes = 6 * 1024 ** 3;

/** The largest file allowed is read in a minute or two; one of the smallest possible packets takes far longer. */
const maxInspectMs = 15 * 60_000;

/** Reading takes a 500th of the duration, re-encoding 4K twice the duration; a busy machine takes ten times as long. */
export function renderTimeoutMs({
  durationMs,
  isStoredForm,
}: Pick<MediaFacts, "durationMs" | "isStoredForm">): number {
  return Math.min(120_000 + durationMs * (isStoredForm ? 1 : 20), maxRenderMs);
}

/**
 * Measures a file that is not of the mp4 or mp3 family.
 * @throws as `renderMedia`.
 */
export function inspectMedia(
  task: {
    readonly inputPath: string;
    readonly container: ConvertedContainer;
    readonly outDir: string;
    /** The bytes that are the file; absent: all. */
    readonly range?: { readonly start: number; readonly end: number } | undefined;
  },
  options: MediaWorkOptions = {},
): Promise<MeasuredMedia> {
  const { inputPath, container, outDir, range } = task;
  return runChild<MeasuredMedia>(
    { task: "inspect", inputPath: resolve(inputPath), outDir: resolve(outDir), container, range },
    withDefaults(options, maxInspectMs),
  );
}

/**
 * Creates the files of a recording from a validated file: the stored form (faststart mp4 with h264 and aac, or mp3)
 * unless the file has it already, a thumbnail, a waveform and a storyboard, each of which may be missing. All files are
 * written to `outDir`, which is created if needed; the caller removes it, also after an error.
 * @throws MediaFailedError when the file is the cause; its message is for users. The signal's reason when aborted. Any
 * other error: the machine is the cause (no space, no permission, killed), and a retry may succeed.
 */
export async function renderMedia(
  task: {
    readonly inputPath: string;
    readonly facts: MediaFacts;
    readonly outDir: string;
    /** What becomes of several audio tracks; absent: all but the main one are dropped. */
    readonly audioTracks?: AudioTracks | undefined;
  },
  options: MediaWorkOptions = {},
): Promise<RenderResult> {
  const { inputPath, facts, outDir, audioTracks } = task;
  const result = await runChild<RenderResult>(
    { task: "render", inputPath: resolve(inputPath), facts, outDir: resolve(outDir), audioTracks },
    withDefaults(options, renderTimeoutMs(facts)),
  );
  return withOutputPaths(result, resolve(outDir));
}

/**
 * Writes the audio of a file for a speech model: overlapping 16 kHz mono WAV chunks (`speech-000.wav`…), cut at quiet
 * points where possible.
 * @param source a file in its stored form: mp4 or mp3.
 * @returns the chunks in order, with their position in the recording; none without audio. Where the channels carry one
 * voice each, the chunks of each channel with sound, channel after channel.
 * @throws as `renderMedia`.
 */
export async function extractSpeech(
  { inputPath, outDir }: { inputPath: string; outDir: string },
  {
    maxChunkSec = 600,
    overlapSec = 2,
    ...options
  }: MediaWorkOptions & {
    readonly maxChunkSec?: number | undefined;
    readonly overlapSec?: number | undefined;
  } = {},
): Promise<SpeechResult> {
  // An hour takes seconds; the duration is unknown here, so the longest allowed by any plan is assumed.
  const timeoutMs = 20 * 60_000;
  const folder = resolve(outDir);
  const result = await runChild<SpeechResult>(
    { task: "speech", inputPath: resolve(inputPath), outDir: folder, maxChunkSec, overlapSec },
    withDefaults(options, timeoutMs),
  );
  const withPath = async (chunk: SpeechResult["chunks"][number]) => ({
    ...chunk,
    path: await outputPath(folder, chunk.path),
  });
  return { ...result, chunks: await Promise.all(result.chunks.map(withPath)) };
}

/**
 * Cuts a part out of a file in its stored form, exact to the frame and sample, and creates what it is shown with.
 * @throws as `renderMedia`.
 */
export async function cutClip(
  task: {
    readonly inputPath: string;
    readonly format: "mp4" | "mp3";
    readonly startMs: number;
    /** Exclusive. */
    readonly endMs: number;
    readonly outDir: string;
  },
  options: MediaWorkOptions = {},
): Promise<RenderResult> {
  const { inputPath, outDir, format, startMs, endMs } = task;
  // An mp3 is read from its beginning to the part.
  const timeoutMs = Math.min(120_000 + endMs / 10 + (endMs - startMs) * 20, maxRenderMs);
  const result = await runChild<RenderResult>(
    { task: "clip", inputPath: resolve(inputPath), outDir: resolve(outDir), format, startMs, endMs },
    withDefaults(options, timeoutMs),
  );
  return withOutputPaths(result, resolve(outDir));
}

/**
 * Creates what a file in its stored form is shown with: what is missing, because it failed or was damaged.
 * @throws as `renderMedia`.
 */
export async function renderCompanions(
  task: {
    readonly inputPath: string;
    readonly format: "mp4" | "mp3";
    readonly durationMs: number;
    readonly outDir: string;
  },
  options: MediaWorkOptions = {},
): Promise<Companions> {
  const { inputPath, outDir, format, durationMs } = task;
  const result = await runChild<Companions>(
    { task: "companions", inputPath: resolve(inputPath), outDir: resolve(outDir), format, durationMs },
    withDefaults(options, renderTimeoutMs({ durationMs, isStoredForm: true })),
  );
  return withCompanionPaths(result, resolve(outDir));
}

/** The child process names its files within its folder; each name is checked before use. */
async function withOutputPaths(result: RenderResult, folder: string): Promise<RenderResult> {
  const { mediaPath, speechPath } = result;
  return {
    ...result,
    ...(await withCompanionPaths(result, folder)),
    mediaPath: mediaPath === null ? null : await outputPath(folder, mediaPath),
    speechPath: speechPath === null ? null : await outputPath(folder, speechPath),
  };
}

async function withCompanionPaths(companions: Companions, folder: string): Promise<Companions> {
  const { thumbnail, waveform, storyboard, failures } = companions;
  const find = (path: string): Promise<string> => outputPath(folder, path);
  return {
    failures,
    thumbnail: thumbnail && { ...thumbnail, path: await find(thumbnail.path) },
    waveform: waveform && { path: await find(waveform.path) },
    storyboard: storyboard && {
      indexPath: await find(storyboard.indexPath),
      paths: await Promise.all(storyboard.paths.map(find)),
    },
  };
}

function withDefaults(options: MediaWorkOptions, timeoutMs: number) {
  return {
    signal: options.signal,
    onProgress: options.onProgress,
    // Timers count 31 bits of milliseconds.
    timeoutMs: Math.min(options.timeoutMs ?? timeoutMs, 2 ** 31 - 1),
    maxMemoryMb: options.maxMemoryMb ?? defaultMaxMemoryMb,
    maxOutputBytes: options.maxOutputBytes ?? defaultMaxOutputBytes,
  };
}
