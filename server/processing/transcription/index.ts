export { hasSpeechModel } from "./availability.ts";
export { type TranscriptionDependencies, transcribeRecordingJob } from "./job.ts";
export { isMachineTaken } from "./local/machine-lock.ts";
export { localSpeakerFinder } from "./local/speaker-finder.ts";
export { localSpeechDetector } from "./local/speech-detector.ts";
export { localTranscriber } from "./local/transcriber.ts";
export { openAiTranscriber } from "./model/openai.ts";
export { installModelJob } from "./models/install-job.ts";
export { listSpeechModels, removeSpeechModel, requestModelInstall } from "./models/service.ts";
export { listInstalled } from "./models/store.ts";

export {
  findDueTranscriptions,
  markFailed as endTranscription,
  readTranscriptionProgress,
  restartFailing as restartTranscription,
} from "./queries.ts";
export { requestTranscription, retryTranscription } from "./service.ts";
export { deleteOldVoices } from "./voices/profiles.ts";
