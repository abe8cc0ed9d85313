import { readFileSync } from "node:fs";
import { listen, readWav, type Tone } from "../../../../test/support/wav.ts";
import { silenceLibraries } from "../libav.ts";
import { speech } from "../speech/speech.ts";

/** The tones in a media file whose channels have the same sound, at most ten minutes. @param outDir for its sound. */
export function tonesIn(inputPath: string, outDir: string): Tone[] {
  silenceLibraries();
  const { chunks } = speech(
    {
      task: "speech",
      inputPath,
      outDir,
      maxChunkSec: 600,
      overlapSec: 2,
      watch: { parentPid: 1, timeoutMs: 1 },
    },
    () => {},
  );
  const [only, ...others] = chunks;
  if (only === undefined || others.length > 0) throw new Error(`${inputPath} has ${chunks.length} chunks`);
  return listen(readWav(readFileSync(only.path)));
}
