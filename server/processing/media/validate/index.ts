import type { MediaExpectation, MediaLimits, MediaSource, ValidationResult } from "../facts.ts";
import { runWorker } from "./run-worker.ts";

export interface ValidationOptions {
  /** How long validation may run without reading anything (60,000); it is stopped after ten times as long anyway. */
  readonly timeoutMs?: number;
  /** Heap of the validation thread (64). */
  readonly maxHeapMb?: number;
  readonly signal?: AbortSignal;
}

/**
 * Validates an uploaded file by its actual content, in a thread of its own: however the thread ends, that is a result
 * ("could not be checked"), never an exception. Source: contract, Media requirements.
 * @param source with a path the thread reads the file itself; without one, `read` is asked for at most 4 MiB at a time.
 * A fragmented mp4 then costs a request or two per fragment: fetch it first.
 * @throws what `source.read` rejects with, or an Error when the local file cannot be read: the file was not validated,
 * and must be later. The signal's reason when aborted.
 */
export function validateMedia(
  source: MediaSource,
  expectation: MediaExpectation,
  limits: MediaLimits,
  options: ValidationOptions = {},
): Promise<ValidationResult> {
  return runWorker(
    new URL("./worker.ts", import.meta.url),
    source,
    { expectation, limits },
    { timeoutMs: options.timeoutMs ?? 60_000, maxHeapMb: options.maxHeapMb ?? 64, signal: options.signal },
  );
}
