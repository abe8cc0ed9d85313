import { convert } from "./convert.ts";
import { openKeyframes } from "./keyframes.ts";
import { closeInput, displaySize, openInput } from "./libav.ts";
import { makeStoryboard, makeThumbnail } from "./pictures.ts";
import { planMedia } from "./plan.ts";
import type { MediaJob, RenderResult } from "./protocol.ts";
import { makeWaveform } from "./waveform.ts";

/**
 * In the child: brings a file into its stored form if it is not in it, then makes of that what it is shown with.
 * @throws MediaFailedError, MachineError, errors of the operating system.
 */
export async function render(
  { inputPath, outDir, facts }: MediaJob & { task: "render" },
  onProgress: (fraction: number) => void,
): Promise<RenderResult> {
  const stageMs: Record<string, number> = {};
  const timed = async <T>(stage: string, work: () => T | Promise<T>): Promise<T> => {
    const start = performance.now();
    const result = await work();
    stageMs[stage] = Math.round(performance.now() - start);
    return result;
  };
  const isVideo = facts.mediaType === "video";

  const original = await timed("open", () => openInput(inputPath, facts.container));
  const plan = planMedia(facts, original);
  // The share of the whole that goes by until the stored form is there.
  const share = plan.form === "keep" ? 0 : plan.form === "remux" ? 0.5 : 0.9;
  const stored = await timed(plan.form, () =>
    plan.form === "keep"
      ? { path: null, durationMs: facts.durationMs }
      : convert(original, plan, { outDir, durationMs: facts.durationMs }, (done) => onProgress(done * share)),
  );
  closeInput(original);

  const { durationMs } = stored;
  const input = openInput(
    stored.path ?? inputPath,
    stored.path === null ? facts.container : isVideo ? "mp4" : "mp3",
  );
  const waveform = await timed("waveform", () =>
    makeWaveform(input, { outDir, durationMs }, (done) =>
      onProgress(share + (1 - share) * Math.min(1, done) * (isVideo ? 0.6 : 1)),
    ),
  );
  closeInput(input);
  const common = {
    mediaPath: stored.path,
    durationMs,
    waveform: { path: waveform },
    stageMs,
  };
  if (!isVideo) {
    return {
      ...common,
      contentType: "audio/mpeg",
      width: null,
      height: null,
      thumbnail: null,
      storyboard: null,
    };
  }

  // Opened anew: the pass over the sound has told the demuxer to skip the picture.
  const film = openInput(stored.path ?? inputPath, "mp4");
  if (film.video === null) throw new Error("no video track");
  const keyframes = openKeyframes(film, film.video);
  const thumbnail = await timed("thumbnail", () => makeThumbnail(keyframes, { outDir, durationMs }));
  const storyboard = await timed("storyboard", () =>
    makeStoryboard(keyframes, { outDir, durationMs }, (done) =>
      onProgress(share + (1 - share) * (0.6 + 0.4 * done)),
    ),
  );
  const { width, height } = displaySize(film.video);
  keyframes.close();
  closeInput(film);
  return { ...common, contentType: "video/mp4", width, height, thumbnail, storyboard };
}
