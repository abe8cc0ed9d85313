export { type IntelligenceDependencies, understandRecordingJob } from "./job.ts";
export { openAiModel } from "./model/openai.ts";
export { findDueRuns } from "./queries.ts";
export { requestUnderstanding } from "./service.ts";
