import { join } from "node:path";
import type { Database } from "../../../platform/db/database.ts";
import type { EngineOptions } from "../../models/engine/engine.ts";
import { type InstalledModel, listInstalled } from "../../models/store.ts";
import type { PartVoices } from "../speakers/assign.ts";
import type { AudioChunk } from "../transcriber.ts";
import { Voices } from "./protocol.ts";
import { openSpeech, type SpeechStart } from "./speech-engine.ts";

/** Tells the speakers of a recording apart. */
export interface SpeakerFinder {
  /** Whether a model is installed on this machine. */
  isAvailable(): Promise<boolean>;
  /** Name and revision of the model: embeddings of different models can't be compared. Null: none is installed. */
  findModel(): Promise<string | null>;
  /** Prepares for the parts of one recording, which are in the folder. */
  open(folder: string, start: SpeechStart): Promise<OpenSpeakerFinder>;
}

interface OpenSpeakerFinder {
  /** @throws ModelServerError when the engine fails. */
  findVoices(audio: AudioChunk, options: EngineOptions<number>): Promise<PartVoices>;
  close(): Promise<void>;
}

/** The built-in engine with the installed model of speakers. */
export function localSpeakerFinder(
  threads: number,
  { dataDir, session }: { readonly dataDir: string; readonly session: Database["session"] },
): SpeakerFinder {
  const find = async (): Promise<InstalledModel | undefined> =>
    (await listInstalled(dataDir)).find(({ kind }) => kind === "speakers");
  return {
    isAvailable: async () => (await find()) !== undefined,
    async findModel() {
      const model = await find();
      return model === undefined ? null : `${model.name}@${model.files[0]?.sha256.slice(0, 16)}`;
    },
    async open(folder, start) {
      const opened = await openSpeech(Voices, {
        folder,
        session,
        threads,
        ...start,
        choose: async () => {
          const installed = await find();
          if (installed === undefined) throw new Error("the model of speakers was removed");
          const embedding = join(installed.folder, "embedding.onnx");
          return { installed, model: { kind: "speakers" as const, embedding } };
        },
      });
      return { findVoices: (audio, options) => opened.run(audio, options), close: () => opened.close() };
    },
  };
}
