import type { Config } from "../../platform/config/config.ts";
import { catalogue, isLanguage, isRecognition } from "./catalogue.ts";
import { type InstalledModel, listInstalled } from "./store.ts";

/** Whether recordings are transcribed: by a speech server, or by the built-in engine once it has a model. */
export async function hasSpeechModel(config: Pick<Config, "transcription" | "dataDir">): Promise<boolean> {
  const { transcription, dataDir } = config;
  if (transcription === null) return false;
  // The operator's choice counts also where the models are on other machines.
  if (transcription.engine === "server" || transcription.isRequired) return true;
  return (await listInstalled(dataDir)).some(isRecognition);
}

/** Whether there is a language model: a server, or the built-in one once it is installed. */
export async function hasLanguageModel(config: Pick<Config, "languageModel" | "dataDir">): Promise<boolean> {
  return (await findLanguageModelName(config)) !== null;
}

/** Whether this process itself can use a language model. */
export async function canUseLanguageModel({
  languageModel,
  dataDir,
}: Pick<Config, "languageModel" | "dataDir">): Promise<boolean> {
  if (languageModel === null) return false;
  return (
    languageModel.engine === "server" || (await findLanguageModel(dataDir, languageModel.model)) !== null
  );
}

/** The name of the language model in use, for users to read; null: there is none. */
export async function findLanguageModelName({
  languageModel,
  dataDir,
}: Pick<Config, "languageModel" | "dataDir">): Promise<string | null> {
  if (languageModel === null) return null;
  if (languageModel.engine === "server") return languageModel.model;
  const installed = await findLanguageModel(dataDir, languageModel.model);
  if (installed !== null) return installed.name;
  return languageModel.isRequired ? (languageModel.model ?? "of the workers") : null;
}

/**
 * Finds the installed language model: the one that the operator named, otherwise the first of the catalogue, otherwise a
 * custom one.
 */
export async function findLanguageModel(
  dataDir: string,
  name: string | null,
): Promise<InstalledModel | null> {
  const models = (await listInstalled(dataDir)).filter(isLanguage);
  if (name !== null) return models.find((model) => model.name === name) ?? null;
  const known = catalogue.flatMap((entry) => models.filter((model) => model.name === entry.name));
  return known[0] ?? models[0] ?? null;
}
