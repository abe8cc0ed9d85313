export { type ExtractSpeech, type TranscriptionDependencies, transcribeRecordingJob } from "./job.ts";
export { openAiTranscriber } from "./openai.ts";
export { findDueTranscriptions, readTranscriptionProgress, type TranscriptionProgress } from "./queries.ts";
export { requestTranscription, retryTranscription } from "./service.ts";
export { type Transcriber, TranscriptionError } from "./transcriber.ts";
