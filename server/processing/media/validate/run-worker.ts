import { fileCause } from "../../../../contract/causes/files.ts";
import { isOutOfMemory, startThread } from "../../../platform/run-thread.ts";
import type { MediaSource, ValidationResult } from "../facts.ts";
import { type Message, maxReadBytes, slot, slotBytes, type Task } from "./protocol.ts";

export interface WorkerLimits {
  /** Validation stops when the thread has read nothing for this long, and in any case after ten times as long. */
  readonly timeoutMs: number;
  /** Heap of the thread. */
  readonly maxHeapMb: number;
  readonly signal: AbortSignal | undefined;
}

const damaged = (what: string): ValidationResult => ({
  ok: false,
  reason:
    `The file could not be checked: ${what}. Its index is probably damaged. ` +
    "Export or convert the recording again and send the new file.",
  causes: [fileCause("check_failed", {})],
});

/**
 * Runs the validation thread on a file. Whatever happens in the thread (an endless loop, no memory left, a crash) is a
 * result about the file; a failure to read is not.
 * @param entry the thread's code: `worker.ts`.
 * @throws what `source.read` rejects with; Error when a local file cannot be read or the thread cannot be started; the
 * signal's reason.
 */
export async function runWorker(
  entry: URL,
  source: MediaSource,
  task: Omit<Task, "shared" | "size" | "path">,
  limits: WorkerLimits,
): Promise<ValidationResult> {
  limits.signal?.throwIfAborted();
  const room = source.path === null ? Math.min(maxReadBytes, source.size) : 0;
  const shared = new SharedArrayBuffer(slotBytes + room);
  const slots = new Int32Array(shared, 0, 2);
  const worker = startThread(
    entry,
    { ...task, size: source.size, path: source.path, shared } satisfies Task,
    { maxHeapMb: limits.maxHeapMb, maxYoungMb: 16 },
  );
  const { promise, resolve, reject } = Promise.withResolvers<ValidationResult>();
  let isReady = false;
  let readsOpen = 0;

  const answer = async (start: number, end: number): Promise<void> => {
    readsOpen += 1;
    const bytes = await source.read(start, end);
    if (bytes.length !== end - start + 1)
      throw new Error(`the store gave ${bytes.length} bytes instead of ${end - start + 1}`);
    new Uint8Array(shared, slotBytes).set(bytes);
    readsOpen -= 1;
    Atomics.store(slots, slot.ready, 1);
    Atomics.notify(slots, slot.ready);
  };
  worker.on("message", (message: Message) => {
    if (message.type === "ready") isReady = true;
    if (message.type === "read") answer(message.start, message.end).catch(reject);
    if (message.type === "result") resolve(message.result);
    if (message.type === "unreadable") reject(new Error(`the file could not be read: ${message.message}`));
  });
  const onEnd = (error: unknown): void => {
    if (error !== null && !isReady) reject(error);
    else resolve(damaged(isOutOfMemory(error) ? "checking it needs too much memory" : "reading it failed"));
  };
  // The exit event uses another port than the messages and may overtake the last of them.
  worker.on("error", (error) => setImmediate(onEnd, error));
  worker.on("exit", () => setImmediate(setImmediate, onEnd, null));

  let waitedMs = 0;
  let stillMs = 0;
  let seen = 0;
  const stepMs = Math.max(10, limits.timeoutMs / 8);
  const watch = setInterval(() => {
    // The time that object storage takes does not count; it has its own timeouts.
    if (readsOpen > 0) return;
    const progress = Atomics.load(slots, slot.progress);
    waitedMs += stepMs;
    stillMs = progress === seen ? stillMs + stepMs : 0;
    seen = progress;
    if (stillMs >= limits.timeoutMs || waitedMs >= 10 * limits.timeoutMs)
      resolve(damaged(`checking it took longer than ${Math.round(waitedMs / 1000)} seconds`));
  }, stepMs);
  const onAbort = (): void => reject(limits.signal?.reason);
  limits.signal?.addEventListener("abort", onAbort, { once: true });
  try {
    return await promise;
  } finally {
    clearInterval(watch);
    limits.signal?.removeEventListener("abort", onAbort);
    await worker.terminate();
  }
}
