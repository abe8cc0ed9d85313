import { setTimeout as delay } from "node:timers/promises";
import type { FastifyBaseLogger } from "fastify";
import { sentences } from "../../../contract/sentences.ts";
import { minTranscriptForChaptersMs } from "../../../shared/chapters.ts";
import type { LanguageModelSettings } from "../../platform/config/config.ts";
import type { Database } from "../../platform/db/database.ts";
import { ModelServerError } from "../../platform/model-server/refusal.ts";
import { decideRetry, defaultRetryPolicy, type RetryPolicy } from "../../platform/model-server/retry.ts";
import { modelAttempted } from "../../platform/telemetry/signals.ts";
import { findTranscript } from "../../recordings/recordings/queries.ts";
import { askWithin, type Stage, SwitchedOff } from "./ask.ts";
import { BudgetSpent } from "./budget.ts";
import { finishRun } from "./finish.ts";
import { toLines } from "./generate/lines.ts";
import { systemPrompt } from "./generate/prompts.ts";
import { type MeetingSummary, summarizeMeeting } from "./generate/summarize.ts";
import type { LanguageModel } from "./language-model.ts";
import {
  type ClaimedRun,
  claimRun,
  countFailure,
  findEnabledTemplates,
  findParticipants,
  findTypesOfScope,
  pauseRun,
  saveStage,
} from "./queries.ts";

export interface IntelligenceDependencies {
  readonly db: Database;
  readonly settings: Pick<LanguageModelSettings, "contextTokens" | "maxTokensPerDay">;
  readonly model: LanguageModel;
  readonly log: Pick<FastifyBaseLogger, "info" | "warn">;
  readonly retry?: RetryPolicy;
}

const intelligenceRetryPolicy: RetryPolicy = {
  ...defaultRetryPolicy,
  maxUnusable: 4,
  afterSettingsFailure: { everyMs: 6 * 3_600_000, forMs: 7 * 86_400_000 },
};

const nothing: MeetingSummary = {
  points: [],
  title: "",
  meetingType: null,
  items: [],
  sections: [],
  chapters: [],
  notes: [],
};

/**
 * The job that generates summary, action items and sections of a recording. Every response is stored, so that a killed job
 * resumes where it was. Failures of the model are noted with the run: short waits happen here, for long ones the job ends and the sweep
 * brings it back. What is thrown here, such as by the database, is left to the queue.
 * @param signal stops the work; it continues when the job runs again.
 */
export async function summarizeRecording(
  deps: IntelligenceDependencies,
  recordingId: string,
  signal?: AbortSignal,
): Promise<void> {
  for (;;) {
    signal?.throwIfAborted();
    const claimed = await claimRun(deps.db.kysely, recordingId);
    if (claimed === undefined) return;
    const outcome = await attempt(deps, recordingId, claimed, signal);
    if (outcome === "over") return;
  }
}

/** One attempt at the whole run. @returns whether to start again, requesting only what is still missing. */
async function attempt(
  deps: IntelligenceDependencies,
  recordingId: string,
  claimed: ClaimedRun,
  signal: AbortSignal | undefined,
): Promise<"again" | "over"> {
  const { db, log, model } = deps;
  const startedAt = Date.now();
  try {
    const result = await summarizeWith(deps, recordingId, claimed, signal);
    const outcome = await finishRun(db, recordingId, claimed, result, model.name);
    if (outcome === "written") {
      modelAttempted.publish({ model: "language_model", result: "success" });
      log.info({ recordingId, ms: Date.now() - startedAt }, "generated the summary of a recording");
    }
    return outcome === "stale" ? "again" : "over";
  } catch (error) {
    signal?.throwIfAborted();
    const pause = (status: "waiting" | "failed", until: Date | null, reason: string) =>
      pauseRun(db.kysely, recordingId, claimed.request_count, { status, until, reason });
    if (error instanceof SwitchedOff) {
      await pause("waiting", null, sentences.run_switched_off);
      return "over";
    }
    if (error instanceof BudgetSpent) {
      await pause("waiting", error.until, error.message);
      // Another request in the meantime would meet the same limit.
      return "over";
    }
    if (!(error instanceof ModelServerError)) throw error;
    return settleFailure(deps, recordingId, claimed, error, signal);
  }
}

async function summarizeWith(
  deps: IntelligenceDependencies,
  recordingId: string,
  claimed: ClaimedRun,
  signal: AbortSignal | undefined,
): Promise<MeetingSummary> {
  const { db, model, settings } = deps;
  const segments = await findTranscript(db.pool, recordingId);
  const lines = toLines(segments);
  if (lines.length === 0) return nothing;
  const { workspace_id: workspaceId } = claimed;
  const types = await findTypesOfScope(db.kysely, workspaceId, claimed.external);
  const stages = stageWriter(deps, recordingId);
  const ask = askWithin({
    db,
    model,
    recordingId,
    workspaceId,
    maxTokensPerDay: settings.maxTokensPerDay,
    signal,
    system: systemPrompt(claimed.language),
    onStage: stages.write,
  });
  const meeting = {
    lines,
    participants: await findParticipants(db.kysely, recordingId),
    meetingTypes: types.map((type) => type.name),
    templates: await findEnabledTemplates(db.kysely, workspaceId),
    startDatetime: claimed.start_datetime,
    durationMs: claimed.duration_ms,
    length: claimed.length ?? "normal",
    language: claimed.language,
    hasChapters: !claimed.chapters_by_hand && isLongEnough(segments),
  };
  return summarizeMeeting(ask, meeting, settings.contextTokens, stages.plan);
}

function isLongEnough(segments: readonly { readonly end: number }[]): boolean {
  return segments.some(({ end }) => end >= minTranscriptForChaptersMs);
}

/** How often the progress within a request is written. */
const progressEveryMs = 1000;

/** Writes what a run does now and how far it is. */
function stageWriter({ db, log }: IntelligenceDependencies, recordingId: string) {
  let planned = 1;
  let writtenAt = Number.NEGATIVE_INFINITY;
  let last: Stage | null = null;
  return {
    plan(requests: number): void {
      planned = requests;
    },
    write(stage: Stage): void {
      const isSame = stage.text === last?.text && Math.floor(stage.done) === Math.floor(last.done);
      if (isSame && performance.now() - writtenAt < progressEveryMs) return;
      writtenAt = performance.now();
      last = stage;
      // More requests than planned, such as for a response that was too long.
      const total = Math.max(planned, Math.floor(stage.done) + 1);
      const percent = Math.min(99, Math.floor((100 * stage.done) / total));
      saveStage(db.kysely, recordingId, stage.text, percent).catch((error: Error) =>
        log.warn({ err: error, recordingId }, "could not write the stage of a language model run"),
      );
    },
  };
}

/** Saves a failure of the model and decides what to do next. */
async function settleFailure(
  deps: IntelligenceDependencies,
  recordingId: string,
  claimed: ClaimedRun,
  error: ModelServerError,
  signal: AbortSignal | undefined,
): Promise<"again" | "over"> {
  const { db, log } = deps;
  const policy = deps.retry ?? intelligenceRetryPolicy;
  const failures = await countFailure(db.kysely, recordingId, error.message);
  if (failures === undefined) return "over";
  const decision = decideRetry(policy, error, failures);
  const { attempts } = failures;
  const { request_count: requestCount } = claimed;
  const cause = error.cause instanceof Error ? error.cause.message : undefined;
  modelAttempted.publish({
    model: "language_model",
    result: decision.action === "fail" ? "failure" : "error",
  });
  if (decision.action === "fail") {
    log.warn(
      { recordingId, attempts, reason: error.message, cause },
      "the language model run of a recording failed",
    );
    const until = decision.retryInMs === null ? null : new Date(Date.now() + decision.retryInMs);
    await pauseRun(db.kysely, recordingId, requestCount, { status: "failed", until, reason: error.message });
    return "over";
  }
  const { delayMs } = decision;
  log.warn(
    { recordingId, attempts, delayMs, reason: error.message, cause },
    "the language model failed; retrying",
  );
  if (delayMs <= policy.maxWaitInJobMs) {
    await delay(delayMs, undefined, signal === undefined ? {} : { signal });
    return "again";
  }
  const until = new Date(Date.now() + delayMs);
  await pauseRun(db.kysely, recordingId, requestCount, { status: "waiting", until, reason: error.message });
  return "over";
}
