import type { UsedSpeechModel } from "../../../../contract/transcripts/transcript-history.ts";
import type { LocalTranscriptionSettings } from "../../../platform/config/config.ts";
import type { Database } from "../../../platform/db/database.ts";
import { listInstalled } from "../../models/store.ts";
import type { OpenTranscriber, TranscribeOptions, Transcriber } from "../transcriber.ts";
import { chooseModel, recognitionModel } from "./choose-model.ts";
import { Transcript } from "./protocol.ts";
import { openSpeech } from "./speech-engine.ts";

/** What the engine needs besides its settings. */
interface Dependencies {
  readonly dataDir: string;
  readonly session: Database["session"];
}

/** The built-in speech engine with the models of a data folder. */
export function localTranscriber(settings: LocalTranscriptionSettings, deps: Dependencies): Transcriber {
  return {
    transcribe: async () => {
      throw new Error("the built-in engine must be opened for a recording");
    },
    open: (folder, options) => openLocal(settings, deps, folder, options),
  };
}

async function openLocal(
  settings: LocalTranscriptionSettings,
  { dataDir, session }: Dependencies,
  folder: string,
  { language, vocabulary = [], signal, onWait }: TranscribeOptions,
): Promise<OpenTranscriber> {
  let used: UsedSpeechModel | undefined;
  const opened = await openSpeech(Transcript, {
    folder,
    session,
    threads: settings.threads,
    signal,
    onWait,
    choose: async () => {
      const installed = chooseModel(await listInstalled(dataDir), settings, language);
      const model = recognitionModel(installed, language, vocabulary);
      used = {
        model: installed.name,
        language,
        vocabulary: model.kind === "transducer" ? [...model.hotwords] : [],
      };
      return { installed, model };
    },
  });
  return {
    async transcribe(audio, options) {
      const transcript = await opened.run(audio, options);
      return {
        ...transcript,
        language: transcript.language ?? language,
        ...(used === undefined ? {} : { used }),
      };
    },
    close: () => opened.close(),
  };
}
