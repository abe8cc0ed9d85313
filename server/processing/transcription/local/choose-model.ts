import { basename, join } from "node:path";
import type { LocalTranscriptionSettings } from "../../../platform/config/config.ts";
import { ModelServerError } from "../../../platform/model-server/refusal.ts";
import { catalogue, isRecognition } from "../../models/catalogue.ts";
import type { InstalledModel } from "../../models/store.ts";
import { toLanguageCode } from "../languages.ts";
import { cutVocabulary } from "../vocabulary.ts";
import type { RecognitionModel } from "./protocol.ts";

/**
 * Chooses the installed model for a language: the one that the operator named, otherwise the first of the catalogue that
 * knows the language, otherwise a custom one.
 * @param language null: the model detects it.
 * @throws ModelServerError saying what to install.
 */
export function chooseModel(
  installed: readonly InstalledModel[],
  settings: Pick<LocalTranscriptionSettings, "model">,
  language: string | null,
): InstalledModel {
  const recognizers = installed.filter(isRecognition);
  if (recognizers.length === 0)
    throw unfit(
      "No speech model is installed. Install one in Settings → Transcription, or run: parley models install",
    );
  const candidates =
    settings.model === null
      ? recognizers.toSorted((a, b) => rank(a) - rank(b))
      : recognizers.filter(({ name }) => name === settings.model);
  if (candidates.length === 0)
    throw unfit(
      `The speech model ${settings.model} is not installed. Run: parley models install ${settings.model}`,
    );
  const found = candidates.find((model) => supports(model, language));
  if (found !== undefined) return found;
  const remedy = catalogue.find(
    (model) =>
      isRecognition(model) && supports(model, language) && !installed.some(({ name }) => name === model.name),
  );
  const names = candidates.map(({ name }) => name).join(", ");
  throw unfit(
    `No installed speech model (${names}) knows the language "${language}". ${
      remedy === undefined
        ? "Choose another language, or use a speech server."
        : `Choose another language, or ask an admin to install the model ${remedy.name} in Settings → Transcription (or by: parley models install ${remedy.name}), and try again.`
    }`,
  );
}

/** In the catalogue's order; custom models last. */
function rank({ name }: InstalledModel): number {
  const index = catalogue.findIndex((model) => model.name === name);
  return index === -1 ? catalogue.length : index;
}

/** Whether a model knows a language. It is not known which languages a custom model knows. */
function supports(
  { languages }: Pick<InstalledModel, "languages"> | { readonly languages: readonly string[] | null },
  language: string | null,
): boolean {
  if (language === null || languages === null) return true;
  return languages.includes(primaryCode(language));
}

/** The code without a region, such as `pt` of `pt-BR`. */
function primaryCode(language: string): string {
  return toLanguageCode(language)?.split("-")[0] ?? language;
}

/** Bytes of hotwords; they are an argument of the engine's process. */
const maxHotwordBytes = 40_000;

/** An installed model as the engine opens it. Only transducers take the vocabulary, the others ignore it. */
export function recognitionModel(
  model: InstalledModel,
  language: string | null,
  vocabulary: readonly string[],
): RecognitionModel {
  const path = (suffix: string): string => {
    const file = model.files.find(({ name }) => basename(name).endsWith(suffix));
    if (file === undefined) throw unfit(`The speech model ${model.name} has no file ${suffix}.`);
    return join(model.folder, file.name);
  };
  const common = {
    encoder: path("encoder.int8.onnx"),
    decoder: path("decoder.int8.onnx"),
    tokens: path("tokens.txt"),
  };
  return model.kind === "transducer"
    ? {
        ...common,
        kind: "transducer",
        joiner: path("joiner.int8.onnx"),
        hotwords: cutVocabulary(vocabulary, maxHotwordBytes, Buffer.byteLength),
      }
    : { ...common, kind: "whisper", language: language === null ? null : primaryCode(language) };
}

function unfit(message: string): ModelServerError {
  return new ModelServerError("settings", message);
}
