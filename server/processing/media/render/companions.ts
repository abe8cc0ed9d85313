import type { MediaContainer } from "../../../../shared/files/media-formats.ts";
import { detailOf, isMachineFailure, MediaFailedError } from "./errors.ts";
import { type Keyframes, openKeyframes } from "./keyframes.ts";
import { closeInput, displaySize, type Input, openInput } from "./libav.ts";
import { createStoryboard, createThumbnail } from "./pictures.ts";
import type { Companion, CompanionFailure, Companions, StoredMedia } from "./protocol.ts";
import { createWaveform } from "./waveform.ts";

/** Runs a stage of the work and measures its duration. */
export type Timed = <T>(stage: string, work: () => T | Promise<T>) => Promise<T>;

/** A file in its stored form. */
export interface StoredFile {
  readonly path: string;
  readonly container: MediaContainer;
  readonly isVideo: boolean;
  readonly durationMs: number;
  readonly outDir: string;
}

/** What is known of a stored file before anything that accompanies it is created. */
export function describeStored({
  path,
  container,
  isVideo,
}: StoredFile): Pick<StoredMedia, "contentType" | "width" | "height"> {
  if (!isVideo) return { contentType: "audio/mpeg", width: null, height: null };
  const input = openInput(path, container);
  if (input.video === null) throw new Error("no video track");
  const size = displaySize(input.video);
  closeInput(input);
  return { contentType: "video/mp4", ...size };
}

/** What a file is shown with, before any of it is created. */
export function expectedCompanions(isVideo: boolean): Companion[] {
  return isVideo ? ["waveform", "thumbnail", "storyboard"] : ["waveform"];
}

/** None of these; the details of their failures are known once they have failed. */
export function noCompanions(expected: readonly Companion[]): Companions {
  const failures = expected.map((companion) => ({ companion, detail: "" }));
  return { thumbnail: null, waveform: null, storyboard: null, failures };
}

/**
 * Runs the work on what accompanies a recording. It may fail without the recording.
 * @param failures gets the failure.
 * @returns null after a failure.
 * @throws errors of the machine: a retry may succeed.
 */
export async function attempt<T>(
  companion: Companion,
  failures: CompanionFailure[],
  work: () => Promise<T>,
): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (isMachineFailure(error)) throw error;
    failures.push({ companion, detail: detailOf(error) });
    return null;
  }
}

/**
 * Creates what a file in its stored form is shown with: a waveform, and for a video a thumbnail and a storyboard. Each may
 * fail alone.
 * @param onProgress of this work, 0 to 1.
 * @throws MediaFailedError when not one of the file's tracks can be decoded; errors of the machine.
 */
export async function createCompanions(
  file: StoredFile,
  timed: Timed,
  onProgress: (fraction: number) => void,
): Promise<Companions> {
  const { path, container, isVideo, durationMs, outDir } = file;
  const failures: CompanionFailure[] = [];
  /** Why tracks can't be decoded, and how many can. */
  const undecodable: MediaFailedError[] = [];
  let decoded = 0;
  const decode = async <T>(work: () => T | Promise<T>): Promise<T> => {
    try {
      const result = await work();
      decoded += 1;
      return result;
    } catch (error) {
      if (error instanceof MediaFailedError) undecodable.push(error);
      // Another failure doesn't say that the track is damaged.
      else decoded += 1;
      throw error;
    }
  };
  const waveform = await attempt("waveform", failures, () =>
    timed("waveform", () =>
      withInput(path, container, (input) => {
        const create = () =>
          createWaveform(input, { outDir, durationMs }, (done) =>
            onProgress(Math.min(1, done) * (isVideo ? 0.6 : 1)),
          );
        return input.audio === null ? create() : decode(create);
      }),
    ),
  );
  let thumbnail: Companions["thumbnail"] = null;
  let storyboard: Companions["storyboard"] = null;
  if (isVideo)
    // Opened again: for reading the audio, the demuxer was set to skip the video.
    await withKeyframes(path, container, async (keyframes) => {
      thumbnail = await attempt("thumbnail", failures, () =>
        timed("thumbnail", () => decode(() => createThumbnail(keyframes(), { outDir, durationMs }))),
      );
      storyboard = await attempt("storyboard", failures, () =>
        timed("storyboard", () =>
          createStoryboard(keyframes(), { outDir, durationMs }, (done) => onProgress(0.6 + 0.4 * done)),
        ),
      );
    });
  if (decoded === 0 && undecodable[0] !== undefined) throw undecodable[0];
  return { thumbnail, waveform: waveform === null ? null : { path: waveform }, storyboard, failures };
}

async function withInput<T>(
  path: string,
  container: MediaContainer,
  work: (input: Input) => T | Promise<T>,
): Promise<T> {
  const input = openInput(path, container);
  try {
    return await work(input);
  } finally {
    closeInput(input);
  }
}

/** Opens the keyframes of a video when they are first needed. */
async function withKeyframes(
  path: string,
  container: MediaContainer,
  work: (keyframes: () => Keyframes) => Promise<void>,
): Promise<void> {
  let opened: { input: Input; keyframes: Keyframes | null } | null = null;
  try {
    await work(() => {
      opened ??= { input: openInput(path, container), keyframes: null };
      if (opened.input.video === null) throw new Error("no video track");
      opened.keyframes ??= openKeyframes(opened.input, opened.input.video);
      return opened.keyframes;
    });
  } finally {
    const { input, keyframes } = (opened as { input: Input; keyframes: Keyframes | null } | null) ?? {
      input: null,
      keyframes: null,
    };
    keyframes?.close();
    if (input !== null) closeInput(input);
  }
}

/** @returns the function, and the milliseconds of each stage so far. */
export function stopwatch(): { readonly timed: Timed; readonly stageMs: Record<string, number> } {
  const stageMs: Record<string, number> = {};
  return {
    stageMs,
    timed: async (stage, work) => {
      const start = performance.now();
      const result = await work();
      stageMs[stage] = Math.round(performance.now() - start);
      return result;
    },
  };
}
