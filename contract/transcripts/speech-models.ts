import { z } from "zod";
import { ruleTexts } from "../causes/rules.ts";
import { Success } from "../common.ts";
import { operation } from "../operation.ts";

const SpeechModel = z
  .strictObject({
    name: z.string().meta({ example: "parakeet-v3" }),
    kind: z.enum(["recognition", "speakers"]).meta({
      description: "`recognition` transcribes, `speakers` tells speakers apart.",
    }),
    is_custom: z.boolean().meta({ description: "Installed from a folder; not in Parley's catalogue." }),
    is_default: z.boolean(),
    description: z.string(),
    languages: z.array(z.string()).nullable().meta({
      description: "Codes of the languages it knows; null: unknown, or it does not depend on the language.",
    }),
    bytes: z.int().min(0),
    license: z.string().nullable(),
    attribution: z.string().nullable().meta({ description: "Who made it." }),
    source: z.string().nullable(),
    state: z.enum(["available", "installing", "failed", "installed"]),
    bytes_done: z.int().min(0).meta({ description: "While it is being installed." }),
    error: z.string().nullable().meta({ description: "Why the installation failed." }),
  })
  .meta({ id: "SpeechModel" });

/** The speech recognition of the installation and its models. */
export const SpeechModels = z
  .strictObject({
    engine: z.enum(["local", "server", "off"]).meta({
      description: "What transcribes recordings; `local` is the built-in engine.",
    }),
    is_ready: z.boolean().meta({ description: "Whether new recordings are transcribed." }),
    models: z.array(SpeechModel),
  })
  .meta({ id: "SpeechModels" });

const LanguageModel = SpeechModel.omit({ kind: true, languages: true })
  .extend({
    memory_bytes: z.int().min(0).meta({ description: "Most memory that it takes while it works." }),
    minutes_per_hour: z.number().min(0).nullable().meta({
      description:
        "Minutes that the summary of an hour of meeting takes on this machine, from a trial of 20 seconds after the installation; null: not measured yet.",
    }),
    path: z.string().nullable().meta({
      description:
        "While a file is being installed, or after that failed: its path on the server's machine. Null: the model is downloaded.",
    }),
  })
  .meta({ id: "LanguageModel" });

/** The language model of the installation, and those that can be installed. */
export const LanguageModels = z
  .strictObject({
    engine: z.enum(["local", "server", "off"]).meta({
      description: "What writes summaries; `local` is the built-in model.",
    }),
    is_ready: z.boolean().meta({ description: "Whether new recordings are summarized." }),
    models: z.array(LanguageModel),
  })
  .meta({ id: "LanguageModels" });

const common = { tag: "System", gate: "every_version", permission: "admin" } as const;
const whoMay = "For admins of the operator's workspace; see `parley workspace operator`.";
const params = z.object({ name: z.string().max(64) });

export const listSpeechModels = operation({
  ...common,
  id: "listSpeechModels",
  method: "GET",
  path: "/_/api/v1/speech-models",
  summary: "List Speech Models",
  description: `Returns the models of the built-in speech engine with their licenses, and the progress of their downloads. ${whoMay}`,
  response: SpeechModels,
  errors: ["forbidden"],
});

export const installSpeechModel = operation({
  ...common,
  id: "installSpeechModel",
  method: "POST",
  path: "/_/api/v1/speech-models/:name/install",
  summary: "Install Speech Model",
  description: `Downloads a model of the catalogue in the background, on the machine of one worker. After a failure the download resumes. ${whoMay}`,
  params,
  response: Success,
  errors: ["forbidden", "not_found", "wrong_state"],
});

export const removeSpeechModel = operation({
  ...common,
  id: "removeSpeechModel",
  method: "DELETE",
  path: "/_/api/v1/speech-models/:name",
  summary: "Remove Speech Model",
  description: `Removes a model from the machine of the server that responds, or cancels its download. ${whoMay}`,
  params,
  response: Success,
  errors: ["forbidden", "not_found"],
});

export const listLanguageModels = operation({
  ...common,
  id: "listLanguageModels",
  method: "GET",
  path: "/_/api/v1/language-models",
  summary: "List Language Models",
  description: `Returns the built-in language models with their licenses, and the progress of their downloads. ${whoMay}`,
  response: LanguageModels,
  errors: ["forbidden"],
});

export const installLanguageModel = operation({
  ...common,
  id: "installLanguageModel",
  method: "POST",
  path: "/_/api/v1/language-models/:name/install",
  summary: "Install Language Model",
  description: `Downloads a model of the catalogue in the background, on the machine of one worker. After a failure the download resumes. ${whoMay}`,
  params,
  response: Success,
  errors: ["forbidden", "not_found", "wrong_state"],
});

/** Absolute on Linux and macOS; other files than models are not even looked up. */
const ModelPath = z
  .string()
  .trim()
  .max(4096)
  .regex(/^\/.*\.gguf$/isu, ruleTexts.not_model_path)
  .meta({ description: "Absolute path of a GGUF file.", example: "/srv/models/Own-Model.gguf" });

export const installLanguageModelFile = operation({
  ...common,
  id: "installLanguageModelFile",
  method: "POST",
  path: "/_/api/v1/language-models",
  summary: "Install Language Model File",
  description: `Copies a GGUF file of the server's machine in the background, on the machine of one worker. List Language Models shows the progress, and why it failed. ${whoMay}`,
  body: z.object({
    path: ModelPath,
    name: z.string().trim().min(1, "must not be blank").max(64).optional().meta({
      description: "Name of the model; by default that of the file in lowercase, without its ending.",
      example: "own-model",
    }),
  }),
  response: Success,
  errors: ["invalid_json", "invalid_input", "body_too_large", "forbidden", "not_found", "wrong_state"],
});

export const removeLanguageModel = operation({
  ...common,
  id: "removeLanguageModel",
  method: "DELETE",
  path: "/_/api/v1/language-models/:name",
  summary: "Remove Language Model",
  description: `Removes a model from the machine of the server that responds, or cancels its installation. ${whoMay}`,
  params,
  response: Success,
  errors: ["forbidden", "not_found"],
});
