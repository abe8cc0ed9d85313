export { type TranscriptionDependencies, transcribeRecordingJob } from "./job.ts";
export { openAiTranscriber } from "./model/openai.ts";

export {
  findDueTranscriptions,
  markFailed as endTranscription,
  readTranscriptionProgress,
  restartFailing as restartTranscription,
} from "./queries.ts";
export { requestTranscription, retryTranscription } from "./service.ts";
