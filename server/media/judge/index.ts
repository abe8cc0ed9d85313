import type { Judgement, MediaExpectation, MediaLimits, MediaSource } from "../facts.ts";
import { runWorker } from "./run-worker.ts";

export interface JudgeOptions {
  /** How long the judging may go on without reading anything (60,000); it is given up after ten times as long anyway. */
  readonly timeoutMs?: number;
  /** Heap of the judging thread (64). */
  readonly maxHeapMb?: number;
  readonly signal?: AbortSignal;
}

/**
 * Judges an uploaded file by what is really in it, in a thread of its own: the thread's end, by whatever cause, is a
 * verdict ("could not be examined"), never an exception. Media requirements of the contract.
 * @param source with a path the thread reads the file itself; without, `read` is asked for at most 4 MiB at a time.
 * A fragmented mp4 costs a request or two for each fragment then: fetch it first.
 * @throws what `source.read` rejects with, or an Error when the local file cannot be read: the file was not judged,
 * and should be later. The signal's reason when it is aborted.
 */
export function judgeMedia(
  source: MediaSource,
  expectation: MediaExpectation,
  limits: MediaLimits,
  options: JudgeOptions = {},
): Promise<Judgement> {
  return runWorker(
    new URL("./worker.ts", import.meta.url),
    source,
    { expectation, limits },
    { timeoutMs: options.timeoutMs ?? 60_000, maxHeapMb: options.maxHeapMb ?? 64, signal: options.signal },
  );
}
