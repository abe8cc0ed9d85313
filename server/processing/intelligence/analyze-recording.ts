import { defineJob, defineRecurringJob } from "../../platform/jobs/define.ts";
import {
  lostOfRecording,
  ofRecording,
  type RecordingPayload,
} from "../../recordings/recordings/job-of-recording.ts";
import { understandRecordingJob } from "./job.ts";
import { openAiModel } from "./model/openai.ts";
import { endRun, findDueRuns, restartFailing } from "./queries.ts";

declare module "../../platform/jobs/define.ts" {
  interface JobPayloads {
    analyze_recording: RecordingPayload;
  }
}

export const analyzeRecordingKind = defineJob({
  ...ofRecording,
  name: "analyze_recording",
  label: "Summarize",
  // Models are called over the network; two at a time keep one busy while the other's result is saved.
  concurrency: 2,
  hasReservedSlots: true,
  isEnabled: ({ languageModel }) => languageModel !== null,
  discard: {
    lost: lostOfRecording,
    async end(tx, _context, recordingId) {
      await endRun(tx, recordingId, "An admin stopped the run.");
      return null;
    },
  },
  async restart(tx, recordingId) {
    await restartFailing(tx, recordingId);
    return { recordingId };
  },
  async handler({ db, log, config: { languageModel }, signal }, { recordingId }) {
    if (languageModel === null) return;
    const model = openAiModel(languageModel);
    try {
      await understandRecordingJob({ db, log, model, settings: languageModel }, recordingId, signal);
    } finally {
      await model.close();
    }
  },
});

export const enqueueDueAnalysesKind = defineRecurringJob({
  name: "enqueue_due_analyses",
  every: "sweep",
  isEnabled: ({ languageModel }) => languageModel !== null,
  async handler({ db, jobs }) {
    for (const recordingId of await findDueRuns(db.kysely))
      await db.kysely
        .transaction()
        .execute((tx) => jobs.enqueue(tx, "analyze_recording", { recordingId }, recordingId));
  },
});
