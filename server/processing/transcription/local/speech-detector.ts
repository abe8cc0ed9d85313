import type { Database } from "../../../platform/db/database.ts";
import type { EngineOptions } from "../../models/engine/engine.ts";
import type { AudioChunk } from "../transcriber.ts";
import { Presence } from "./protocol.ts";
import { openSpeech, type SpeechStart } from "./speech-engine.ts";

/** Tells whether anybody speaks, so that silence and noise are not sent to a speech server. */
export interface SpeechDetector {
  /** Prepares for the parts of one recording, which are in the folder. */
  open(folder: string, start: SpeechStart): Promise<OpenSpeechDetector>;
}

interface OpenSpeechDetector {
  /** @throws ModelServerError when the engine fails, as where it has no package for this platform. */
  hasSpeech(audio: AudioChunk, options: EngineOptions<number>): Promise<boolean>;
  close(): Promise<void>;
}

/** The detector of the built-in engine, which needs no model. */
export function localSpeechDetector({ session }: Pick<Database, "session">): SpeechDetector {
  return {
    async open(folder, start) {
      const model = { kind: "detector" } as const;
      const choose = async () => ({ installed: null, model });
      const opened = await openSpeech(Presence, { folder, session, threads: 1, choose, ...start });
      return {
        hasSpeech: async (audio, options) => (await opened.run(audio, options)).hasSpeech,
        close: () => opened.close(),
      };
    },
  };
}
