import { createHash } from "node:crypto";
import type { Database } from "../db/database.ts";
import { jsonSchemaOf, readAnswer } from "./answer.ts";
import {
  BudgetSpent,
  effectiveLimit,
  findSettings,
  nextDay,
  type Reservation,
  reserve,
  settle,
} from "./budget.ts";
import { estimateTokens } from "./chunks.ts";
import { type LanguageModel, type ModelAnswer, ModelError, type ModelMessage } from "./model.ts";
import { repairPrompt, systemPrompt } from "./prompts.ts";
import { findStep, saveStep } from "./queries.ts";
import { type Ask, type Question, TruncatedAnswer } from "./understand.ts";

/** The workspace's admins have switched the model off. */
export class SwitchedOff extends Error {}

export interface AskContext {
  readonly db: Database;
  readonly model: LanguageModel;
  readonly recordingId: string;
  readonly workspaceId: string;
  /** Of the operator. */
  readonly maxTokensPerDay: number | null;
  readonly signal: AbortSignal | undefined;
}

/** How much of an answer that can't be used the model gets to see again. */
const shownAgain = 1500;

/**
 * Asks the model within the workspace's limits. Every answer that can be used is kept until the run is over, by what
 * was asked: a run that was killed, or had to wait, does not pay for it again. One that can't be used may be corrected
 * once.
 */
export function askWithin(context: AskContext): Ask {
  return async (question) => {
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
    const step = await askAnew(context, question, schema);
    await saveStep(context.db.kysely, context.recordingId, key, step);
    if (step.isTruncated) throw new TruncatedAnswer();
    return step.value;
  };
}

/** An answer that can be used, or that it was too long. */
type Step<T> = { readonly isTruncated: false; readonly value: T } | { readonly isTruncated: true };

async function askAnew<T>(
  context: AskContext,
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
  // What the model said stays out of the message: it may repeat the meeting.
  throw new ModelError("nonsense", "The language model's answer was not in the form asked for, twice.");
}

async function send<T>(
  context: AskContext,
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
    });
    await settle(
      db.kysely,
      reservation,
      { input: answer.inputTokens ?? input, output: answer.outputTokens ?? estimateTokens(answer.text) },
      recordingId,
    );
    return answer;
  } catch (error) {
    // A request that was broken off may be charged all the same.
    const isFree = error instanceof ModelError && !error.mayCost;
    await settle(db.kysely, reservation, { input: isFree ? 0 : input, output: 0 }, recordingId);
    throw error;
  }
}

/** @throws SwitchedOff, or BudgetSpent when the request would go beyond the limit of the day. */
async function putAside(context: AskContext, input: number, output: number): Promise<Reservation> {
  const { db, workspaceId } = context;
  const settings = await findSettings(db.kysely, workspaceId);
  if (!settings.is_enabled) throw new SwitchedOff();
  const limit = effectiveLimit(settings.max_tokens_per_day, context.maxTokensPerDay);
  const reservation = await reserve(db.kysely, workspaceId, input + output, limit);
  if (reservation !== null) return reservation;
  if (limit !== null && input + output > limit) {
    throw new ModelError(
      "settings",
      `One request about this meeting takes up to ${input + output} tokens, more than the limit of ${limit} tokens a day. Raise the limit, or lower PARLEY_LLM_CONTEXT_TOKENS.`,
    );
  }
  const until = nextDay(new Date());
  throw new BudgetSpent(
    `The workspace's limit of ${limit} tokens a day is used up. It goes on at ${until.toISOString()}.`,
    until,
  );
}
