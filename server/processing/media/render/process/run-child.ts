import type { ChildProcess } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { fileCause } from "../../../../../contract/causes/files.ts";
import {
  closeFolder,
  detectConfinement,
  killConfined,
  lowerPriority,
  openFolder,
  spawnConfined,
} from "../../../../platform/confinement/index.ts";
import { bytesIn, memoryOf } from "../../../../platform/confinement/usage.ts";
import type { Watch } from "../../../../platform/confinement/watchdog.ts";
import { damagedReason, detailOf, MediaFailedError, MediaKilledError } from "../errors.ts";
import type { ChildMessage, MediaJob, RenderResult } from "../protocol.ts";

export interface ChildLimits {
  readonly signal?: AbortSignal | undefined;
  /** 0 to 1, never backwards. */
  readonly onProgress?: ((fraction: number) => void) | undefined;
  readonly timeoutMs: number;
  readonly maxMemoryMb: number;
  /** Beyond the folder's initial content. */
  readonly maxOutputBytes: number;
}

/** A child that uses too much is noticed before it exhausts the machine. */
const watchEveryMs = 200;
const maxStderr = 8192;

/** A `MediaJob` without the fields that the parent adds. */
export type Task = MediaJob extends infer Job ? (Job extends MediaJob ? Omit<Job, "watch"> : never) : never;

/** Address space that Node and the libraries reserve beyond the memory they use. */
const reservedMb = 4096;

/**
 * Runs the media program on one file, in a confined process of its own (`server/platform/confinement`): without the
 * server's environment, at lower priority, and with limits on time, memory and output. The process has ended when the
 * promise resolves or rejects.
 * @throws MediaFailedError when the file is the cause: refused, crashed on, or over a limit. The signal's reason when
 * aborted; MediaKilledError when killed from outside; any other error means the machine, and a retry may succeed.
 */
export async function runChild<Result>(task: Task, limits: ChildLimits): Promise<Result> {
  limits.signal?.throwIfAborted();
  const { outDir } = task;
  const confinement = await detectConfinement();
  await mkdir(outDir, { recursive: true });
  try {
    const inputPath = await openFolder(confinement, outDir, task.inputPath);
    const bytesBefore = await bytesIn(outDir);
    limits.signal?.throwIfAborted();
    // Our own reason comes first: it has the better message.
    const watchdog: Watch = { parentPid: process.pid, timeoutMs: limits.timeoutMs + 10_000 };
    // The child works in its folder, as it may not be able to enter the parent folders.
    const job = { ...task, inputPath, outDir: ".", watch: watchdog };
    const maxBytes = bytesBefore + limits.maxOutputBytes;
    const child = spawnConfined(confinement, {
      script: fileURLToPath(new URL("./child.ts", import.meta.url)),
      args: [JSON.stringify(job)],
      folder: outDir,
      limits: {
        addressSpaceMb: limits.maxMemoryMb + reservedMb,
        // All cores for the whole time, in case neither this process nor the watchdog ends it.
        cpuSec: (watchdog.timeoutMs / 1000) * availableParallelism(),
        // Twice, so that the output limit, which has a better message, applies first.
        fileMb: Math.ceil(maxBytes / 1024 ** 2) * 2,
      },
      stdio: ["ignore", "ignore", "pipe", "pipe"],
    });
    lowerPriority(child);
    const result = await follow<Result>(child, outDir, { ...limits, maxOutputBytes: maxBytes });
    const bytes = await bytesIn(outDir);
    if (bytes > maxBytes) throw tooLarge(bytes);
    return result;
  } finally {
    await closeFolder(confinement, outDir);
  }
}

function tooLarge(bytes: number): MediaFailedError {
  return new MediaFailedError(
    "The converted file is too large. Upload a shorter recording.",
    `${bytes} bytes`,
    fileCause("output_too_large", {}),
  );
}

/** What the child has reported so far. */
interface ChildOutput {
  isReady: boolean;
  ending: Exclude<ChildMessage, { type: "ready" | "progress" | "stored" }> | null;
  /** What remains if the rest of the work fails. */
  stored: RenderResult | null;
  stderr: string;
}

function follow<Result>(child: ChildProcess, outDir: string, limits: ChildLimits): Promise<Result> {
  return new Promise((resolve, reject) => {
    const output: ChildOutput = { isReady: false, ending: null, stored: null, stderr: "" };
    /** Why we ended it. */
    let endReason: Error | null = null;
    const end = (reason: Error): void => {
      endReason ??= reason;
      killConfined(child);
    };

    const onAbort = (): void => end(abortReason(limits.signal));
    limits.signal?.addEventListener("abort", onAbort);
    if (limits.signal?.aborted) onAbort();
    const stopWatching = watch(child, outDir, limits, end);

    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      output.stderr = (output.stderr + text).slice(-maxStderr);
    });
    createInterface({ input: child.stdio[3] as Readable }).on("line", (line) => {
      try {
        hear(JSON.parse(line) as ChildMessage);
      } catch (error) {
        // Half a line of a killed program, or the caller's onProgress threw.
        end(error as Error);
      }
    });
    const hear = (message: ChildMessage): void => {
      if (message.type === "ready") output.isReady = true;
      else if (message.type === "stored") output.stored = message.result;
      else if (message.type === "progress") limits.onProgress?.(message.fraction);
      else {
        output.ending = message;
        // Everything is written; an orderly shutdown of the libraries takes time and may crash.
        killConfined(child);
      }
    };

    const finish = (done: () => void): void => {
      stopWatching();
      limits.signal?.removeEventListener("abort", onAbort);
      done();
    };
    // It could not be started; no other event follows.
    child.once("error", (error) => finish(() => reject(error)));
    child.once("close", (code, signal) =>
      finish(() => {
        if (endReason === null && output.ending?.type === "done")
          return resolve(output.ending.result as Result);
        const error = endReason ?? causeOf(output, code, signal);
        const stored = withoutRest(output, error);
        if (stored === null) reject(error);
        else resolve(stored as Result);
      }),
    );
  });
}

/** Enforces the limits on time, memory and output until stopped. */
function watch(
  child: ChildProcess,
  outDir: string,
  limits: ChildLimits,
  end: (reason: Error) => void,
): () => void {
  const timeout = setTimeout(() => {
    const seconds = Math.round(limits.timeoutMs / 1000);
    end(
      new MediaFailedError(
        `The file could not be processed within ${seconds} s.`,
        "",
        fileCause("processing_too_slow", { seconds }),
      ),
    );
  }, limits.timeoutMs);
  const check = async (): Promise<void> => {
    const { pid } = child;
    if (pid === undefined) return;
    const [memoryMb, bytes] = await Promise.all([memoryOf(pid), bytesIn(outDir)]);
    if (memoryMb !== null && memoryMb > limits.maxMemoryMb) {
      end(
        new MediaFailedError(
          "Processing the file needs more memory than is allowed for one file.",
          `${Math.round(memoryMb)} MiB of ${limits.maxMemoryMb}`,
          fileCause("memory_exceeded", {}),
        ),
      );
    } else if (bytes > limits.maxOutputBytes) {
      end(tooLarge(bytes));
    }
  };
  const timer = setInterval(() => void check(), watchEveryMs);
  return () => {
    clearTimeout(timeout);
    clearInterval(timer);
  };
}

/**
 * The result of work that failed once the media file was complete: what accompanies a recording never decides about it.
 * @returns null where the file itself or the machine is the cause.
 */
function withoutRest({ stored, ending }: ChildOutput, error: Error): RenderResult | null {
  const isOfRest = error instanceof MediaFailedError || error instanceof MediaKilledError;
  if (stored === null || ending?.type === "failed" || !isOfRest) return null;
  const detail = detailOf(error);
  return { ...stored, failures: stored.failures.map(({ companion }) => ({ companion, detail })) };
}

/** Finds the cause when a process ended without a result. */
function causeOf(output: ChildOutput, code: number | null, signal: NodeJS.Signals | null): Error {
  const { ending } = output;
  if (ending?.type === "failed") return new MediaFailedError(ending.reason, ending.detail, ending.cause);
  if (ending?.type === "trouble") return new Error(`media program: ${ending.message}`);
  const how = `media program ended by ${signal ?? `exit code ${code}`}: ${output.stderr.trim()}`;
  // Crashes of the program itself, caused by the file; every other signal comes from outside.
  const crashes: readonly (string | null)[] = [
    "SIGSEGV",
    "SIGABRT",
    "SIGBUS",
    "SIGFPE",
    "SIGILL",
    "SIGTRAP",
    "SIGXCPU",
  ];
  if (output.isReady && (signal === null || crashes.includes(signal))) {
    return new MediaFailedError(damagedReason, how);
  }
  return signal === "SIGKILL" ? new MediaKilledError(how) : new Error(how);
}

function abortReason(signal: AbortSignal | undefined): Error {
  return signal?.reason instanceof Error ? signal.reason : new Error("aborted", { cause: signal?.reason });
}
