import type { MediaLimits, MediaSource, ValidationResult } from "./facts.ts";
import { inspectMedia, MediaFailedError } from "./render/index.ts";
import { resultOf } from "./validate/examine.ts";
import { validateMedia } from "./validate/index.ts";
import { sizeRules } from "./validate/requirements.ts";
import { sniff, sniffBytes } from "./validate/sniff.ts";

const any = { kind: "any" } as const;

/**
 * Validates a file of any format that can be converted; of the contract's requirements, only duration and size apply.
 * @param fetch fetches the file to this machine, where the media libraries need it, and gives a folder for them.
 * @throws as `validateMedia` and `renderMedia`.
 */
export async function validateAny(
  source: MediaSource,
  limits: MediaLimits,
  fetch: () => Promise<{ readonly inputPath: string; readonly outDir: string }>,
): Promise<ValidationResult> {
  const [tooLarge] = sizeRules(source.size, limits);
  if (tooLarge !== undefined) return { ok: false, reason: tooLarge.sentence };
  const type = source.size === 0 ? null : sniff(await source.read(0, Math.min(sniffBytes, source.size) - 1));
  if (type?.family !== "converted") return validateMedia(source, any, limits);
  try {
    return resultOf(await inspectMedia({ ...(await fetch()), container: type.container }), any, limits);
  } catch (error) {
    if (error instanceof MediaFailedError) return { ok: false, reason: error.message };
    throw error;
  }
}
