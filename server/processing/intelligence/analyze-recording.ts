import { sentences } from "../../../contract/sentences.ts";
import { defineJob, defineRecurringJob } from "../../platform/jobs/define.ts";
import {
  lostOfRecording,
  ofRecording,
  type RecordingPayload,
} from "../../recordings/recordings/job-of-recording.ts";
import { hasLanguageModel } from "../models/index.ts";
import { summarizeRecording } from "./job.ts";
import { openLanguageModel } from "./open-model.ts";
import { endRun, findDueRuns, restartFailing } from "./queries.ts";

declare module "../../platform/jobs/define.ts" {
  interface JobPayloads {
    analyze_recording: RecordingPayload;
  }
}

export const analyzeRecordingKind = defineJob({
  ...ofRecording,
  name: "analyze_recording",
  label: (i18n) => i18n.t("Summarize"),
  // Two at a time keep a server busy while the other's result is saved; the built-in model is used by one at a time.
  concurrency: 2,
  hasReservedSlots: ({ languageModel }) => languageModel?.engine !== "local",
  isEnabled: ({ languageModel }) => languageModel !== null,
  isPaused: async (config) => !(await hasLanguageModel(config)),
  discard: {
    lost: lostOfRecording,
    async end(tx, _context, recordingId) {
      await endRun(tx, recordingId, sentences.run_stopped);
      return null;
    },
  },
  async restart(tx, recordingId) {
    await restartFailing(tx, recordingId);
    return { recordingId };
  },
  async handler({ db, log, config, signal }, { recordingId }) {
    const { languageModel: settings } = config;
    const model = await openLanguageModel({ db, config });
    if (model === null || settings === null) return;
    try {
      await summarizeRecording({ db, log, model, settings }, recordingId, signal);
    } finally {
      await model.close();
    }
  },
});

export const enqueueDueAnalysesKind = defineRecurringJob({
  name: "enqueue_due_analyses",
  label: (i18n) => i18n.t("Enqueue due analyses"),
  every: "sweep",
  isEnabled: ({ languageModel }) => languageModel !== null,
  async handler({ db, jobs, config }) {
    if (!(await hasLanguageModel(config))) return;
    for (const recordingId of await findDueRuns(db.kysely))
      await db.kysely
        .transaction()
        .execute((tx) => jobs.enqueue(tx, "analyze_recording", { recordingId }, recordingId));
  },
});
