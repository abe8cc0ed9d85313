import { availableParallelism } from "node:os";
import { sentences } from "../../../contract/sentences.ts";
import type { TranscriptionSettings } from "../../platform/config/config.ts";
import { defineJob, defineRecurringJob, type JobContext } from "../../platform/jobs/define.ts";
import { defaultRetryPolicy } from "../../platform/model-server/retry.ts";
import {
  lostOfRecording,
  ofRecording,
  type RecordingPayload,
} from "../../recordings/recordings/job-of-recording.ts";
import { requestSummary } from "../intelligence/index.ts";
import { extractSpeech } from "../media/render/index.ts";
import { hasSpeechModel } from "../models/index.ts";
import { type TranscriptionDependencies, transcribeRecordingJob } from "./job.ts";
import { localSpeakerFinder } from "./local/speaker-finder.ts";
import { localSpeechDetector } from "./local/speech-detector.ts";
import { localTranscriber } from "./local/transcriber.ts";
import { findDueTranscriptions, markFailed, restartFailing } from "./queries.ts";
import { openAiTranscriber } from "./server/openai.ts";

declare module "../../platform/jobs/define.ts" {
  interface JobPayloads {
    transcribe_recording: RecordingPayload;
  }
}

/** The built-in engine loses at most this much work when it is killed. */
const localChunkSec = 300;
/** Runs of the built-in engine that end unexpectedly before a recording fails. */
const maxEngineEnds = 5;

export const transcribeRecordingKind = defineJob({
  ...ofRecording,
  name: "transcribe_recording",
  label: (i18n) => i18n.t("Transcribe"),
  // The model is the bottleneck. A speech server gets one more for each other user who waits; the built-in engine takes
  // the memory and the cores of this machine.
  concurrency: 1,
  hasReservedSlots: ({ transcription }) => transcription?.engine !== "local",
  isEnabled: ({ transcription }) => transcription !== null,
  isPaused: async (config) => !(await hasSpeechModel(config)),
  whileRunning: "repeated",
  discard: {
    lost: lostOfRecording,
    async end(tx, _context, recordingId) {
      await markFailed(tx, recordingId, sentences.transcription_stopped, "user");
      return null;
    },
  },
  async restart(tx, recordingId) {
    await restartFailing(tx, recordingId);
    return { recordingId };
  },
  async handler(context, { recordingId }) {
    const { db, store, config, log, jobs, signal } = context;
    if (config.transcription === null) return;
    await transcribeRecordingJob(
      {
        ...{ db, store, config, log, extractSpeech },
        ...enginesOf(context, config.transcription),
        onTranscript: (tx, recording) => requestSummary(tx, jobs, config, recording),
      },
      recordingId,
      signal,
    );
  },
});

function enginesOf(
  { db, config: { dataDir } }: JobContext,
  settings: TranscriptionSettings,
): Pick<
  TranscriptionDependencies,
  "transcriber" | "speakerFinder" | "speechDetector" | "maxChunkSec" | "retry"
> {
  const { session } = db;
  if (settings.engine !== "local")
    return {
      transcriber: openAiTranscriber(settings),
      speechDetector: localSpeechDetector(db),
      speakerFinder: localSpeakerFinder(Math.min(availableParallelism(), 4), { dataDir, session }),
    };
  return {
    transcriber: localTranscriber(settings, { dataDir, session }),
    maxChunkSec: localChunkSec,
    retry: { ...defaultRetryPolicy, maxUnusable: maxEngineEnds },
    speakerFinder: localSpeakerFinder(settings.threads, { dataDir, session }),
  };
}

export const enqueueDueTranscriptionsKind = defineRecurringJob({
  name: "enqueue_due_transcriptions",
  label: (i18n) => i18n.t("Enqueue due transcriptions"),
  every: "sweep",
  isEnabled: ({ transcription }) => transcription !== null,
  async handler({ db, jobs, config }) {
    if (!(await hasSpeechModel(config))) return;
    for (const recordingId of await findDueTranscriptions(db.kysely))
      await db.kysely
        .transaction()
        .execute((tx) => jobs.enqueue(tx, "transcribe_recording", { recordingId }, recordingId));
  },
});
