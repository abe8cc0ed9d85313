import { readFileSync } from "node:fs";
import { listen, readWav, type Tone } from "../../../../../test/support/wav.ts";
import { silenceLibraries } from "../libav.ts";
import { speech } from "../speech/speech.ts";

/**
 * The sound of a media file as a speech model gets it: one chunk, or one per speaker's channel.
 * @param inputPath at most ten minutes.
 * @param outDir for the chunks.
 */
export function soundOf(inputPath: string, outDir: string) {
  silenceLibraries();
  const job = { task: "speech", inputPath, outDir, maxChunkSec: 600, overlapSec: 2 } as const;
  return speech({ ...job, watch: { parentPid: 1, timeoutMs: 1 } }, () => {}).chunks;
}

/** The tones in a media file whose channels have the same sound, at most ten minutes. @param outDir for its sound. */
export function tonesIn(inputPath: string, outDir: string): Tone[] {
  const chunks = soundOf(inputPath, outDir);
  const [only, ...others] = chunks;
  if (only === undefined || others.length > 0) throw new Error(`${inputPath} has ${chunks.length} chunks`);
  return listen(readWav(readFileSync(only.path)));
}
