import { queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import * as contract from "../../../contract/transcripts/speech-models.ts";
import { call } from "../client/call.ts";

export type SpeechModels = z.output<typeof contract.SpeechModels>;
export type SpeechModel = SpeechModels["models"][number];

/** How often to ask for the progress of a download. */
const progressMs = 1000;

export const speechModelsQuery = queryOptions({
  queryKey: ["speech models"],
  queryFn: ({ signal }) => call(contract.listSpeechModels, { signal }),
  refetchInterval: ({ state }) =>
    state.data?.models.some((model) => model.state === "installing") ? progressMs : false,
});

export const installSpeechModel = (name: string) => call(contract.installSpeechModel, { params: { name } });

export const removeSpeechModel = (name: string) => call(contract.removeSpeechModel, { params: { name } });

export type LanguageModels = z.output<typeof contract.LanguageModels>;
export type LanguageModel = LanguageModels["models"][number];

/** How often to ask whether the speed of a new model was measured. */
const trialMs = 10_000;

export const languageModelsQuery = queryOptions({
  queryKey: ["language models"],
  queryFn: ({ signal }) => call(contract.listLanguageModels, { signal }),
  refetchInterval: ({ state }) => {
    const models = state.data?.models ?? [];
    if (models.some((model) => model.state === "installing")) return progressMs;
    return models.some((model) => model.state === "installed" && model.minutes_per_hour === null)
      ? trialMs
      : false;
  },
});

export const installLanguageModel = (name: string) =>
  call(contract.installLanguageModel, { params: { name } });

export const installLanguageModelFile = (body: { path: string; name?: string }) =>
  call(contract.installLanguageModelFile, { body });

export const removeLanguageModel = (name: string) => call(contract.removeLanguageModel, { params: { name } });
