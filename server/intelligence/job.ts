import { setTimeout as delay } from "node:timers/promises";
import type { FastifyBaseLogger } from "fastify";
import type { LanguageModelSettings } from "../config.ts";
import type { Database } from "../db/database.ts";
import { findTranscript } from "../recordings/queries.ts";
import { askWithin, SwitchedOff } from "./ask.ts";
import { BudgetSpent } from "./budget.ts";
import { finishRun } from "./finish.ts";
import { toLines } from "./lines.ts";
import { type LanguageModel, ModelError } from "./model.ts";
import {
  type ClaimedRun,
  claimRun,
  countFailure,
  findEnabledTemplates,
  findPeople,
  findTypesOfScope,
  pauseRun,
} from "./queries.ts";
import { decide, defaultRetryPolicy, type RetryPolicy } from "./retry.ts";
import { type Understanding, understand } from "./understand.ts";

export interface IntelligenceDependencies {
  readonly db: Database;
  readonly settings: Pick<LanguageModelSettings, "contextTokens" | "maxTokensPerDay">;
  readonly model: LanguageModel;
  readonly log: Pick<FastifyBaseLogger, "info" | "warn">;
  readonly retry?: RetryPolicy;
}

const nothing: Understanding = {
  summary: "",
  title: "",
  meetingType: null,
  items: [],
  sections: [],
  notes: [],
};

/**
 * The job that has the model understand a recording. Every answer is a row, so killed at any moment it goes on where it
 * was. Failures of the model are noted with the run: short waits happen here, for long ones the job ends and the sweep
 * brings it back. What is thrown here, such as by the database, is left to the queue.
 * @param signal ends the work; it goes on when the job runs again.
 */
export async function understandRecordingJob(
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

/** One attempt at all of it. @returns whether to begin again, asking only for what is not there yet. */
async function attempt(
  deps: IntelligenceDependencies,
  recordingId: string,
  claimed: ClaimedRun,
  signal: AbortSignal | undefined,
): Promise<"again" | "over"> {
  const { db, log, model } = deps;
  const startedAt = Date.now();
  try {
    const result = await makeUnderstanding(deps, recordingId, claimed, signal);
    const outcome = await finishRun(db, recordingId, claimed, result, model.name);
    if (outcome === "written") log.info({ recordingId, ms: Date.now() - startedAt }, "recording understood");
    return outcome === "stale" ? "again" : "over";
  } catch (error) {
    signal?.throwIfAborted();
    const pause = (status: "waiting" | "failed", until: Date | null, reason: string) =>
      pauseRun(db.kysely, recordingId, claimed.requested, { status, until, reason });
    if (error instanceof SwitchedOff) {
      await pause(
        "waiting",
        null,
        "The language model is switched off for this workspace. It goes on once it is switched on.",
      );
      return "over";
    }
    if (error instanceof BudgetSpent) {
      await pause("waiting", error.until, error.message);
      // Asked for again in the meantime, it meets the same limit.
      return "over";
    }
    if (!(error instanceof ModelError)) throw error;
    return settleFailure(deps, recordingId, claimed, error, signal);
  }
}

async function makeUnderstanding(
  { db, model, settings }: IntelligenceDependencies,
  recordingId: string,
  claimed: ClaimedRun,
  signal: AbortSignal | undefined,
): Promise<Understanding> {
  const lines = toLines(await findTranscript(db.pool, recordingId));
  if (lines.length === 0) return nothing;
  const { workspace_id: workspaceId } = claimed;
  const types = await findTypesOfScope(db.kysely, workspaceId, claimed.external);
  const ask = askWithin({
    db,
    model,
    recordingId,
    workspaceId,
    maxTokensPerDay: settings.maxTokensPerDay,
    signal,
  });
  const meeting = {
    lines,
    people: await findPeople(db.kysely, recordingId),
    meetingTypes: types.map((type) => type.name),
    templates: await findEnabledTemplates(db.kysely, workspaceId),
  };
  return understand(ask, meeting, settings.contextTokens);
}

/** Notes a failure of the model, and decides what it means. */
async function settleFailure(
  deps: IntelligenceDependencies,
  recordingId: string,
  claimed: ClaimedRun,
  error: ModelError,
  signal: AbortSignal | undefined,
): Promise<"again" | "over"> {
  const { db, log } = deps;
  const policy = deps.retry ?? defaultRetryPolicy;
  const failures = await countFailure(db.kysely, recordingId, error.message);
  if (failures === undefined) return "over";
  const decision = decide(policy, error, failures);
  const { attempts } = failures;
  const { requested } = claimed;
  if (decision.what === "fail") {
    log.warn({ recordingId, attempts, reason: error.message }, "gave the understanding of a recording up");
    const until = decision.againInMs === null ? null : new Date(Date.now() + decision.againInMs);
    await pauseRun(db.kysely, recordingId, requested, { status: "failed", until, reason: error.message });
    return "over";
  }
  const { delayMs } = decision;
  log.warn(
    { recordingId, attempts, delayMs, reason: error.message },
    "the language model failed; trying again",
  );
  if (delayMs <= policy.longestWaitInJobMs) {
    await delay(delayMs, undefined, signal === undefined ? {} : { signal });
    return "again";
  }
  const until = new Date(Date.now() + delayMs);
  await pauseRun(db.kysely, recordingId, requested, { status: "waiting", until, reason: error.message });
  return "over";
}
