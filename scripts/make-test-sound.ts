import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/*
 * Writes the sentence with which the speech model is tested, spoken by espeak-ng, as the 16 kHz that speech models take. Needs
 * espeak-ng and ffmpeg. The sound is ours: the licenses of the programs don't extend to what they write.
 */

const target = new URL("../server/operations/system/health/assets/test-sentence.wav", import.meta.url);
const spoken = execFileSync("espeak-ng", ["-v", "en-us", "-s", "150", "--stdout", "Good morning, everyone."]);
execFileSync(
  "ffmpeg",
  ["-y", "-v", "error", "-i", "-", "-ac", "1", "-ar", "16000", "-bitexact", fileURLToPath(target)],
  { input: spoken },
);
