import type pg from "pg";
import { sentences } from "../../../../contract/sentences.ts";
import { ModelServerError } from "../../../platform/model-server/refusal.ts";
import { ensureIntact, type InstalledModel, ModelError } from "../store.ts";
import { type Engine, type EngineOptions, type EngineProgram, startEngine } from "./engine.ts";
import { takeMachine } from "./machine-lock.ts";

/** The engine for one piece of work, such as a recording: its process is kept, and started again after it ended. */
export interface EngineSession<Progress, Result> {
  /** @throws ModelServerError when the engine fails; the signal's reason when aborted. */
  request(payload: unknown, timeoutMs: number, options: EngineOptions<Progress>): Promise<Result>;
  close(): Promise<void>;
}

/** A chosen model. */
export interface ChosenModel {
  /** Null for what is part of the engine. */
  readonly installed: InstalledModel | null;
  /** Creates the program's task; `share` lets it read a file of the model. */
  readonly task: (share: (path: string) => Promise<string>) => Promise<unknown>;
}

/**
 * Waits until no other engine works on this machine. The model is chosen and verified when it is first needed.
 * @param settings.folder with the input.
 */
export async function openSession<Progress, Result>(
  program: EngineProgram<Progress, Result>,
  settings: {
    readonly folder: string;
    readonly session: pg.ClientConfig;
    readonly choose: () => Promise<ChosenModel>;
    /** Called with what it has to wait for, for users to read. */
    readonly onWait?: ((text: string) => void) | undefined;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<EngineSession<Progress, Result>> {
  const { folder, signal, onWait } = settings;
  const releaseMachine = await takeMachine(settings.session, program.kind, signal, (kind) =>
    onWait?.(
      kind === "speech" || kind === "language" ? sentences[`waits_for_${kind}`] : sentences.waits_for_other,
    ),
  );
  let engine: Engine<Progress, Result> | null = null;

  async function ready(): Promise<Engine<Progress, Result>> {
    if (engine !== null && !engine.hasEnded) return engine;
    await engine?.close();
    engine = null;
    const { installed, task } = await settings.choose();
    if (installed !== null)
      await ensureIntact(installed).catch((error: Error) => {
        throw error instanceof ModelError ? new ModelServerError("settings", error.message) : error;
      });
    engine = await startEngine(program, { folder, task, signal });
    return engine;
  }

  return {
    async request(payload, timeoutMs, options) {
      return (await ready()).request(payload, timeoutMs, options);
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
