export { localTranscriber } from "./local/transcriber.ts";
export { findDueTranscriptions, readTranscriptionProgress } from "./queries.ts";
export { openAiTranscriber } from "./server/openai.ts";
export { requestTranscription, retryTranscription } from "./service.ts";
