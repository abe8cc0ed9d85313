export { localTranscriber } from "./local/transcriber.ts";
export { openAiTranscriber } from "./model/openai.ts";
export { findDueTranscriptions, readTranscriptionProgress } from "./queries.ts";
export { requestTranscription, retryTranscription } from "./service.ts";
