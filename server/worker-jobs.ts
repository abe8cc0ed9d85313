import { availableParallelism } from "node:os";
import type { FastifyBaseLogger } from "fastify";
import { importEventJob } from "./connections/imports/connect/job.ts";
import { fetchImportJob } from "./connections/imports/fetch.ts";
import { importRecordingsJob } from "./connections/imports/move/job.ts";
import type { HookSender } from "./connections/webhooks/transport/send.ts";
import { erasePersonJob } from "./governance/retention/erasure/erase-user.ts";
import { sendMailJob } from "./people/accounts/one-time-links/mailer.ts";
import { requestPasswordResetJob } from "./people/accounts/one-time-links/password-reset.ts";
import type { Config, TranscriptionSettings } from "./platform/config/config.ts";
import type { Encryptor } from "./platform/crypto/encryptor.ts";
import type { LinkSigner } from "./platform/crypto/link-signer.ts";
import type { Database } from "./platform/db/database.ts";
import type { EventLoopWatch } from "./platform/event-loop.ts";
import { type JobDefinition, job } from "./platform/jobs/pump.ts";
import type { JobQueue } from "./platform/jobs/queue.ts";
import { defaultRetryPolicy } from "./platform/model-server/retry.ts";
import type { ObjectStore } from "./platform/storage/store.ts";
import { renderCompanionsJob } from "./processing/integrity/companions.ts";
import {
  type IntelligenceDependencies,
  requestUnderstanding,
  understandRecordingJob,
} from "./processing/intelligence/index.ts";
import type { LanguageModel } from "./processing/intelligence/model/model.ts";
import { extractSpeech } from "./processing/media/render/index.ts";
import {
  hasSpeechModel,
  installModelJob,
  localSpeakerFinder,
  localSpeechDetector,
  localTranscriber,
  openAiTranscriber,
  type TranscriptionDependencies,
  transcribeRecordingJob,
} from "./processing/transcription/index.ts";
import { promoteUploadJob } from "./processing/uploads/promotion/promote.ts";
import { promoteMediaJob } from "./processing/uploads/promotion/promote-media.ts";
import { validateUploadJob } from "./processing/uploads/promotion/validate-file.ts";
import { finishUploadJob } from "./processing/uploads/transfer/finish-pieces.ts";
import { requestAccessJob } from "./sharing/access-requests/request.ts";
import { renderClipJob } from "./sharing/public-links/render-clip.ts";

export interface WorkerDependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly store: ObjectStore;
  readonly signer: LinkSigner;
  readonly encryptor: Encryptor;
  readonly sender: HookSender;
  readonly config: Config;
  /** The clock of webhooks; tests have their own, and with it the worker never sleeps. */
  readonly clock?: { now(): Date };
  readonly log: FastifyBaseLogger;
  /** Called for each job; optional. */
  readonly eventLoop?: EventLoopWatch;
}

/** Each of these keeps one core busy; the API needs some room as well. Reserved slots come on top. */
const mediaAtOnce = Math.max(1, Math.floor(availableParallelism() / 2));

/** The built-in engine loses at most this much work when it is killed. */
const localChunkSec = 300;
/** Runs of the built-in engine that end unexpectedly before a recording fails. */
const maxEngineEnds = 5;

/**
 * One at a time. A speech server gets one more for each other user who waits: the model is the bottleneck. The built-in
 * engine takes the memory and the cores of this machine.
 */
function transcriptionJob(
  deps: Omit<TranscriptionDependencies, "transcriber">,
  settings: TranscriptionSettings,
  signal: AbortSignal,
): JobDefinition {
  const isLocal = settings.engine === "local";
  const { config, db } = deps;
  const engine: Pick<TranscriptionDependencies, "transcriber" | "speechDetector" | "maxChunkSec" | "retry"> =
    isLocal
      ? {
          transcriber: localTranscriber(settings, { dataDir: config.dataDir, session: db.session }),
          maxChunkSec: localChunkSec,
          retry: { ...defaultRetryPolicy, maxUnusable: maxEngineEnds },
        }
      : { transcriber: openAiTranscriber(settings), speechDetector: localSpeechDetector(db) };
  const threads = isLocal ? settings.threads : Math.min(availableParallelism(), 4);
  const speakerFinder = localSpeakerFinder(threads, { dataDir: config.dataDir, session: db.session });
  return job({
    name: "transcribe_recording",
    concurrency: 1,
    hasReservedSlots: !isLocal,
    isPaused: async () => !(await hasSpeechModel(config)),
    run: ({ recordingId }) =>
      transcribeRecordingJob({ ...deps, ...engine, speakerFinder }, recordingId, signal),
  });
}

/** Models are called over the network; two at a time keep one busy while the other's result is saved. */
function understandingJob(deps: IntelligenceDependencies, signal: AbortSignal): JobDefinition {
  return job({
    name: "analyze_recording",
    concurrency: 2,
    hasReservedSlots: true,
    run: ({ recordingId }) => understandRecordingJob(deps, recordingId, signal),
  });
}

/** Only if a mail server is set up. */
function mailJobs(
  { config, encryptor, log }: WorkerDependencies,
  isPaused: () => Promise<boolean>,
): JobDefinition[] {
  const { smtp } = config;
  return smtp === null
    ? []
    : [
        job({
          name: "send_mail",
          concurrency: 4,
          isPaused,
          run: (data) => sendMailJob({ encryptor, smtp, log }, data),
        }),
      ];
}

/**
 * Every kind of job that this process runs.
 * @param model null: none is set up.
 * @param isQuarantined whether mail is held back.
 * @param signal ends work with models.
 */
export function listJobs(
  deps: WorkerDependencies,
  model: LanguageModel | null,
  isQuarantined: () => Promise<boolean>,
  signal: AbortSignal,
): JobDefinition[] {
  const { db, jobs, store, config, log } = deps;
  return [
    job({
      name: "promote_upload",
      concurrency: 4,
      hasReservedSlots: true,
      run: ({ uploadId }) => promoteUploadJob({ db, jobs, config }, uploadId),
    }),
    job({
      name: "validate_upload",
      concurrency: 2,
      hasReservedSlots: true,
      run: ({ uploadId }) => validateUploadJob({ db, jobs, store, config }, uploadId),
    }),
    job({
      name: "join_upload_parts",
      concurrency: 2,
      hasReservedSlots: true,
      run: ({ uploadId }) => finishUploadJob({ db, jobs, store, log }, uploadId),
    }),
    job({
      name: "promote_media",
      concurrency: mediaAtOnce,
      hasReservedSlots: true,
      run: ({ uploadId }) => promoteMediaJob({ db, jobs, store, config }, uploadId),
    }),
    job({
      name: "fetch_import",
      concurrency: 2,
      hasReservedSlots: true,
      run: ({ uploadId }) => fetchImportJob({ db, jobs, store }, uploadId),
    }),
    job({
      name: "import_recordings",
      // Mostly waits for the network. A workspace has one run at a time, so that others always find a slot.
      concurrency: 3,
      hasReservedSlots: true,
      // A restored copy must not continue imports beside the original.
      isPaused: isQuarantined,
      run: ({ runId }) =>
        importRecordingsJob({ db, jobs, store, config, encryptor: deps.encryptor }, runId, signal),
    }),
    job({
      name: "import_connection_event",
      concurrency: 2,
      hasReservedSlots: true,
      isPaused: isQuarantined,
      run: ({ connectionEventId }) =>
        importEventJob(
          {
            ...{ db, jobs, store, config, encryptor: deps.encryptor },
            onTranscript: (tx, recording) => requestUnderstanding(tx, jobs, config, recording),
          },
          connectionEventId,
          signal,
        ),
    }),
    job({
      name: "request_password_reset",
      concurrency: 2,
      run: (data) => requestPasswordResetJob({ db, jobs, encryptor: deps.encryptor, config }, data),
    }),
    job({
      name: "request_access",
      concurrency: 2,
      run: (data) => requestAccessJob({ db, jobs, encryptor: deps.encryptor, config }, data),
    }),
    job({
      name: "erase_personal_data",
      concurrency: 1,
      run: ({ erasureId }) =>
        erasePersonJob({ db, jobs, store, encryptor: deps.encryptor, config, log }, erasureId),
    }),
    job({
      name: "render_clip",
      concurrency: 1,
      hasReservedSlots: true,
      run: ({ clipId }) => renderClipJob({ db, jobs, store, config }, clipId),
    }),
    job({
      name: "render_companions",
      concurrency: 1,
      hasReservedSlots: true,
      run: ({ recordingId }) => renderCompanionsJob({ db, store, config }, recordingId),
    }),
    job({
      name: "install_model",
      concurrency: 1,
      run: ({ installId }) => installModelJob({ db, config, log }, installId, signal),
    }),
    ...mailJobs(deps, isQuarantined),
    ...(config.transcription === null
      ? []
      : [
          transcriptionJob(
            {
              db,
              store,
              config,
              log,
              extractSpeech,
              onTranscript: (tx, recording) => requestUnderstanding(tx, jobs, config, recording),
            },
            config.transcription,
            signal,
          ),
        ]),
    ...(model === null || config.languageModel === null
      ? []
      : [understandingJob({ db, log, model, settings: config.languageModel }, signal)]),
  ];
}
