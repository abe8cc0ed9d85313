import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import type pg from "pg";
import type { z } from "zod";
import type { EngineOptions, EngineProgram } from "../../models/engine/engine.ts";
import { openSession } from "../../models/engine/session.ts";
import type { InstalledModel } from "../../models/store.ts";
import type { AudioChunk } from "../transcriber.ts";
import {
  Fraction,
  maxMessageBytes,
  type SpeechModel,
  type SpeechRequest,
  type SpeechTask,
} from "./protocol.ts";

/** The speech engine for one recording. */
export interface SpeechSession<Result> {
  /** @param options.onProgress 0 to 1. */
  run(audio: AudioChunk, options: EngineOptions<number>): Promise<Result>;
  close(): Promise<void>;
}

/** How to start the engine. */
export interface SpeechStart {
  readonly signal?: AbortSignal | undefined;
  /** Called with what it waits for, for users to read. */
  readonly onWait?: ((text: string) => void) | undefined;
}

/** A machine that takes longer for a piece of audio than this hangs. */
const timeoutMs = (audioMs: number): number => 120_000 + 30 * audioMs;

const program: Omit<EngineProgram<number, never>, "result"> = {
  kind: "speech",
  script: fileURLToPath(new URL("./child.ts", import.meta.url)),
  progress: Fraction,
  maxMessageBytes,
  // Enough for the largest model with the longest piece.
  maxMemoryMb: 2048,
  describeUnusable: (message) =>
    /Could not find sherpa-onnx-node|Cannot find module/.test(message)
      ? `The built-in speech engine has no package for ${process.platform} on ${process.arch}. Use a speech server: set PARLEY_TRANSCRIPTION_URL.`
      : "The speech model can't be loaded. Run parley models verify.",
};

/**
 * Waits for the engine of this machine. The model is chosen and verified when it is first needed.
 * @param result of the kind of model.
 * @param settings.folder with the audio.
 * @param settings.choose `installed` is null for what is part of the engine.
 */
export async function openSpeech<Result>(
  result: z.ZodType<Result>,
  settings: SpeechStart & {
    readonly folder: string;
    readonly session: pg.ClientConfig;
    readonly threads: number;
    readonly choose: () => Promise<{
      readonly installed: InstalledModel | null;
      readonly model: SpeechModel;
    }>;
  },
): Promise<SpeechSession<Result>> {
  const { folder, session, threads, signal, onWait } = settings;
  const opened = await openSession(
    { ...program, result },
    {
      folder,
      session,
      signal,
      onWait,
      async choose() {
        const { installed, model } = await settings.choose();
        const task = async (share: (path: string) => Promise<string>): Promise<SpeechTask> => ({
          model: await sharePaths(model, share),
          threads,
        });
        return { installed, task };
      },
    },
  );
  return {
    run(audio, options) {
      const request: SpeechRequest = { path: basename(audio.path) };
      return opened.request(request, timeoutMs(audio.endMs - audio.startMs), options);
    },
    close: () => opened.close(),
  };
}

async function sharePaths(
  model: SpeechModel,
  share: (path: string) => Promise<string>,
): Promise<SpeechModel> {
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
