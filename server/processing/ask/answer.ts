import type { AskEvent } from "../../../contract/ask/ask.ts";
import { nothingFound } from "../../../contract/ask/ask.ts";
import { viewerOf, viewersSee } from "../../people/access/viewer.ts";
import type { AuditActor } from "../../platform/audit/record.ts";
import { recordAudit } from "../../platform/audit/record.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Database } from "../../platform/db/database.ts";
import { ModelServerError } from "../../platform/model-server/refusal.ts";
import { repairMessages, sendWithin } from "../intelligence/ask.ts";
import { estimateTokens } from "../intelligence/generate/chunks.ts";
import { safeLine } from "../intelligence/generate/sanitize.ts";
import type { LanguageModel, ModelMessage } from "../intelligence/language-model.ts";
import { jsonSchemaOf, readAnswer } from "../intelligence/server/response.ts";
import { deriveFilter, type Filter } from "./filters.ts";
import {
  Answered,
  AnsweredStatement,
  answerPrompt,
  askSystem,
  type EarlierTurn,
  maxStatements,
  type NumberedPassage,
  printPassage,
  Searches,
  searchPrompt,
} from "./prompts.ts";
import { findProof } from "./prove.ts";
import { findRecordings, insertStatement, type ReadRecording } from "./queries.ts";
import { readStatements } from "./read-stream.ts";
import { readWhole, searchPassages } from "./search-passages.ts";

/** The asker lost access to a recording that the answer reads. */
export class AccessLost extends Error {}

export interface Question {
  readonly principal: Principal;
  readonly actor: AuditActor;
  readonly text: string;
  /** Null: all recordings that the filter matches. */
  readonly recordingId: string | null;
  readonly filter: Filter;
  readonly earlier: readonly EarlierTurn[];
  readonly turn: { readonly threadId: string; readonly number: number };
}

export interface AnswerContext {
  readonly db: Database;
  readonly model: LanguageModel;
  readonly settings: { readonly contextTokens: number; readonly maxTokensPerDay: number | null };
  readonly emit: (event: AskEvent) => void;
  /** Ends the model's work. */
  readonly abort: AbortController;
}

/** What was sent, and what was dropped. */
export interface Tally {
  statements: number;
  leftOut: number;
}

/** Answers one question. */
export interface Answering {
  readonly tally: Tally;
  run(): Promise<void>;
  /** @throws AccessLost when the asker no longer sees a recording that was read. */
  checkAccess(): Promise<void>;
}

/** Nothing that was said is a link in an answer. */
const noLinks = () => false;
const maxText = 800;
/** A response with more statements, repeated ones too, is ended. */
const maxReceived = 100;
const maxQuote = 2000;

/**
 * Answers a question by statements whose quotes are in the passages that the model got; others are counted.
 * Access to every recording that was read is checked again before each statement is sent.
 */
export function prepareAnswer(context: AnswerContext, question: Question): Answering {
  const { db, model, settings, emit, abort } = context;
  const { principal, turn } = question;
  const { signal } = abort;
  const tally: Tally = { statements: 0, leftOut: 0 };
  const shown = new Set<string>();
  const turnIds = { thread_id: turn.threadId, number: turn.number };
  let read: ReadonlyMap<string, ReadRecording> = new Map();
  let isWaiting = false;
  /** What is searched for, as `searching` says it. */
  let sought: { searches: string[]; filter: Filter } = {
    searches: question.recordingId === null ? [question.text] : [],
    filter: question.filter,
  };
  const emitSearching = (message?: string): void =>
    emit({
      event: "searching",
      data: {
        ...turnIds,
        ...sought,
        recording_id: question.recordingId,
        ...(message === undefined ? {} : { message }),
      },
    });
  const showWait = (message: string): void => {
    isWaiting = true;
    emitSearching(message);
  };
  const endWait = (): void => {
    if (!isWaiting) return;
    isWaiting = false;
    emitSearching();
  };

  const send = (
    name: string,
    schema: Record<string, unknown>,
    messages: readonly ModelMessage[],
    maxOutputTokens: number,
    { onText, end = signal }: { onText?: (delta: string) => void; end?: AbortSignal } = {},
  ) =>
    sendWithin(
      {
        db,
        model,
        recordingId: null,
        workspaceId: principal.workspaceId,
        maxTokensPerDay: settings.maxTokensPerDay,
        signal: end,
      },
      {
        system: askSystem,
        messages,
        schema: { name, json: schema },
        maxOutputTokens,
        onText: (delta) => {
          endWait();
          onText?.(delta);
        },
        onProgress: endWait,
        onWait: showWait,
      },
    );

  async function checkAccess(): Promise<void> {
    const viewerId = viewerOf(principal);
    const views = [...read.keys()].map((recordingId) => ({ viewerId, recordingId }));
    if (views.length > 0 && (await viewersSee(db.pool, views)).includes(false)) throw new AccessLost();
  }

  /** The question, and what the model makes of it: a follow-up alone may not say what it is about. */
  async function findSearches(): Promise<string[]> {
    const prompt = searchPrompt(question.earlier, question.text, new Date());
    const answer = await send(
      "searches",
      jsonSchemaOf(Searches),
      [{ role: "user", content: prompt }],
      300,
    ).catch((error: unknown) => {
      // The question itself is a search.
      if (error instanceof ModelServerError && error.failure === "unusable") return { text: "" };
      throw error;
    });
    const searches = readAnswer(answer.text, Searches);
    const rewritten = searches.ok ? searches.value.searches.map((text) => safeLine(text, noLinks, 300)) : [];
    return [...new Set([question.text, ...rewritten.filter((text) => text !== "")])].slice(0, 3);
  }

  async function findPassages() {
    const { recordingId } = question;
    if (recordingId !== null) {
      emitSearching();
      return readWhole(db, recordingId);
    }
    const searches = await findSearches();
    const derived = await deriveFilter(db, principal, question.text, new Date());
    const filter = { ...derived, ...question.filter };
    const found = await searchPassages(db, principal, searches, filter);
    const isDerived = Object.keys(filter).length > Object.keys(question.filter).length;
    // What a question names may not be meant as a filter.
    const isWider = found.length === 0 && isDerived;
    sought = { searches, filter: isWider ? question.filter : filter };
    isWaiting = false;
    emitSearching();
    return isWider ? searchPassages(db, principal, searches, question.filter) : found;
  }

  async function readPassages(): Promise<NumberedPassage[]> {
    const found = await findPassages();
    read = await findRecordings(db.pool, principal, [...new Set(found.map((one) => one.recordingId))]);
    await db.kysely.transaction().execute((tx) =>
      recordAudit(tx, question.actor, {
        action: "question_asked",
        ...(question.recordingId === null
          ? {}
          : { subject: { type: "recording", id: question.recordingId } }),
        details: { recordings: [...read.keys()] },
      }),
    );
    return found
      .flatMap((passage) => {
        const recording = read.get(passage.recordingId);
        return recording === undefined
          ? []
          : [{ ...passage, title: recording.title, startedAt: recording.started_at, number: 0 }];
      })
      .map((passage, position) => ({ ...passage, number: position + 1 }));
  }

  /** Sends a statement of the model, if it is proven. @param isExtra whether it is more than the model may send. */
  async function show(
    said: unknown,
    passages: ReadonlyMap<number, NumberedPassage>,
    isExtra: boolean,
  ): Promise<void> {
    signal.throwIfAborted();
    const parsed = AnsweredStatement.safeParse(said);
    const passage = parsed.success ? passages.get(parsed.data.passage) : undefined;
    const recording = read.get(passage?.recordingId ?? "");
    if (!parsed.success || passage === undefined || recording === undefined) {
      tally.leftOut += 1;
      return;
    }
    const text = safeLine(parsed.data.text, noLinks, maxText);
    const quote = safeLine(parsed.data.quote, noLinks, maxQuote);
    const proof = findProof(passage.lines, quote);
    if (text === "" || proof === null) {
      tally.leftOut += 1;
      return;
    }
    const key = `${text}\n${quote}`;
    if (isExtra || shown.has(key)) return;
    await checkAccess();
    const statement = { text, quote, recordingId: recording.id, ...proof };
    const { transcript_version: transcriptVersion } = recording;
    const isSaved = await insertStatement(db.kysely, turn, {
      ...statement,
      transcriptVersion,
      position: tally.statements,
    });
    // The transcript has changed meanwhile.
    if (!isSaved) {
      tally.leftOut += 1;
      return;
    }
    signal.throwIfAborted();
    shown.add(key);
    tally.statements += 1;
    emit({ event: "statement", data: { text, quote, recording_id: recording.id, ...proof } });
  }

  /** Has the model answer from passages, and sends its statements as they arrive. */
  async function answerFrom(passages: readonly NumberedPassage[], maxOutputTokens: number): Promise<void> {
    await checkAccess();
    const numbered = new Map(passages.map((passage) => [passage.number, passage]));
    const schema = jsonSchemaOf(Answered);
    const asked: ModelMessage = {
      role: "user",
      content: answerPrompt(passages, question.earlier, question.text),
    };
    const first = await stream([asked]);
    if (first.isComplete) return;
    if (first.didNotFit && passages.length > 1) {
      // More tokens than estimated: in two parts.
      const middle = Math.ceil(passages.length / 2);
      await answerFrom(passages.slice(0, middle), maxOutputTokens);
      await answerFrom(passages.slice(middle), maxOutputTokens);
      return;
    }
    const second = await stream([asked, ...repairMessages(first.text, first.fault, schema)]);
    if (!second.isComplete)
      throw new ModelServerError("unusable", "The language model's response had the wrong format twice.");

    /** Streams one response. It is complete if it was well-formed, or had anything to show before it was cut off. */
    async function stream(messages: readonly ModelMessage[]) {
      const reader = readStatements();
      const different = new Set<string>();
      let received = 0;
      let work = Promise.resolve();
      let failure: unknown;
      const enough = new AbortController();
      const showNext = (said: unknown): void => {
        received += 1;
        // What can't be read counts each time, and a statement that is repeated once.
        const key = said === undefined ? String(received) : JSON.stringify(said);
        const isRepeated = different.has(key);
        different.add(key);
        const isExtra = different.size > maxStatements;
        if (isExtra || received > maxReceived) enough.abort();
        if (isRepeated) return;
        work = work
          .then(() => show(said, numbered, isExtra))
          .catch((error: unknown) => {
            failure ??= error;
            abort.abort(error);
          });
      };
      const answer = await send("answer", schema, messages, maxOutputTokens, {
        onText: (delta) => {
          for (const said of reader.read(delta)) showNext(said);
        },
        end: AbortSignal.any([signal, enough.signal]),
      }).catch(async (error: unknown) => {
        await work;
        if (failure !== undefined || signal.aborted || !enough.signal.aborted) throw failure ?? error;
        return null;
      });
      if (answer === null) return { isComplete: true } as const;
      const whole = readAnswer(answer.text, Answered);
      if (whole.ok) for (const said of whole.value.statements.slice(received)) showNext(said);
      await work;
      if (failure !== undefined) throw failure;
      // The last one was cut off.
      if (!whole.ok && received > 0 && reader.begun > received) tally.leftOut += 1;
      return whole.ok || received > 0
        ? ({ isComplete: true } as const)
        : ({
            isComplete: false,
            text: answer.text,
            fault: whole.fault,
            didNotFit: answer.isTruncated && answer.outputTokens === 0,
          } as const);
    }
  }

  return {
    tally,
    checkAccess,
    async run() {
      const passages = await readPassages();
      const { maxOutputTokens, room } = planRequests(settings.contextTokens, question);
      for (const part of groupByTokens(passages, room)) {
        for (const { number, recordingId, title, lines } of part)
          emit({
            event: "passage",
            data: {
              number,
              recording_id: recordingId,
              title,
              start: lines[0]?.start ?? 0,
              end: Math.max(...lines.map((line) => line.end)),
            },
          });
        await answerFrom(part, maxOutputTokens);
      }
      // Ended by the asker meanwhile, or by lost access.
      await checkAccess();
      signal.throwIfAborted();
    },
  };
}

/** What `done` says beside its counts. */
export function messageOf({ statements }: Tally): string | undefined {
  return statements === 0 ? nothingFound : undefined;
}

function planRequests(contextTokens: number, { earlier, text }: Question) {
  const maxOutputTokens = Math.min(2000, Math.floor(contextTokens / 4));
  const fixed =
    estimateTokens(askSystem + answerPrompt([], earlier, text)) +
    estimateTokens(JSON.stringify(jsonSchemaOf(Answered)));
  // A correction shows the response again.
  const correction = Math.max(200, Math.min(1500, Math.floor(contextTokens / 16)));
  return { maxOutputTokens, room: Math.max(600, contextTokens - maxOutputTokens - correction - fixed) };
}

/** Passages in order, in parts of at most so many tokens; a longer passage is a part of its own. */
function groupByTokens(passages: readonly NumberedPassage[], room: number): NumberedPassage[][] {
  const parts: NumberedPassage[][] = [];
  let tokens = 0;
  for (const passage of passages) {
    const cost = estimateTokens(`${printPassage(passage).join("\n")}\n`);
    const part = parts.at(-1);
    if (part === undefined || tokens + cost > room) {
      parts.push([passage]);
      tokens = cost;
    } else {
      part.push(passage);
      tokens += cost;
    }
  }
  return parts;
}
