export type { LanguageModel } from "./model/model.ts";
export { openAiModel } from "./model/openai.ts";
export { openLanguageModel } from "./open-model.ts";
export { requestUnderstanding } from "./service.ts";
