import { basename } from "node:path";
import type { LocalTranscriptionSettings } from "../../platform/config/config.ts";
import type { Database } from "../../platform/db/database.ts";
import { ModelServerError } from "../../platform/model-server/refusal.ts";
import type {
  AudioChunk,
  ChunkTranscript,
  OpenTranscriber,
  TranscribeOptions,
  Transcriber,
} from "../model/transcriber.ts";
import { ensureIntact, listInstalled, ModelError } from "../models/store.ts";
import { chooseModel, recognitionModel } from "./choose-model.ts";
import { type Engine, startEngine } from "./engine.ts";
import { takeMachine } from "./machine-lock.ts";

/** The built-in speech engine with the models of a data folder. */
export function localTranscriber(
  settings: LocalTranscriptionSettings,
  deps: { readonly dataDir: string; readonly session: Database["session"] },
): Transcriber {
  return {
    transcribe: async () => {
      throw new Error("the built-in engine must be opened for a recording");
    },
    open: (folder, options) => openLocal(settings, deps, folder, options),
  };
}

/** One recording at a time on a machine; the engine's process is kept for the length of the recording. */
async function openLocal(
  settings: LocalTranscriptionSettings,
  { dataDir, session }: { readonly dataDir: string; readonly session: Database["session"] },
  folder: string,
  { language, signal }: TranscribeOptions,
): Promise<OpenTranscriber> {
  const leave = await takeMachine(session, signal);
  let engine: Engine | null = null;

  async function ready(): Promise<Engine> {
    if (engine !== null && !engine.hasEnded) return engine;
    await engine?.close();
    engine = null;
    const model = chooseModel(await listInstalled(dataDir), settings, language);
    await ensureIntact(model).catch((error: Error) => {
      throw error instanceof ModelError ? new ModelServerError("settings", error.message) : error;
    });
    engine = await startEngine({
      folder,
      model: recognitionModel(model, language),
      threads: settings.threads,
      signal,
    });
    return engine;
  }

  return {
    async transcribe(audio: AudioChunk, options: TranscribeOptions): Promise<ChunkTranscript> {
      const running = await ready();
      const transcript = await running.transcribe(basename(audio.path), audio.endMs - audio.startMs, options);
      return { ...transcript, language: transcript.language ?? language };
    },
    async close() {
      try {
        await engine?.close();
      } finally {
        await leave();
      }
    },
  };
}
