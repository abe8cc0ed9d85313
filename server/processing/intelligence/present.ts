import type { z } from "zod";
import type { IntelligenceStatus, RecordingIntelligence } from "../../../contract/recordings/intelligence.ts";
import { sentenceOf, sentences } from "../../../contract/sentences.ts";
import type { Settings } from "./budget.ts";
import { explainMissing, type ModelState } from "./missing-model.ts";
import type { RunRow } from "./queries.ts";
import type { RunCounts, UsageToday } from "./read-queries.ts";

/** What is missing, and who can change that. */
const missing = (state: Exclude<ModelState, "ready">) =>
  `${explainMissing("Summaries, chapters and action items", state).detail}.`;

/** The state of the language model in a workspace. */
export function describeWorkspace(workspace: {
  readonly state: ModelState;
  readonly model: string | null;
  readonly settings: Settings;
  readonly serverLimit: number | null;
  readonly limit: number | null;
  readonly usage: UsageToday;
  readonly runs: RunCounts;
  readonly resetsAt: Date;
}): z.input<typeof IntelligenceStatus> {
  const { settings, usage, runs, resetsAt } = workspace;
  return {
    model: workspace.model,
    enabled: settings.is_enabled,
    max_tokens_per_day: settings.max_tokens_per_day,
    server_max_tokens_per_day: workspace.serverLimit,
    question_days: settings.question_days,
    language: settings.language ?? "auto",
    used_tokens_today: usage.tokens,
    requests_today: usage.requests,
    resets_datetime: resetsAt.toISOString(),
    recordings: { pending: runs.pending, waiting: runs.waiting, failed: runs.failed },
    last_error: runs.last_error,
    message: wordsOf(workspace),
  };
}

function wordsOf({ state, model, limit, usage, runs }: Parameters<typeof describeWorkspace>[0]): string {
  if (state !== "ready") return missing(state);
  const used =
    limit === null
      ? `${usage.tokens} tokens used today, without a limit`
      : `${usage.tokens} of ${limit} tokens used today`;
  const trouble = runs.last_error === null ? "" : ` ${runs.last_error}`;
  return `The language model ${model} is active: ${used}.${trouble}`;
}

/** The state of a recording's language model run. */
export function describeRun(
  run: RunRow | undefined,
  state: ModelState,
): z.input<typeof RecordingIntelligence> {
  if (run === undefined) {
    return {
      status: "none",
      message: state === "ready" ? sentences.run_none : missing(state),
      last_error: null,
      notes: [],
      attempts: 0,
      next_attempt_datetime: null,
      requested_datetime: null,
      finished_datetime: null,
      model: null,
      prompt_version: null,
      progress: 0,
      length: "normal",
      language: "auto",
      feedback: null,
      used_tokens: 0,
    };
  }
  return {
    status: run.status,
    message: state !== "ready" && isQueued(run) ? missing(state) : wordsOfRun(run),
    last_error: run.last_error,
    notes: run.notes,
    attempts: run.attempts,
    next_attempt_datetime: run.not_before?.toISOString() ?? null,
    requested_datetime: run.requested_at.toISOString(),
    finished_datetime: run.finished_at?.toISOString() ?? null,
    model: run.model,
    prompt_version: run.model === null ? null : run.prompt_version,
    progress: run.status === "done" ? 100 : run.status === "running" ? run.progress : 0,
    length: run.length ?? "normal",
    language: run.language ?? "auto",
    feedback: run.feedback,
    used_tokens: run.used_tokens,
  };
}

/** Whether a run can't continue without a model. One that is at work may still finish. */
function isQueued({ status }: RunRow): boolean {
  return status === "pending" || status === "waiting";
}

function wordsOfRun(run: RunRow): string {
  const next = run.not_before === null ? "" : ` Next attempt at ${run.not_before.toISOString()}.`;
  switch (run.status) {
    case "pending":
      return sentences.run_queued;
    case "running":
      return run.last_error === null
        ? `${run.stage ?? sentences.run_running}${run.progress > 0 ? ` ${sentenceOf("run_percent", { percent: run.progress })}` : ""}`
        : `Retrying after a failure: ${run.last_error}`;
    case "waiting":
      return `Waiting: ${run.last_error ?? "will continue later."}`;
    case "failed":
      return `Failed: ${run.last_error ?? "the reason is unknown."}${next}`;
    case "done":
      return run.notes.length === 0 ? "Done." : `Done, with exceptions: ${run.notes.join(" ")}`;
  }
}
