export type { LanguageModel } from "./language-model.ts";
export { openLanguageModel } from "./open-model.ts";
export { openAiModel } from "./server/openai.ts";
export { requestSummary } from "./service.ts";
