import { queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import type * as contract from "../../../contract/transcripts/speech-models.ts";
import { call, path } from "../client.ts";

export type SpeechModels = z.output<typeof contract.SpeechModels>;
export type SpeechModel = SpeechModels["models"][number];

/** How often to ask for the progress of a download. */
const progressMs = 1000;

export const speechModelsQuery = queryOptions({
  queryKey: ["speech models"],
  queryFn: ({ signal }) =>
    call<typeof contract.listSpeechModels>("GET", "/_/api/v1/speech-models", { signal }),
  refetchInterval: ({ state }) =>
    state.data?.models.some((model) => model.state === "installing") ? progressMs : false,
});

export const installSpeechModel = (name: string) =>
  call<typeof contract.installSpeechModel>("POST", path`/_/api/v1/speech-models/${name}/install`);

export const removeSpeechModel = (name: string) =>
  call<typeof contract.removeSpeechModel>("DELETE", path`/_/api/v1/speech-models/${name}`);
