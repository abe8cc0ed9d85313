import { t } from "@lingui/core/macro";
import { type AskEvent, type AskFilter, askQuestion, type Thread } from "../api/ask.ts";
import { ApiError } from "../api/client/api-error.ts";
import { type Feedback, saveTurnFeedback } from "../api/feedback.ts";

/** A proven sentence of an answer. Times in milliseconds. */
export type ShownStatement = Thread["turns"][number]["statements"][number];

export interface Answer {
  /** In its thread, as in Get Thread; null until the server has the question. */
  readonly number: number | null;
  readonly question: string;
  /** `failed`: it can be asked again. */
  readonly state: "running" | "done" | "failed";
  /** What the question waits for. */
  readonly waitsFor: string | null;
  /** What the model reads. */
  readonly passages: readonly { readonly recordingId: string; readonly title: string }[];
  readonly statements: readonly ShownStatement[];
  /** Statements without proof. */
  readonly leftOut: number;
  /** Statements about recordings that the user no longer sees. */
  readonly hidden: number;
  /** Why there is no answer: a sentence of the server, or a text of the app in the language of the reader when it is shown. */
  readonly message: string | (() => string) | null;
  readonly feedback: Feedback | null;
}

interface State {
  /** The thread that a follow-up continues; null before the first question. */
  readonly threadId: string | null;
  readonly answers: readonly Answer[];
}

/** Questions with their answers. */
export interface Conversation {
  readonly subscribe: (listener: () => void) => () => void;
  readonly get: () => State;
  /** Asks a follow-up, or the first question. Does nothing while one is being answered. */
  readonly ask: (question: string, filter?: AskFilter) => void;
  /** Ends the model's work. */
  readonly stop: () => void;
  /** Starts a new thread. */
  readonly clear: () => void;
  /** Saves feedback on an answer; null withdraws it. */
  readonly rate: (number: number, feedback: Feedback | null) => Promise<void>;
  /** Shows a stored thread. */
  readonly load: (thread: Thread) => void;
}

const lostText = () => t`The connection was lost before the answer was complete.`;

/** @param recordingId what the questions are about; null: all meetings, or what the thread is about. */
function createConversation(recordingId: string | null): Conversation {
  let state: State = { threadId: null, answers: [] };
  let running: AbortController | null = null;
  const listeners = new Set<() => void>();
  const set = (change: Partial<State>): void => {
    state = { ...state, ...change };
    for (const listener of listeners) listener();
  };
  const changeLast = (change: Partial<Answer>): void =>
    set({
      answers: state.answers.map((answer, index) =>
        index === state.answers.length - 1 ? { ...answer, ...change } : answer,
      ),
    });

  function show({ event, data }: AskEvent): void {
    const last = state.answers.at(-1);
    if (last === undefined) return;
    if (event === "searching") {
      set({ threadId: data.thread_id });
      changeLast({ number: data.number, waitsFor: data.message ?? null });
    } else if (event === "passage")
      changeLast({ passages: [...last.passages, { recordingId: data.recording_id, title: data.title }] });
    else if (event === "statement") {
      const title = last.passages.find((one) => one.recordingId === data.recording_id)?.title ?? "";
      changeLast({ statements: [...last.statements, { ...data, title }] });
    } else if (event === "done")
      changeLast({ state: "done", leftOut: data.left_out, message: data.message ?? null });
    else changeLast({ state: "failed", message: data.message });
  }

  async function answer(question: string, filter: AskFilter, abort: AbortController): Promise<void> {
    try {
      await askQuestion(
        {
          question,
          ...(state.threadId === null ? {} : { thread_id: state.threadId }),
          ...(recordingId === null ? { filter } : { recording_id: recordingId }),
        },
        abort.signal,
        // A stopped answer stays as it was.
        (event) => running === abort && show(event),
      );
      if (running === abort && state.answers.at(-1)?.state === "running")
        changeLast({ state: "failed", message: lostText });
    } catch (error) {
      if (running === abort) changeLast({ state: "failed", message: textOf(error, state) });
    }
    if (running === abort) running = null;
  }

  return {
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    get: () => state,
    ask(question, filter = {}) {
      if (running !== null) return;
      running = new AbortController();
      set({ answers: [...state.answers, { ...empty, question, state: "running" }] });
      void answer(question, filter, running);
    },
    stop() {
      if (running === null) return;
      running.abort();
      running = null;
      changeLast({ state: "failed", message: () => t`You stopped this answer.` });
    },
    clear: () => set({ threadId: null, answers: [] }),
    async rate(number, feedback) {
      const { threadId } = state;
      if (threadId === null) return;
      await saveTurnFeedback(threadId, number, feedback);
      if (state.threadId === threadId)
        set({ answers: state.answers.map((one) => (one.number === number ? { ...one, feedback } : one)) });
    },
    load(thread) {
      if (running !== null) return;
      set({ threadId: thread.id, answers: thread.turns.map(toAnswer) });
    },
  };
}

const empty = {
  ...{ number: null, waitsFor: null, passages: [], statements: [] },
  ...{ leftOut: 0, hidden: 0, message: null, feedback: null },
};

function toAnswer({ left_out, created_datetime: _, ...turn }: Thread["turns"][number]): Answer {
  const answer = { ...turn, waitsFor: null, passages: [], leftOut: left_out };
  // It ends there, or fails when its process did.
  if (turn.state === "running")
    return {
      ...answer,
      state: "failed",
      message: () => t`This question is being answered in another window.`,
    };
  return { ...answer, state: turn.state };
}

function textOf(error: unknown, { answers }: State): () => string {
  if (!(error instanceof ApiError)) return () => t`Something went wrong. Reload the page.`;
  if (error.code === "unreachable" && (answers.at(-1)?.passages.length ?? 0) > 0) return lostText;
  return () => {
    const text = error.message.charAt(0).toUpperCase() + error.message.slice(1);
    return /[.!?…。]$/.test(text) ? text : `${text}.`;
  };
}

/** Conversations that a return to their page shows again. */
const maxKept = 20;
const kept = new Map<string, Conversation>();

/**
 * The conversation of a page: about all meetings, a recording, or a thread.
 * @param key `all`, or a recording's or a thread's id.
 */
export function conversationAt(key: string, recordingId: string | null): Conversation {
  const conversation = kept.get(key) ?? createConversation(recordingId);
  kept.delete(key);
  kept.set(key, conversation);
  const [oldest] = kept.keys();
  if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest);
  return conversation;
}
