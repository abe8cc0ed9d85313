import { resolve } from "node:path";
import type { MediaFacts } from "../facts.ts";
import type { RenderResult, SpeechResult } from "./protocol.ts";
import { runChild } from "./run-child.ts";

export { MediaFailedError, MediaKilledError } from "./errors.ts";
export type { RenderResult, SpeechResult, StoryboardIndex, Waveform } from "./protocol.ts";

/** Limits of the process that works on one file; what is absent follows from the file. */
export interface MediaWorkOptions {
  /** Aborting ends the process; the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** 0 to 1, never backwards. */
  readonly onProgress?: ((fraction: number) => void) | undefined;
  readonly timeoutMs?: number | undefined;
  /** MiB. Watched where the system tells (Linux). */
  readonly maxMemoryMb?: number | undefined;
  readonly maxOutputBytes?: number | undefined;
}

/** A job is given two hours more, in which the file is fetched and what was made of it is stored. */
export const longestRenderMs = 10 * 3_600_000;

/** Encoding 4K anew, the most that cameras give, was seen to take 450 MiB. */
const defaultMaxMemoryMb = 1536;
/** Six GiB: the largest file allowed, and half of it for what encoding anew may add. */
const defaultMaxOutputBytes = 6 * 1024 ** 3;

/** Reading through takes a 500th of the length, encoding 4K anew twice the length; a busy machine ten times as long. */
export function renderTimeoutMs({
  durationMs,
  isStoredForm,
}: Pick<MediaFacts, "durationMs" | "isStoredForm">): number {
  return Math.min(120_000 + durationMs * (isStoredForm ? 1 : 20), longestRenderMs);
}

/**
 * Makes of a judged file what its recording is served with: the stored form (faststart mp4 with h264 and aac, or mp3)
 * where the file is not in it already, a thumbnail, a waveform and a storyboard. All files are written into `outDir`,
 * which is made if it is not there and is the caller's to remove, also after an error.
 * @throws MediaFailedError when the file is at fault; its message is for people. The signal's reason when aborted. Any
 * other error: the machine is at fault (no space, no permission, killed), and another try may succeed.
 */
export function renderMedia(
  { inputPath, facts, outDir }: { inputPath: string; facts: MediaFacts; outDir: string },
  options: MediaWorkOptions = {},
): Promise<RenderResult> {
  const timeoutMs = renderTimeoutMs(facts);
  return runChild(
    { task: "render", inputPath: resolve(inputPath), facts, outDir: resolve(outDir) },
    withDefaults(options, timeoutMs),
  );
}

/**
 * Writes the sound of a file for a speech model: 16 kHz mono WAV pieces (`speech-000.wav`…) that end at quiet places,
 * where possible, and overlap.
 * @param source a file in its stored form: mp4 or mp3.
 * @returns the pieces in order, with their place in the recording; none where there is no sound.
 * @throws as `renderMedia`.
 */
export function extractSpeech(
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
  // An hour takes seconds; the length is not known here, so the longest that a plan may allow is assumed.
  const timeoutMs = 20 * 60_000;
  return runChild(
    { task: "speech", inputPath: resolve(inputPath), outDir: resolve(outDir), maxChunkSec, overlapSec },
    withDefaults(options, timeoutMs),
  );
}

/**
 * Cuts a part out of a file in its stored form, to the picture and the sample, and makes what it is shown with.
 * @throws as `renderMedia`.
 */
export function cutClip(
  task: {
    readonly inputPath: string;
    readonly format: "mp4" | "mp3";
    readonly startMs: number;
    /** Not included. */
    readonly endMs: number;
    readonly outDir: string;
  },
  options: MediaWorkOptions = {},
): Promise<RenderResult> {
  const { inputPath, outDir, format, startMs, endMs } = task;
  // An mp3 is read up to the part.
  const timeoutMs = Math.min(120_000 + endMs / 10 + (endMs - startMs) * 20, longestRenderMs);
  return runChild(
    { task: "clip", inputPath: resolve(inputPath), outDir: resolve(outDir), format, startMs, endMs },
    withDefaults(options, timeoutMs),
  );
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
