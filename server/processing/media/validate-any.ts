import { open } from "node:fs/promises";
import { fileCause } from "../../../contract/causes/files.ts";
import { sniff, sniffBytes } from "../../../shared/files/media-content.ts";
import type { MediaPart } from "../../platform/db/json-columns.ts";
import type { MediaLimits, MediaSource, ValidationResult } from "./facts.ts";
import { inspectMedia, MediaFailedError } from "./render/index.ts";
import { resultOf } from "./validate/examine.ts";
import { validateMedia } from "./validate/index.ts";
import { durationRules, sizeRules } from "./validate/requirements.ts";

const any = { kind: "any" } as const;

/** Fetches the file to this machine, where the media libraries need it, and gives a folder for them. */
type Fetch = () => Promise<{ readonly inputPath: string; readonly outDir: string }>;

/**
 * Validates a file of any format that can be converted; of the contract's requirements, only duration and size apply.
 * @param range of the fetched file, where the source is a part of it.
 * @throws as `validateMedia` and `renderMedia`.
 */
export async function validateAny(
  source: MediaSource,
  limits: MediaLimits,
  fetch: Fetch,
  range?: { readonly start: number; readonly end: number },
): Promise<ValidationResult> {
  const [tooLarge] = sizeRules(source.size, limits);
  if (tooLarge !== undefined) return { ok: false, reason: tooLarge.sentence, causes: [tooLarge.cause] };
  const type = source.size === 0 ? null : sniff(await source.read(0, Math.min(sniffBytes, source.size) - 1));
  if (type?.family !== "converted") return validateMedia(source, any, limits);
  try {
    const media = await inspectMedia({ ...(await fetch()), container: type.container, range });
    return resultOf(media, any, limits);
  } catch (error) {
    if (error instanceof MediaFailedError)
      return {
        ok: false,
        reason: error.message,
        causes: [error.cause],
        detail: error.detail,
        container: type.container,
      };
    throw error;
  }
}

/**
 * Validates several files that were sent as one, one behind the other. The facts are those of the first, with the duration
 * of all parts of the recording.
 * @throws as `validateAny`.
 */
export async function validateParts(
  source: MediaSource,
  parts: readonly { readonly bytes: number; readonly speaker: string | null }[],
  limits: MediaLimits,
  fetch: Fetch,
): Promise<ValidationResult> {
  const total = parts.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total !== source.size)
    return {
      ok: false,
      reason: `The parts have ${total} bytes in all, but ${source.size} were sent: send the files again.`,
      causes: [fileCause("parts_incomplete", { expected: total, sent: source.size })],
    };
  const [tooLarge] = sizeRules(source.size, limits);
  if (tooLarge !== undefined) return { ok: false, reason: tooLarge.sentence, causes: [tooLarge.cause] };
  const fetched = await fetch();
  const file = await open(fetched.inputPath);
  try {
    const found: MediaPart[] = [];
    let first: Extract<ValidationResult, { ok: true }>["facts"] | null = null;
    let isCut = false;
    let start = 0;
    for (const [index, { bytes, speaker }] of parts.entries()) {
      const range = { start, end: start + bytes };
      const result = await validateAny(
        partOf(file, range),
        { ...limits, minDurationSec: 0 },
        async () => fetched,
        range,
      );
      if (!result.ok)
        return {
          ...result,
          reason: `Part ${index + 1}: ${result.reason}`,
          causes: [fileCause("part_failed", { number: index + 1 }), ...result.causes],
        };
      const { container, durationMs } = result.facts;
      // A part of the recording may consist of parts itself.
      if (speaker === null && result.facts.parts !== undefined) found.push(...result.facts.parts);
      else found.push({ ...range, container, durationMs, speaker });
      if (speaker === null) first ??= result.facts;
      isCut ||= result.facts.endsEarly !== undefined;
      start = range.end;
    }
    if (first === null)
      return {
        ok: false,
        reason: "There are only tracks of speakers, and no recording.",
        causes: [fileCause("only_speaker_tracks", {})],
      };
    const durationMs = found.reduce((sum, part) => sum + (part.speaker === null ? part.durationMs : 0), 0);
    const [wrong] = durationRules({ durationSec: durationMs / 1000 }, limits);
    if (wrong !== undefined) return { ok: false, reason: wrong.sentence, causes: [wrong.cause] };
    const { audioTracks: _, ...facts } = first;
    return {
      ok: true,
      facts: {
        ...facts,
        durationMs,
        sizeBytes: source.size,
        isStoredForm: false,
        parts: found,
        ...(isCut ? { endsEarly: { expected_ms: null } } : {}),
      },
    };
  } finally {
    await file.close();
  }
}

/** A range of an open file as a source of its own. */
function partOf(
  file: Awaited<ReturnType<typeof open>>,
  range: { readonly start: number; readonly end: number },
): MediaSource {
  return {
    size: range.end - range.start,
    path: null,
    async read(start, end) {
      const buffer = Buffer.alloc(end - start + 1);
      const { bytesRead } = await file.read(buffer, 0, buffer.length, range.start + start);
      return buffer.subarray(0, bytesRead);
    },
  };
}
