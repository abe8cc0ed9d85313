export { hasSpeechModel } from "./availability.ts";
export { isMachineTaken } from "./local/machine-lock.ts";
export { localTranscriber } from "./local/transcriber.ts";
export { openAiTranscriber } from "./model/openai.ts";
export { listSpeechModels, removeSpeechModel, requestModelInstall } from "./models/service.ts";
export { listInstalled } from "./models/store.ts";

export { findDueTranscriptions, readTranscriptionProgress } from "./queries.ts";
export { requestTranscription, retryTranscription } from "./service.ts";
