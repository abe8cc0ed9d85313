import { randomUUID, randomUUIDv7 } from "node:crypto";
import { PassThrough, type Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import type { FastifyRequest } from "fastify";
import type { z } from "zod";
import { type AskEvent, type ask as askOperation, maxQuestionsPerMinute } from "../../../contract/ask/ask.ts";
import { because } from "../../../contract/causes/causes.ts";
import { sentenceOf, sentences } from "../../../contract/sentences.ts";
import { actorOf } from "../../platform/audit/record.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Config, LanguageModelSettings } from "../../platform/config/config.ts";
import type { Database } from "../../platform/db/database.ts";
import { invalidInput, ProblemError } from "../../platform/http/errors/problem.ts";
import type { Allowance, RateLimiter } from "../../platform/http/limits/rate-limit.ts";
import { ModelServerError } from "../../platform/model-server/refusal.ts";
import { canSeeRecording } from "../../recordings/recordings/queries.ts";
import { recordingNotFound } from "../../recordings/recordings/rights.ts";
import { SwitchedOff } from "../intelligence/ask.ts";
import { BudgetSpent } from "../intelligence/budget.ts";
import { estimateTokens } from "../intelligence/generate/chunks.ts";
import type { LanguageModel } from "../intelligence/language-model.ts";
import { explainMissing, findQuestionState } from "../intelligence/missing-model.ts";
import { openLanguageModel } from "../intelligence/open-model.ts";
import { AccessLost, messageOf, prepareAnswer, type Question } from "./answer.ts";
import { askPromptVersion, type EarlierTurn } from "./prompts.ts";
import * as queries from "./queries.ts";

type Body = z.output<typeof askOperation.body>;

export interface AskDependencies {
  readonly db: Database;
  readonly limiter: RateLimiter;
  readonly config: Pick<Config, "languageModel" | "dataDir">;
}

/** How often an answer extends its lease, checks access, and shows proxies that the connection is used. */
const tickMs = 2000;

/** Turns that a follow-up question knows. */
const maxEarlier = 5;
const maxTitle = 80;

/** The thread was deleted, or another process took over. */
class Ended extends Error {}

/** @throws ProblemError `forbidden` for workspace tokens, which belong to no user. */
export function refuseWorkspaceToken(principal: Principal): void {
  if (principal.scope === "workspace")
    throw new ProblemError(
      "forbidden",
      "questions belong to a user and this is a workspace token; use a personal token",
    );
}

/**
 * Starts to answer a question.
 * @returns the events of the answer, which ends when the stream is closed.
 * @throws ProblemError when it can't be asked now.
 */
export async function ask(
  deps: AskDependencies,
  principal: Principal,
  request: FastifyRequest,
  body: Body,
): Promise<Readable> {
  refuseWorkspaceToken(principal);
  const settings = await requireModel(deps, principal);
  const counter = `ask:${principal.userId}`;
  const allowance = await deps.limiter.take(counter, maxQuestionsPerMinute);
  try {
    refuseExceeded(allowance);
    return await start(deps, settings, principal, request, body);
  } catch (error) {
    // A question that was not asked doesn't count.
    deps.limiter.refund(counter);
    throw error;
  }
}

/** @throws ProblemError `rate_limited` when the user has asked too many questions in this minute. */
function refuseExceeded({ exceeded, resetMs }: Allowance): void {
  if (!exceeded) return;
  const seconds = Math.max(1, Math.ceil(resetMs / 1000));
  throw new ProblemError(
    "rate_limited",
    because("questions_per_minute", { limit: maxQuestionsPerMinute, seconds }),
    { headers: { "retry-after": String(seconds) } },
  );
}

/** Takes the user's lease, stores the question, and starts to answer it. */
async function start(
  deps: AskDependencies,
  settings: LanguageModelSettings,
  principal: Principal,
  request: FastifyRequest,
  body: Body,
): Promise<Readable> {
  const { db } = deps;
  const { thread, recordingId } = await findSubject(db, principal, body);
  const earlier =
    thread === undefined
      ? []
      : toEarlier(
          await queries.findTurns(db.kysely, principal, thread.id, maxEarlier),
          settings.contextTokens,
        );
  const threadId = thread?.id ?? randomUUIDv7();
  const leaseId = randomUUID();
  const model = await openModel(deps);
  const insert = () =>
    db.kysely.transaction().execute(async (tx) => {
      if (!(await queries.takeLease(tx, { userId: principal.userId, leaseId, threadId }))) return null;
      if (thread === undefined)
        await queries.insertThread(tx, {
          id: threadId,
          workspaceId: principal.workspaceId,
          userId: principal.userId,
          recordingId,
          title: titleOf(body.question),
        });
      return queries.insertTurn(tx, threadId, body.question, {
        model: model.name,
        promptVersion: askPromptVersion,
      });
    });
  const number = await startSoon(insert).catch(async (error: unknown) => {
    await model.close();
    throw error;
  });
  const stream = new PassThrough();
  const question: Question = {
    principal,
    actor: actorOf(request),
    text: body.question,
    recordingId,
    filter: body.filter ?? {},
    earlier,
    turn: { threadId, number },
  };
  // It handles its own errors.
  void streamAnswer(deps, { model, settings }, question, leaseId, stream, request);
  return stream;
}

/** How often the lease is tried: a question that was just stopped still has it for a moment. */
const leaseTries = 5;
const leasePauseMs = 200;

/** @throws ProblemError when another question keeps the lease. */
async function startSoon(insert: () => Promise<number | null>): Promise<number> {
  for (let tries = 1; tries <= leaseTries; tries += 1) {
    const number = await insert();
    if (number !== null) return number;
    if (tries < leaseTries) await delay(leasePauseMs);
  }
  throw new ProblemError("wrong_state", because("question_running"));
}

async function requireModel(deps: AskDependencies, principal: Principal): Promise<LanguageModelSettings> {
  const { db, config } = deps;
  const state = await findQuestionState(db.kysely, config, principal.workspaceId);
  if (state !== "ready") throw new ProblemError("wrong_state", explainMissing("questions", state));
  if (config.languageModel === null) throw noModel();
  return config.languageModel;
}

async function openModel({ db, config }: AskDependencies): Promise<LanguageModel> {
  try {
    const model = await openLanguageModel({ db, config });
    if (model !== null) return model;
  } catch (error) {
    if (error instanceof ModelServerError) throw new ProblemError("wrong_state", error.message);
    throw error;
  }
  throw noModel();
}

function noModel(): ProblemError {
  return new ProblemError("wrong_state", explainMissing("questions", "off"));
}

/** The thread to continue, if any, and the recording that the question is about. */
async function findSubject(db: Database, principal: Principal, body: Body) {
  const thread =
    body.thread_id === undefined
      ? undefined
      : await queries.findThread(db.kysely, principal.userId, body.thread_id.toLowerCase());
  if (body.thread_id !== undefined && thread === undefined) throw threadNotFound(body.thread_id);
  const given = body.recording_id?.toLowerCase();
  if (thread !== undefined && given !== undefined && given !== thread.recording_id)
    throw invalidInput([
      { pointer: "/recording_id", detail: "is not the recording that the thread is about" },
    ]);
  const recordingId = given ?? thread?.recording_id ?? null;
  if (recordingId !== null && Object.keys(body.filter ?? {}).length > 0)
    throw invalidInput([{ pointer: "/filter", detail: "can't be used for a question about one recording" }]);
  if (recordingId !== null && !(await canSeeRecording(db.pool, principal, recordingId)))
    throw recordingNotFound(recordingId);
  return { thread, recordingId };
}

export function threadNotFound(threadId: string): ProblemError {
  return new ProblemError("not_found", `there is no thread ${threadId}; see List Threads`);
}

function titleOf(question: string): string {
  const line = question.replace(/\s+/g, " ");
  return line.length <= maxTitle
    ? line
    : `${line
        .slice(0, maxTitle - 1)
        .toWellFormed()
        .trimEnd()}…`;
}

/** The last turns that fit into an eighth of the model's context. */
function toEarlier(turns: readonly queries.TurnRow[], contextTokens: number): EarlierTurn[] {
  const earlier: EarlierTurn[] = [];
  let room = contextTokens / 8;
  for (const { question, statements } of turns.toReversed()) {
    const turn = { question, statements: statements.map(({ text }) => text) };
    room -= estimateTokens(JSON.stringify(turn));
    if (room < 0) break;
    earlier.unshift(turn);
  }
  return earlier;
}

/** Answers into a stream. Closing it ends the model's work; a process that is killed releases the lease by its end. */
async function streamAnswer(
  { db }: AskDependencies,
  { model, settings }: { readonly model: LanguageModel; readonly settings: LanguageModelSettings },
  question: Question,
  leaseId: string,
  stream: PassThrough,
  request: FastifyRequest,
): Promise<void> {
  const abort = new AbortController();
  const { threadId } = question.turn;
  const emit = ({ event, data }: AskEvent): void => {
    if (!stream.writableEnded && !stream.destroyed)
      stream.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  };
  stream.once("close", () => abort.abort(new Ended(sentences.ask_stopped)));
  const answering = prepareAnswer({ db, model, settings, emit, abort }, question);
  let ticking: Promise<void> | null = null;
  const timer = setInterval(() => {
    if (!stream.destroyed) stream.write(": working\n\n");
    ticking ??= tick().finally(() => {
      ticking = null;
    });
  }, tickMs);
  timer.unref();

  async function tick(): Promise<void> {
    try {
      await answering.checkAccess();
      if (!(await queries.extendLease(db.kysely, leaseId)))
        abort.abort(new Ended(sentences.ask_thread_deleted));
    } catch (error) {
      if (error instanceof AccessLost) abort.abort(error);
      // The lease lasts for several ticks.
      else request.log.warn({ err: error }, "could not check an answer in flight");
    }
  }

  const { tally } = answering;
  let last: AskEvent;
  try {
    await answering.run();
    const message = messageOf(tally);
    await queries.endTurn(db.kysely, question.turn, {
      state: "done",
      message: message ?? null,
      leftOut: tally.leftOut,
    });
    last = {
      event: "done",
      data: {
        thread_id: threadId,
        statements: tally.statements,
        left_out: tally.leftOut,
        ...(message === undefined ? {} : { message }),
      },
    };
  } catch (error) {
    const { code, message } = describe(abort.signal.aborted ? abort.signal.reason : error);
    if (error instanceof ModelServerError && error.cause !== undefined)
      request.log.warn({ err: error }, "the language model failed at a question");
    if (code === "internal") request.log.error({ err: error }, "a question could not be answered");
    await queries
      .endTurn(db.kysely, question.turn, { state: "failed", message, leftOut: tally.leftOut })
      .catch((failure: unknown) => request.log.warn({ err: failure }, "could not save the end of an answer"));
    last = { event: "error", data: { error: code, message, thread_id: threadId } };
  }
  clearInterval(timer);
  await ticking;
  await Promise.all([model.close(), queries.releaseLease(db.kysely, leaseId)]).catch((error: unknown) =>
    request.log.warn({ err: error }, "could not release a question's lease"),
  );
  emit(last);
  stream.end();
}

/** What ended an answer, for the user. */
function describe(error: unknown): {
  code: Extract<AskEvent, { event: "error" }>["data"]["error"];
  message: string;
} {
  if (error instanceof AccessLost)
    return {
      code: "access_lost",
      message: sentences.ask_access_lost,
    };
  if (error instanceof BudgetSpent)
    return {
      code: "budget_spent",
      message: sentenceOf("ask_tokens_spent", { time: error.until.toISOString() }),
    };
  if (error instanceof Ended) return { code: "stopped", message: error.message };
  if (error instanceof SwitchedOff) return { code: "model_failed", message: sentences.ask_switched_off };
  if (error instanceof ModelServerError) return { code: "model_failed", message: error.message };
  return { code: "internal", message: sentences.ask_failed };
}
