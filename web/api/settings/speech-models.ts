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
