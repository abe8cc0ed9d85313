export { type TranscriptionDependencies, transcribeRecordingJob } from "./job.ts";
export { openAiTranscriber } from "./model/openai.ts";

export { findDueTranscriptions, readTranscriptionProgress } from "./queries.ts";
export { requestTranscription, retryTranscription } from "./service.ts";
