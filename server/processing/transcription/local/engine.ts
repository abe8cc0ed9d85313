import type { ChildProcess } from "node:child_process";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import {
  closeFolder,
  detectConfinement,
  killConfined,
  lowerPriority,
  openFolder,
  shareFile,
  spawnConfined,
} from "../../../platform/confinement/index.ts";
import { ModelServerError } from "../../../platform/model-server/refusal.ts";
import { memoryOf } from "../../media/memory.ts";
import {
  type EngineMessage,
  type EngineModel,
  type EngineRequest,
  type EngineResult,
  type EngineTask,
  engineMessage,
  maxMessageBytes,
} from "./protocol.ts";
import { readLines } from "./read-lines.ts";

/** A process with a loaded speech model. */
export interface Engine<M extends EngineModel> {
  readonly pid: number | undefined;
  /** Whether the process has ended; a request would fail. */
  readonly hasEnded: boolean;
  /** @throws ModelServerError when the process ends or takes too long; the signal's reason when aborted. */
  run(path: string, audioMs: number, options: EngineOptions): Promise<EngineResult<M>>;
  /** Ends the process and takes the folder back. */
  close(): Promise<void>;
}

export interface EngineOptions {
  /** 0 to 1. */
  readonly onProgress?: (fraction: number) => void;
  readonly signal?: AbortSignal;
}

interface EngineSettings<M extends EngineModel> {
  /** The folder with the audio; the process can write only there. */
  readonly folder: string;
  /** The model, with absolute paths. */
  readonly model: M;
  readonly threads: number;
  readonly signal?: AbortSignal | undefined;
}

/** Loading took 16 s on a busy machine; a disk may be slow as well. */
const maxLoadMs = 300_000;
/** A machine that takes longer for a piece of audio than this hangs. */
const timeoutMs = (audioMs: number): number => 120_000 + 30 * audioMs;
const maxLifetimeMs = 48 * 3_600_000;
/** Enough for the largest model with the longest piece; what is promised to operators. */
const maxMemoryMb = 2048;
/** Address space that Node and the engine reserve beyond the memory they use. */
const reservedMb = 8192;
const watchMemoryMs = 1000;
const maxStderr = 4096;

/**
 * Starts the engine in a confined process and waits until its model is loaded.
 * @throws ModelServerError: `settings` when the engine or the model does not work on this machine, `unusable` when the
 * process ended unexpectedly.
 */
export async function startEngine<M extends EngineModel>(settings: EngineSettings<M>): Promise<Engine<M>> {
  const { folder, signal } = settings;
  signal?.throwIfAborted();
  const confinement = await detectConfinement();
  // The audio is in the folder already: nothing is linked for it.
  await openFolder(confinement, folder, join(folder, "speech"));
  const share = (path: string): Promise<string> => shareFile(confinement, folder, path);
  const task: EngineTask = {
    model: await mapPaths(settings.model, share),
    threads: settings.threads,
    watch: { parentPid: process.pid, timeoutMs: maxLifetimeMs },
  };
  const child = spawnConfined(confinement, {
    script: fileURLToPath(new URL("./child.ts", import.meta.url)),
    args: [JSON.stringify(task)],
    folder,
    limits: {
      addressSpaceMb: maxMemoryMb + reservedMb,
      cpuSec: (maxLifetimeMs / 1000) * availableParallelism(),
      fileMb: 1,
    },
    stdio: ["pipe", "ignore", "pipe", "pipe"],
  });
  lowerPriority(child);
  const conversation = converse(child);
  const engine: Engine<M> = {
    pid: child.pid,
    get hasEnded() {
      return conversation.hasEnded();
    },
    async run(path, audioMs, options) {
      return (await conversation.request(path, timeoutMs(audioMs), options)) as EngineResult<M>;
    },
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

async function mapPaths(model: EngineModel, share: (path: string) => Promise<string>): Promise<EngineModel> {
  if (model.kind === "detector") return model;
  if (model.kind === "speakers") return { ...model, embedding: await share(model.embedding) };
  const { encoder, decoder, tokens } = model;
  const common = {
    encoder: await share(encoder),
    decoder: await share(decoder),
    tokens: await share(tokens),
  };
  return model.kind === "transducer"
    ? { ...common, kind: "transducer", joiner: await share(model.joiner), hotwords: model.hotwords }
    : { ...common, kind: "whisper", language: model.language };
}

interface Waiting {
  resolve(result: EngineResult): void;
  reject(error: Error): void;
  onProgress?: ((fraction: number) => void) | undefined;
}

/** Sends requests to the process and reads its messages. */
function converse(child: ChildProcess) {
  const waiting = new Map<number, Waiting>();
  const loaded = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  loaded.promise.catch(() => {});
  let endReason: ModelServerError | null = null;
  let isOver = false;
  let stderr = "";
  let nextId = 1;

  const end = (reason: ModelServerError): void => {
    endReason ??= reason;
    killConfined(child);
  };
  const memory = setInterval(async () => {
    const megabytes = child.pid === undefined ? null : await memoryOf(child.pid);
    if (megabytes !== null && megabytes > maxMemoryMb)
      end(new ModelServerError("settings", `The speech model needs more than ${maxMemoryMb} MB of memory.`));
  }, watchMemoryMs);
  memory.unref();

  const handleMessage = (message: EngineMessage): void => {
    if (message.type === "ready") loaded.resolve();
    else if (message.type === "unusable") end(unusable(message.message));
    else if (message.type === "progress") waiting.get(message.id)?.onProgress?.(message.fraction);
    else {
      waiting.get(message.id)?.resolve(message.result);
      waiting.delete(message.id);
    }
  };
  const finish = (how: string): void => {
    if (isOver) return;
    isOver = true;
    clearInterval(memory);
    const reason = endReason ?? crashed(`${how}: ${stderr.trim()}`);
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
      handleMessage(engineMessage.parse(JSON.parse(line)));
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
    request(path: string, limitMs: number, { onProgress, signal }: EngineOptions): Promise<EngineResult> {
      if (isOver) return Promise.reject(endReason ?? crashed("ended before the request"));
      const id = nextId++;
      const { promise, resolve, reject } = Promise.withResolvers<EngineResult>();
      waiting.set(id, { resolve, reject, onProgress });
      const request: EngineRequest = { id, path };
      child.stdin?.write(`${JSON.stringify(request)}\n`);
      return guard(promise, limitMs, signal);
    },
  };
}

function crashed(detail: string): ModelServerError {
  return new ModelServerError("unusable", "The speech engine ended unexpectedly.", {
    cause: new Error(detail),
  });
}

/** A missing binary for this platform, or a model that does not load. */
function unusable(message: string): ModelServerError {
  const isMissing = /Could not find sherpa-onnx-node|Cannot find module/.test(message);
  return new ModelServerError(
    "settings",
    isMissing
      ? `The built-in speech engine has no package for ${process.platform} on ${process.arch}. Use a speech server: set PARLEY_TRANSCRIPTION_URL.`
      : "The speech model can't be loaded. Run parley models verify.",
    { cause: new Error(message) },
  );
}
