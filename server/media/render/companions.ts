import type { MediaContainer } from "../../../contract/media-formats.ts";
import { openKeyframes } from "./keyframes.ts";
import { closeInput, displaySize, openInput } from "./libav.ts";
import { createStoryboard, createThumbnail } from "./pictures.ts";
import type { RenderResult } from "./process/protocol.ts";
import { createWaveform } from "./waveform.ts";

/** Runs a stage of the work and measures its duration. */
export type Timed = <T>(stage: string, work: () => T | Promise<T>) => Promise<T>;

/**
 * Creates what a file in its stored form is shown with: a waveform, and for a video a thumbnail and a storyboard.
 * @param onProgress of this work, 0 to 1.
 */
export async function createCompanions(
  file: {
    readonly path: string;
    readonly container: MediaContainer;
    readonly isVideo: boolean;
    readonly durationMs: number;
    readonly outDir: string;
  },
  timed: Timed,
  onProgress: (fraction: number) => void,
): Promise<Pick<RenderResult, "contentType" | "width" | "height" | "thumbnail" | "waveform" | "storyboard">> {
  const { path, isVideo, durationMs, outDir } = file;
  const input = openInput(path, file.container);
  const waveform = await timed("waveform", () =>
    createWaveform(input, { outDir, durationMs }, (done) =>
      onProgress(Math.min(1, done) * (isVideo ? 0.6 : 1)),
    ),
  );
  closeInput(input);
  if (!isVideo) {
    return {
      contentType: "audio/mpeg",
      width: null,
      height: null,
      thumbnail: null,
      waveform: { path: waveform },
      storyboard: null,
    };
  }

  // Opened again: for reading the audio, the demuxer was set to skip the video.
  const film = openInput(path, "mp4");
  if (film.video === null) throw new Error("no video track");
  const keyframes = openKeyframes(film, film.video);
  const thumbnail = await timed("thumbnail", () => createThumbnail(keyframes, { outDir, durationMs }));
  const storyboard = await timed("storyboard", () =>
    createStoryboard(keyframes, { outDir, durationMs }, (done) => onProgress(0.6 + 0.4 * done)),
  );
  const { width, height } = displaySize(film.video);
  keyframes.close();
  closeInput(film);
  return { contentType: "video/mp4", width, height, thumbnail, waveform: { path: waveform }, storyboard };
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
