import { writeSync } from "node:fs";
import { fileCause } from "../../../../../contract/causes/files.ts";
import { startWatchdog } from "../../../../platform/confinement/watchdog.ts";
import type { MeasuredMedia } from "../../validate/measured.ts";
import { damagedReason, detailOf, isMachineFailure, MediaFailedError } from "../errors.ts";
import type { ChildMessage, Companions, MediaJob, RenderResult, SpeechResult } from "../protocol.ts";

type MediaResult = RenderResult | Companions | SpeechResult | MeasuredMedia;

/**
 * The program that works on one file: the only place where native media code runs. Started by `run-child.ts` with a
 * `MediaJob` as its argument; reports as JSON lines on file descriptor 3, synchronously, since the libraries block the
 * event loop.
 */
const job = JSON.parse(process.argv[2] ?? "") as MediaJob;

const say = (message: ChildMessage): void => {
  writeSync(3, `${JSON.stringify(message)}\n`);
};

startWatchdog(job.watch);

let isReady = false;
let lastFraction = 0;
/** At most a hundred lines, never backwards. */
const onProgress = (fraction: number): void => {
  if (!(fraction >= lastFraction + 0.01 || (fraction >= 1 && lastFraction < 1))) return;
  lastFraction = Math.min(1, fraction);
  say({ type: "progress", fraction: lastFraction });
};

const onStored = (result: RenderResult): void => say({ type: "stored", result });

try {
  say({ type: "done", result: await work() });
} catch (error) {
  say(blame(error));
}

async function work(): Promise<MediaResult> {
  // Imported here so that a library that does not load is reported as such, not as a broken file.
  const { silenceLibraries } = await import("../libav.ts");
  silenceLibraries();
  const run = await load();
  isReady = true;
  say({ type: "ready" });
  const result = await run();
  onProgress(1);
  return result;
}

/** Whether pictures of the file are drawn. */
function hasPictures(): boolean {
  if (job.task === "render") return job.facts.mediaType === "video";
  return (job.task === "clip" || job.task === "companions") && job.format === "mp4";
}

/** Loads the code of the task and nothing else, because each task has a process of its own. */
async function load(): Promise<() => Promise<MediaResult> | MediaResult> {
  if (hasPictures()) await import("sharp");
  switch (job.task) {
    case "render": {
      const { render } = await import("../render.ts");
      return () => render(job, onProgress, onStored);
    }
    case "clip": {
      const { clip } = await import("../clip.ts");
      return () => clip(job, onProgress, onStored);
    }
    case "companions": {
      const { createCompanions, stopwatch } = await import("../companions.ts");
      const { inputPath: path, outDir, format, durationMs } = job;
      const file = { path, outDir, container: format, isVideo: format === "mp4", durationMs };
      return () => createCompanions(file, stopwatch().timed, onProgress);
    }
    case "inspect": {
      const { inspect } = await import("../inspect.ts");
      return () => inspect(job, onProgress);
    }
    case "speech": {
      const { speech } = await import("../speech/speech.ts");
      return () => speech(job, onProgress);
    }
  }
}

/**
 * The cause of a failure. Before the libraries are loaded it cannot be the file; afterwards it is the machine only if
 * the operating system refused something.
 */
function blame(error: unknown): ChildMessage {
  if (error instanceof MediaFailedError) {
    return { type: "failed", reason: error.message, detail: error.detail, cause: error.cause };
  }
  const detail = detailOf(error);
  if (!isReady || isMachineFailure(error)) return { type: "trouble", message: detail };
  return { type: "failed", reason: damagedReason, detail, cause: fileCause("file_damaged", {}) };
}
