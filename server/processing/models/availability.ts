import type { Config } from "../../platform/config/config.ts";
import { listInstalled } from "./store.ts";

/** Whether recordings are transcribed: by a speech server, or by the built-in engine once it has a model. */
export async function hasSpeechModel(config: Pick<Config, "transcription" | "dataDir">): Promise<boolean> {
  const { transcription, dataDir } = config;
  if (transcription === null) return false;
  // The operator's choice counts also where the models are on other machines.
  if (transcription.engine === "server" || transcription.isRequired) return true;
  return (await listInstalled(dataDir)).some(({ kind }) => kind !== "speakers");
}
