import { basename } from "node:path";
import type pg from "pg";
import { ModelServerError } from "../../../platform/model-server/refusal.ts";
import type { AudioChunk } from "../model/transcriber.ts";
import { ensureIntact, type InstalledModel, ModelError } from "../models/store.ts";
import { type Engine, type EngineOptions, startEngine } from "./engine.ts";
import { takeMachine } from "./machine-lock.ts";
import type { EngineModel, EngineResult } from "./protocol.ts";

/** The engine for one recording: its process is kept, and started again after it ended. */
export interface EngineSession<M extends EngineModel> {
  run(audio: AudioChunk, options: EngineOptions): Promise<EngineResult<M>>;
  close(): Promise<void>;
}

/**
 * Waits for the engine of this machine. The model is chosen and verified when it is first needed.
 * @param settings.folder with the audio.
 * @param settings.choose `installed` is null for what is part of the engine.
 */
export async function openSession<M extends EngineModel>(settings: {
  readonly folder: string;
  readonly session: pg.ClientConfig;
  readonly threads: number;
  readonly choose: () => Promise<{ readonly installed: InstalledModel | null; readonly model: M }>;
  readonly signal?: AbortSignal | undefined;
}): Promise<EngineSession<M>> {
  const { folder, threads, signal } = settings;
  const releaseMachine = await takeMachine(settings.session, signal);
  let engine: Engine<M> | null = null;

  async function ready(): Promise<Engine<M>> {
    if (engine !== null && !engine.hasEnded) return engine;
    await engine?.close();
    engine = null;
    const { installed, model } = await settings.choose();
    if (installed !== null)
      await ensureIntact(installed).catch((error: Error) => {
        throw error instanceof ModelError ? new ModelServerError("settings", error.message) : error;
      });
    engine = await startEngine({ folder, model, threads, signal });
    return engine;
  }

  return {
    async run(audio, options) {
      const running = await ready();
      return running.run(basename(audio.path), audio.endMs - audio.startMs, options);
    },
    async close() {
      try {
        await engine?.close();
      } finally {
        await releaseMachine();
      }
    },
  };
}
