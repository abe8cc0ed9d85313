import { type ChildProcess, spawn } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { constants, setPriority } from "node:os";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { damagedReason, MediaFailedError, MediaKilledError } from "./errors.ts";
import { bytesIn, memoryOf } from "./limits.ts";
import type { ChildMessage, MediaJob, Watch } from "./protocol.ts";

export interface ChildLimits {
  readonly signal?: AbortSignal | undefined;
  /** 0 to 1, never backwards. */
  readonly onProgress?: ((fraction: number) => void) | undefined;
  readonly timeoutMs: number;
  readonly maxMemoryMb: number;
  /** Beyond what lies in the folder before. */
  readonly maxOutputBytes: number;
}

/** A child that takes much is noticed before it has taken the machine. */
const watchEveryMs = 200;
const maxStderr = 8192;

/** A `MediaJob` without what the parent adds. */
export type Task = MediaJob extends infer Job ? (Job extends MediaJob ? Omit<Job, "watch"> : never) : never;

/**
 * Runs the media program on one file, in a process of its own: without the environment of the server, with less
 * priority, and within limits of time, memory and output. It is gone when the promise settles.
 * @throws MediaFailedError when the file is at fault: refused, crashed on, or over a limit. The signal's reason when it
 * was aborted; MediaKilledError when it was killed from outside; any other error means the machine, and another try may
 * do.
 */
export async function runChild<Result>(task: Task, limits: ChildLimits): Promise<Result> {
  limits.signal?.throwIfAborted();
  await mkdir(task.outDir, { recursive: true });
  const bytesBefore = await bytesIn(task.outDir);
  limits.signal?.throwIfAborted();
  // Ours comes first: it knows what to say.
  const watchdog: Watch = { parentPid: process.pid, timeoutMs: limits.timeoutMs + 10_000 };
  const job = { ...task, watch: watchdog };
  const child = spawn(
    process.execPath,
    [
      "--disable-warning=ExperimentalWarning",
      fileURLToPath(new URL("./child.ts", import.meta.url)),
      JSON.stringify(job),
    ],
    {
      cwd: task.outDir,
      // Nothing of ours: the settings hold secrets. Two arenas keep glibc from reserving memory for each thread.
      env: { PATH: "/usr/bin:/bin", MALLOC_ARENA_MAX: "2" },
      stdio: ["ignore", "ignore", "pipe", "pipe"],
    },
  );
  lowerPriority(child);
  const maxBytes = bytesBefore + limits.maxOutputBytes;
  const result = await follow<Result>(child, task.outDir, { ...limits, maxOutputBytes: maxBytes });
  const bytes = await bytesIn(task.outDir);
  if (bytes > maxBytes) throw tooLarge(bytes);
  return result;
}

function tooLarge(bytes: number): MediaFailedError {
  return new MediaFailedError("What is made of the file becomes too large.", `${bytes} bytes`);
}

/** What the child has said so far. */
interface Heard {
  isReady: boolean;
  ending: Exclude<ChildMessage, { type: "ready" | "progress" }> | null;
  stderr: string;
}

function follow<Result>(child: ChildProcess, outDir: string, limits: ChildLimits): Promise<Result> {
  return new Promise((resolve, reject) => {
    const heard: Heard = { isReady: false, ending: null, stderr: "" };
    /** Why we ended it. */
    let verdict: Error | null = null;
    const end = (reason: Error): void => {
      verdict ??= reason;
      child.kill("SIGKILL");
    };

    const onAbort = (): void => end(abortReason(limits.signal));
    limits.signal?.addEventListener("abort", onAbort);
    if (limits.signal?.aborted) onAbort();
    const stopWatching = watch(child, outDir, limits, end);

    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      heard.stderr = (heard.stderr + text).slice(-maxStderr);
    });
    createInterface({ input: child.stdio[3] as Readable }).on("line", (line) => {
      try {
        hear(JSON.parse(line) as ChildMessage);
      } catch (error) {
        // Half a line of a program that was ended, or the caller's onProgress threw.
        end(error as Error);
      }
    });
    const hear = (message: ChildMessage): void => {
      if (message.type === "ready") heard.isReady = true;
      else if (message.type === "progress") limits.onProgress?.(message.fraction);
      else {
        heard.ending = message;
        // All is written; taking the libraries down in order takes time and may crash.
        child.kill("SIGKILL");
      }
    };

    const settle = (settleWith: () => void): void => {
      stopWatching();
      limits.signal?.removeEventListener("abort", onAbort);
      settleWith();
    };
    // It could not be started; nothing else is heard of it then.
    child.once("error", (error) => settle(() => reject(error)));
    child.once("close", (code, signal) =>
      settle(() => {
        if (verdict === null && heard.ending?.type === "done") resolve(heard.ending.result as Result);
        else reject(verdict ?? causeOf(heard, code, signal));
      }),
    );
  });
}

/** Looks after time, memory and output until stopped. */
function watch(
  child: ChildProcess,
  outDir: string,
  limits: ChildLimits,
  end: (reason: Error) => void,
): () => void {
  const timeout = setTimeout(() => {
    const seconds = Math.round(limits.timeoutMs / 1000);
    end(new MediaFailedError(`The file could not be processed within ${seconds} s.`));
  }, limits.timeoutMs);
  const look = async (): Promise<void> => {
    const { pid } = child;
    if (pid === undefined) return;
    const [memoryMb, bytes] = await Promise.all([memoryOf(pid), bytesIn(outDir)]);
    if (memoryMb !== null && memoryMb > limits.maxMemoryMb) {
      end(
        new MediaFailedError(
          "Processing the file takes more memory than is allowed for one file.",
          `${Math.round(memoryMb)} MiB of ${limits.maxMemoryMb}`,
        ),
      );
    } else if (bytes > limits.maxOutputBytes) {
      end(tooLarge(bytes));
    }
  };
  const timer = setInterval(() => void look(), watchEveryMs);
  return () => {
    clearTimeout(timeout);
    clearInterval(timer);
  };
}

/** A process that ended without a result: whose fault it is. */
function causeOf(heard: Heard, code: number | null, signal: NodeJS.Signals | null): Error {
  const { ending } = heard;
  if (ending?.type === "failed") return new MediaFailedError(ending.reason, ending.detail);
  if (ending?.type === "trouble") return new Error(`media program: ${ending.message}`);
  const how = `media program ended by ${signal ?? `exit code ${code}`}: ${heard.stderr.trim()}`;
  // Faults of the program itself, which the file provokes; every other signal comes from outside.
  const crashes: readonly (string | null)[] = ["SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGTRAP"];
  if (heard.isReady && (signal === null || crashes.includes(signal))) {
    return new MediaFailedError(damagedReason, how);
  }
  return signal === "SIGKILL" ? new MediaKilledError(how) : new Error(how);
}

/** The API stays responsive while files are worked on. */
function lowerPriority(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // It has ended already, or the system does not allow it: then it runs as any other.
  }
}

function abortReason(signal: AbortSignal | undefined): Error {
  return signal?.reason instanceof Error ? signal.reason : new Error("aborted", { cause: signal?.reason });
}
