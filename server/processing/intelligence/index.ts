export { openAiModel } from "./model/openai.ts";
export { requestUnderstanding } from "./service.ts";
