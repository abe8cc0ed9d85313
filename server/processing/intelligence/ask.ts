import { createHash } from "node:crypto";
import type { Database } from "../../platform/db/database.ts";
import { ModelServerError } from "../../platform/model-server/refusal.ts";
import { estimateTokens } from "./generate/chunks.ts";
import { repairPrompt, systemPrompt } from "./generate/prompts.ts";
import { type Ask, type Question, TruncatedAnswer } from "./generate/summarize.ts";
import {
  BudgetSpent,
  effectiveLimit,
  findSettings,
  nextDay,
  type Reservation,
  reserve,
  settle,
} from "./model/budget.ts";
import type { LanguageModel, ModelAnswer, ModelMessage } from "./model/model.ts";
import { jsonSchemaOf, readAnswer } from "./model/response.ts";
import { findStep, saveStep } from "./queries.ts";

/** The workspace's admins switched the model off. */
export class SwitchedOff extends Error {}

export interface AskContext {
  readonly db: Database;
  readonly model: LanguageModel;
  readonly recordingId: string;
  readonly workspaceId: string;
  /** Set by the operator. */
  readonly maxTokensPerDay: number | null;
  readonly signal: AbortSignal | undefined;
  /** Shows what the run does now. */
  readonly onStage?: (stage: string) => void;
}

/** How much of an invalid response is sent back to the model; in characters. */
const shownAgain = 1500;

/**
 * Sends requests to the model within the workspace's limits. Valid responses are stored by request until the run ends, so
 * that a run that was killed or had to wait does not pay for them again. An invalid response may be corrected once.
 */
export function askWithin(context: AskContext): Ask {
  let step = 0;
  return async (question) => {
    step += 1;
    const schema = jsonSchemaOf(question.schema);
    const key = createHash("sha256")
      .update(JSON.stringify([context.model.name, systemPrompt, question.user, schema]))
      .digest("hex");
    const kept = await findStep(context.db.kysely, context.recordingId, key);
    if (kept !== null) {
      if (kept.isTruncated) throw new TruncatedAnswer();
      const known = question.schema.safeParse(kept.value);
      if (known.success) return known.data;
    }
    const result = await askAnew({ ...context, step }, question, schema);
    await saveStep(context.db.kysely, context.recordingId, key, result);
    if (result.isTruncated) throw new TruncatedAnswer();
    return result.value;
  };
}

/** A valid response, or that it was too long. */
type Step<T> = { readonly isTruncated: false; readonly value: T } | { readonly isTruncated: true };

interface StepContext extends AskContext {
  /** The number of the request within the run. */
  readonly step: number;
}

async function askAnew<T>(
  context: StepContext,
  question: Question<T>,
  schema: Record<string, unknown>,
): Promise<Step<T>> {
  const asked: ModelMessage = { role: "user", content: question.user };
  const first = await send(context, question, schema, [asked]);
  const read = readAnswer(first.text, question.schema);
  if (read.ok) return { isTruncated: false, value: read.value };
  if (first.isTruncated) return { isTruncated: true };
  const second = await send(context, question, schema, [
    asked,
    { role: "assistant", content: first.text.slice(0, shownAgain).toWellFormed() || "{}" },
    { role: "user", content: repairPrompt(read.fault, schema) },
  ]);
  const repaired = readAnswer(second.text, question.schema);
  if (repaired.ok) return { isTruncated: false, value: repaired.value };
  if (second.isTruncated) return { isTruncated: true };
  // The message leaves out the model's response, which may repeat the meeting.
  throw new ModelServerError("unusable", "The language model's response had the wrong format twice.");
}

async function send<T>(
  context: StepContext,
  question: Question<T>,
  schema: Record<string, unknown>,
  messages: readonly ModelMessage[],
): Promise<ModelAnswer> {
  const { db, model, recordingId } = context;
  const said = messages.map((message) => message.content).join("");
  const input = estimateTokens(systemPrompt + said + JSON.stringify(schema));
  const reservation = await putAside(context, input, question.maxOutputTokens);
  try {
    const answer = await model.ask({
      system: systemPrompt,
      messages,
      schema: { name: question.name, json: schema },
      maxOutputTokens: question.maxOutputTokens,
      signal: context.signal,
      onProgress: (fraction) => context.onStage?.(`Step ${context.step}: ${Math.floor(100 * fraction)}%.`),
      onWait: (engine) =>
        context.onStage?.(`Waiting for the ${engine} engine, which is at work on this machine.`),
    });
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
async function putAside(context: AskContext, input: number, output: number): Promise<Reservation> {
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
