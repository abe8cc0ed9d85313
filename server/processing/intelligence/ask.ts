import { createHash } from "node:crypto";
import { sentences } from "../../../contract/sentences.ts";
import type { Database } from "../../platform/db/database.ts";
import { ModelServerError } from "../../platform/model-server/refusal.ts";
import {
  BudgetSpent,
  effectiveLimit,
  findSettings,
  nextDay,
  type Reservation,
  reserve,
  settle,
} from "./budget.ts";
import { estimateTokens } from "./generate/chunks.ts";
import { repairPrompt } from "./generate/prompts.ts";
import { type Ask, type Question, TruncatedAnswer } from "./generate/summarize.ts";
import type { LanguageModel, ModelAnswer, ModelMessage, ModelRequest } from "./language-model.ts";
import { findStep, saveStep } from "./queries.ts";
import { jsonSchemaOf, readAnswer } from "./server/response.ts";

/** The workspace's admins switched the model off. */
export class SwitchedOff extends Error {}

/** For whom requests are sent. */
export interface SendContext {
  readonly db: Database;
  readonly model: LanguageModel;
  /** The recording of the run that the usage counts for; null: no run. */
  readonly recordingId: string | null;
  readonly workspaceId: string;
  /** Set by the operator. */
  readonly maxTokensPerDay: number | null;
  readonly signal: AbortSignal | undefined;
}

export interface AskContext extends SendContext {
  readonly recordingId: string;
  /** The system's part of every request. */
  readonly system: string;
  /** Shows what the run does now. */
  readonly onStage?: (stage: Stage) => void;
}

/** What a run does. */
export interface Stage {
  /** For users to read. */
  readonly text: string;
  /** Requests that are done, with the part of the present one. */
  readonly done: number;
}

/** What users read while a request is worked on, by its name. */
const stages: Readonly<Record<Question<unknown>["name"], string>> = {
  minutes: sentences.run_summary,
  part: sentences.run_part,
  condensed: sentences.run_condensed,
  overview: sentences.run_summary,
  section: sentences.run_section,
  chapters: sentences.run_chapters,
};

/** How much of an invalid response is sent back to the model; in characters. */
const shownAgain = 1500;

/**
 * Sends requests to the model within the workspace's limits. Valid responses are stored by request until the run ends, so
 * that a run that was killed or had to wait does not pay for them again. An invalid response may be corrected once.
 */
export function askWithin(context: AskContext): Ask {
  let done = -1;
  return async (question) => {
    done += 1;
    context.onStage?.({ text: stages[question.name], done });
    const schema = jsonSchemaOf(question.schema);
    const key = createHash("sha256")
      .update(JSON.stringify([context.model.name, context.system, question.user, schema]))
      .digest("hex");
    const kept = await findStep(context.db.kysely, context.recordingId, key);
    if (kept !== null) {
      if (kept.isTruncated) throw new TruncatedAnswer();
      const known = question.schema.safeParse(kept.value);
      if (known.success) return known.data;
    }
    const result = await askAnew({ ...context, done }, question, schema);
    await saveStep(context.db.kysely, context.recordingId, key, result);
    if (result.isTruncated) throw new TruncatedAnswer();
    return result.value;
  };
}

/** A valid response, or that it was too long. */
type Step<T> = { readonly isTruncated: false; readonly value: T } | { readonly isTruncated: true };

interface StepContext extends AskContext {
  /** Requests of the run before this one. */
  readonly done: number;
}

async function askAnew<T>(
  context: StepContext,
  question: Question<T>,
  schema: Record<string, unknown>,
): Promise<Step<T>> {
  const asked: ModelMessage = { role: "user", content: question.user };
  const request = {
    system: context.system,
    schema: { name: question.name, json: schema },
    maxOutputTokens: question.maxOutputTokens,
    onProgress: (fraction: number) =>
      context.onStage?.({ text: stages[question.name], done: context.done + fraction }),
    onWait: (text: string) => context.onStage?.({ text, done: context.done }),
  };
  const first = await sendWithin(context, { ...request, messages: [asked] });
  const read = readAnswer(first.text, question.schema);
  if (read.ok) return { isTruncated: false, value: read.value };
  if (first.isTruncated) return { isTruncated: true };
  const messages = [asked, ...repairMessages(first.text, read.fault, schema)];
  const second = await sendWithin(context, { ...request, messages });
  const repaired = readAnswer(second.text, question.schema);
  if (repaired.ok) return { isTruncated: false, value: repaired.value };
  if (second.isTruncated) return { isTruncated: true };
  // The message leaves out the model's response, which may repeat the meeting.
  throw new ModelServerError("unusable", "The language model's response had the wrong format twice.");
}

/** An invalid response and the request to correct it. */
export function repairMessages(said: string, fault: string, schema: object): ModelMessage[] {
  return [
    { role: "assistant", content: said.slice(0, shownAgain).toWellFormed() || "{}" },
    { role: "user", content: repairPrompt(fault, schema) },
  ];
}

/** Sends a request within the workspace's limits. @throws SwitchedOff, BudgetSpent, ModelServerError. */
export async function sendWithin(
  context: SendContext,
  request: Omit<ModelRequest, "signal">,
): Promise<ModelAnswer> {
  const { db, model, recordingId, signal } = context;
  const { system, messages, schema, maxOutputTokens } = request;
  const said = messages.map((message) => message.content).join("");
  const input = estimateTokens(system + said + JSON.stringify(schema.json));
  const reservation = await putAside(context, input, maxOutputTokens);
  try {
    const answer = await model.ask({ ...request, signal });
    await settle(
      db.kysely,
      reservation,
      { input: answer.inputTokens ?? input, output: answer.outputTokens ?? estimateTokens(answer.text) },
      recordingId,
    );
    return answer;
  } catch (error) {
    // An aborted request may be charged as well.
    const isFree = error instanceof ModelServerError && !error.mayCost;
    await settle(db.kysely, reservation, { input: isFree ? 0 : input, output: 0 }, recordingId);
    throw error;
  }
}

/** @throws SwitchedOff, or BudgetSpent when the request would exceed the daily limit. */
async function putAside(context: SendContext, input: number, output: number): Promise<Reservation> {
  const { db, workspaceId } = context;
  const settings = await findSettings(db.kysely, workspaceId);
  if (!settings.is_enabled) throw new SwitchedOff();
  const limit = effectiveLimit(settings.max_tokens_per_day, context.maxTokensPerDay);
  const reservation = await reserve(db.kysely, workspaceId, input + output, limit);
  if (reservation !== null) return reservation;
  if (limit !== null && input + output > limit) {
    throw new ModelServerError(
      "settings",
      `One request about this meeting takes up to ${input + output} tokens, more than the limit of ${limit} tokens a day. Raise the limit, or lower PARLEY_LLM_CONTEXT_TOKENS.`,
    );
  }
  const until = nextDay(new Date());
  throw new BudgetSpent(
    `The workspace's limit of ${limit} tokens a day is used up. The run continues at ${until.toISOString()}.`,
    until,
  );
}
