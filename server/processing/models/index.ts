export { hasSpeechModel } from "./availability.ts";
export { isMachineTaken } from "./engine/machine-lock.ts";
export { listSpeechModels, removeSpeechModel, requestModelInstall } from "./service.ts";
export { listInstalled } from "./store.ts";
