export { type IntelligenceDependencies, understandRecordingJob } from "./job.ts";
export { deleteOldUsage } from "./model/budget.ts";
export { openAiModel } from "./model/openai.ts";
export { endRun, findDueRuns, restartFailing as restartRun } from "./queries.ts";
export { requestUnderstanding } from "./service.ts";
