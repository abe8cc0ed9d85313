import type { ChildProcess } from "node:child_process";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { z } from "zod";
import {
  closeFolder,
  detectConfinement,
  killConfined,
  lowerPriority,
  openFolder,
  shareFile,
  spawnConfined,
} from "../../../platform/confinement/index.ts";
import { memoryOf } from "../../../platform/confinement/usage.ts";
import type { Watch } from "../../../platform/confinement/watchdog.ts";
import { ModelServerError } from "../../../platform/model-server/refusal.ts";
import { readLines } from "./read-lines.ts";

/** A program that runs a model in a process of its own, and what it sends. */
export interface EngineProgram<Progress, Result> {
  /** For messages, such as "speech". */
  readonly kind: string;
  /** Absolute path of the script. */
  readonly script: string;
  readonly progress: z.ZodType<Progress>;
  readonly result: z.ZodType<Result>;
  readonly maxMessageBytes: number;
  /** Most memory of the process; what is promised to operators. */
  readonly maxMemoryMb: number;
  /** The message for users when the program reports that it can't work. @param log what it wrote to standard error. */
  describeUnusable(message: string, log: string): string;
}

/** The only argument of an engine's process, as JSON. */
export interface EngineTask<Task> {
  readonly task: Task;
  readonly watch: Watch;
}

/** A request, one JSON line on standard input; they are worked on in order. */
export interface EngineRequest<Payload> {
  readonly id: number;
  readonly payload: Payload;
}

/** A message of an engine, one JSON line each on file descriptor 3. */
export type EngineMessage<Progress, Result> =
  | { readonly type: "ready" }
  | { readonly type: "progress"; readonly id: number; readonly progress: Progress }
  | { readonly type: "result"; readonly id: number; readonly result: Result }
  /** The engine can't work on this machine or with this model. */
  | { readonly type: "unusable"; readonly message: string };

/** What a message must be: the process reads what users said and is not trusted. */
export function engineMessage<Progress, Result>({
  progress,
  result,
}: Pick<EngineProgram<Progress, Result>, "progress" | "result">): z.ZodType<EngineMessage<Progress, Result>> {
  const id = z.int();
  const message = z.string();
  return z.discriminatedUnion("type", [
    z.strictObject({ type: z.literal("ready") }),
    z.strictObject({ type: z.literal("progress"), id, progress }),
    z.strictObject({ type: z.literal("result"), id, result }),
    z.strictObject({ type: z.literal("unusable"), message }),
  ]);
}

/** A process with a loaded model. */
export interface Engine<Progress, Result> {
  /** Whether the process has ended; a request would fail. */
  readonly hasEnded: boolean;
  /** @throws ModelServerError when the process ends or takes too long; the signal's reason when aborted. */
  request(payload: unknown, timeoutMs: number, options: EngineOptions<Progress>): Promise<Result>;
  /** Ends the process and takes the folder back. */
  close(): Promise<void>;
}

export interface EngineOptions<Progress> {
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Loading took 16 s on a busy machine; a disk may be slow as well. */
const maxLoadMs = 300_000;
const maxLifetimeMs = 48 * 3_600_000;
/** Address space that Node and an engine reserve beyond the memory they use. */
const reservedMb = 8192;
const watchMemoryMs = 1000;
/** How long a program that can't work may take to write its log. */
const logMs = 1000;
const maxStderr = 4096;

/**
 * Starts an engine in a confined process and waits until its model is loaded.
 * @param settings.folder with the input; the process can write only there.
 * @param settings.task creates the program's task; `share` lets it read a file of the model.
 * @throws ModelServerError: `settings` when the engine or the model does not work on this machine, `unusable` when the
 * process ended unexpectedly.
 */
export async function startEngine<Progress, Result>(
  program: EngineProgram<Progress, Result>,
  settings: {
    readonly folder: string;
    readonly task: (share: (path: string) => Promise<string>) => Promise<unknown>;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<Engine<Progress, Result>> {
  const { folder, signal } = settings;
  signal?.throwIfAborted();
  const confinement = await detectConfinement();
  // The input is in the folder already: nothing is linked for it.
  await openFolder(confinement, folder, join(folder, "input"));
  const task: EngineTask<unknown> = {
    task: await settings.task((path) => shareFile(confinement, folder, path)),
    watch: { parentPid: process.pid, timeoutMs: maxLifetimeMs },
  };
  const child = spawnConfined(confinement, {
    script: program.script,
    args: [JSON.stringify(task)],
    folder,
    limits: {
      addressSpaceMb: program.maxMemoryMb + reservedMb,
      cpuSec: (maxLifetimeMs / 1000) * availableParallelism(),
      fileMb: 1,
    },
    stdio: ["pipe", "ignore", "pipe", "pipe"],
  });
  lowerPriority(child);
  const conversation = converse(program, child);
  const engine: Engine<Progress, Result> = {
    get hasEnded() {
      return conversation.hasEnded();
    },
    request: conversation.request,
    async close() {
      killConfined(child);
      await conversation.ended;
      await closeFolder(confinement, folder);
    },
  };
  try {
    await conversation.ready(maxLoadMs, signal);
  } catch (error) {
    await engine.close();
    throw error;
  }
  return engine;
}

interface Waiting<Progress, Result> {
  resolve(result: Result): void;
  reject(error: Error): void;
  onProgress?: ((progress: Progress) => void) | undefined;
}

/** Sends requests to the process and reads its messages. */
function converse<Progress, Result>(program: EngineProgram<Progress, Result>, child: ChildProcess) {
  const { kind, maxMemoryMb, maxMessageBytes } = program;
  const messages = engineMessage(program);
  const waiting = new Map<number, Waiting<Progress, Result>>();
  const loaded = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  loaded.promise.catch(() => {});
  let endReason: ModelServerError | null = null;
  let unusable: string | null = null;
  let lastWords: NodeJS.Timeout | undefined;
  let isOver = false;
  let stderr = "";
  let nextId = 1;

  const crashed = (detail: string): ModelServerError =>
    new ModelServerError("unusable", `The ${kind} engine ended unexpectedly.`, { cause: new Error(detail) });
  const end = (reason: ModelServerError): void => {
    endReason ??= reason;
    killConfined(child);
  };
  const memory = setInterval(async () => {
    const megabytes = child.pid === undefined ? null : await memoryOf(child.pid);
    if (megabytes !== null && megabytes > maxMemoryMb)
      end(new ModelServerError("settings", `The ${kind} model needs more than ${maxMemoryMb} MB of memory.`));
  }, watchMemoryMs);
  memory.unref();

  const handleMessage = (message: EngineMessage<Progress, Result>): void => {
    if (message.type === "ready") {
      loaded.resolve();
    } else if (message.type === "unusable") {
      unusable ??= message.message;
      // Libraries write their log a moment later.
      lastWords ??= setTimeout(() => killConfined(child), logMs);
    } else if (message.type === "progress") {
      waiting.get(message.id)?.onProgress?.(message.progress);
    } else {
      const request = waiting.get(message.id);
      waiting.delete(message.id);
      request?.resolve(message.result);
    }
  };
  const finish = (how: string): void => {
    if (isOver) return;
    isOver = true;
    clearInterval(memory);
    clearTimeout(lastWords);
    const log = stderr.trim();
    if (unusable !== null)
      endReason ??= new ModelServerError("settings", program.describeUnusable(unusable, log), {
        cause: new Error(`${unusable}\n${log}`.trim()),
      });
    const reason = endReason ?? crashed(`${how}: ${log}`);
    loaded.reject(reason);
    for (const { reject } of waiting.values()) reject(reason);
    waiting.clear();
    ended.resolve();
  };
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr = (stderr + text).slice(-maxStderr);
  });
  readLines(child.stdio[3] as Readable, maxMessageBytes, (line) => {
    try {
      if (line === null) throw new Error(`sent more than ${maxMessageBytes} bytes in one message`);
      handleMessage(messages.parse(JSON.parse(line)));
    } catch (error) {
      // Half a line of a killed process, or a message that the engine does not send.
      end(crashed((error as Error).message));
    }
  });
  // A request to a process that has just ended; its end is reported by "close".
  child.stdin?.on("error", () => {});
  child.once("error", (error) => finish(error.message));
  child.once("close", (code, signal) => finish(signal ?? `exit code ${code}`));

  /** Kills the process when aborted or late. */
  const guard = async <T>(work: Promise<T>, limitMs: number, signal: AbortSignal | undefined): Promise<T> => {
    const onAbort = (): void => killConfined(child);
    const timer = setTimeout(
      () => end(crashed(`no result within ${Math.round(limitMs / 1000)} s`)),
      Math.min(limitMs, 2 ** 31 - 1),
    );
    signal?.addEventListener("abort", onAbort);
    if (signal?.aborted) onAbort();
    try {
      return await work;
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    }
  };

  return {
    ended: ended.promise,
    hasEnded: () => isOver,
    ready: (limitMs: number, signal: AbortSignal | undefined) => guard(loaded.promise, limitMs, signal),
    request(
      payload: unknown,
      limitMs: number,
      { onProgress, signal }: EngineOptions<Progress>,
    ): Promise<Result> {
      if (isOver) return Promise.reject(endReason ?? crashed("ended before the request"));
      const id = nextId++;
      const { promise, resolve, reject } = Promise.withResolvers<Result>();
      waiting.set(id, { resolve, reject, onProgress });
      const request: EngineRequest<unknown> = { id, payload };
      child.stdin?.write(`${JSON.stringify(request)}\n`);
      return guard(promise, limitMs, signal);
    },
  };
}
