export {
  canUseLanguageModel,
  findLanguageModelName,
  hasLanguageModel,
  hasSpeechModel,
} from "./availability.ts";
export { isRecognition } from "./catalogue.ts";
export { isMachineTaken } from "./engine/machine-lock.ts";
export {
  listLanguageModels,
  listSpeechModels,
  removeInstalledModel,
  requestFileInstall,
  requestModelInstall,
} from "./service.ts";
export { listInstalled } from "./store.ts";
