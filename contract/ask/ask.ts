import { z } from "zod";
import { CursorInput, Milliseconds, NextCursor, Success, Timestamp, Uuid } from "../common.ts";
import { operation } from "../operation.ts";
import { Feedback } from "../recordings/intelligence.ts";
import { LibraryFilter } from "../recordings/library.ts";
import { search } from "../recordings/search.ts";

/** Length of a question. */
const maxQuestionLength = 2000;

/** Questions that a user can ask in a minute. */
export const maxQuestionsPerMinute = 10;

/** What `done` says when nothing in the meetings answers the question. */
export const nothingFound = "Your meetings don't say.";

/** Private to the user who asked, like their notes. */
const rule = "Threads are private to the user who asked. Not available to workspace tokens.";

/** The filters of Search and of List Library. */
export const AskFilter = search.query
  .omit({ q: true, cursor: true, sort: true, recording_id: true })
  .extend(
    LibraryFilter.pick({ title_search: true, participant_scope: true, attendance: true, favorite: true })
      .shape,
  )
  .meta({ id: "AskFilter", description: "As in Search and List Library: only recordings that match." });

/** What the server searches for; the first event. It is sent again when that changes, or when a wait begins or ends. */
const Searching = z.strictObject({
  thread_id: Uuid,
  number: z.int().min(1).meta({ description: "Of the question in the thread, as in Get Thread." }),
  searches: z.array(z.string()),
  filter: AskFilter,
  recording_id: Uuid.nullable(),
  message: z.string().optional().meta({
    description: "What the question waits for, such as another use of the language model on this machine.",
  }),
});

/** A part of a transcript that the model reads. */
const Passage = z.strictObject({
  number: z.int(),
  recording_id: Uuid,
  title: z.string(),
  start: Milliseconds,
  end: Milliseconds,
});

/** A sentence of the answer, with the words of the meeting that prove it. */
const Statement = z
  .strictObject({
    text: z.string().meta({ description: "Plain text without links." }),
    quote: z.string().meta({ description: "Words of the transcript that prove it." }),
    recording_id: Uuid,
    start: Milliseconds,
    end: Milliseconds,
  })
  .meta({ id: "AskStatement" });

const LeftOut = z.int().min(0).meta({
  description: "Statements of the model that were dropped because their quote is not in the passage.",
});

const Done = z.strictObject({
  thread_id: Uuid,
  statements: z.int().min(0),
  left_out: LeftOut,
  message: z
    .string()
    .optional()
    .meta({ description: `Without statements: \`${nothingFound}\`` }),
});

const AskError = z.strictObject({
  error: z.enum(["access_lost", "budget_spent", "model_failed", "stopped", "internal"]),
  message: z.string().meta({ description: "What happened, for the user." }),
  thread_id: Uuid,
});

/** The events of the response, by name. */
export const askEvents = {
  searching: Searching,
  passage: Passage,
  statement: Statement,
  done: Done,
  error: AskError,
} as const;

/** An event of the response. */
export type AskEvent = {
  [Name in keyof typeof askEvents]: {
    readonly event: Name;
    readonly data: z.output<(typeof askEvents)[Name]>;
  };
}[keyof typeof askEvents];

const common = { tag: "Ask", gate: "every_version", permission: "read" } as const;

export const ask = operation({
  ...common,
  id: "ask",
  method: "POST",
  path: "/_/api/v1/ask",
  summary: "Ask",
  description: `Answers a question from the transcripts of one recording, or of all recordings that the caller can see and the filter matches. The response is a stream of server-sent events, each with one JSON object: \`searching\` says what is searched for, and in \`message\` what the question waits for, each \`passage\` is a part of a transcript that the model reads, each \`statement\` is a sentence of the answer with the words that prove it, and \`done\` or \`error\` ends the stream. Sentences without proof are left out and counted. Closing the connection ends the model's work. With \`thread_id\`, the question follows up on a thread. A user can ask one question at a time and ${maxQuestionsPerMinute} a minute. ${rule}`,
  body: z.object({
    question: z
      .string()
      .trim()
      .min(1, "must not be blank")
      .max(maxQuestionLength)
      .meta({ example: "When does Heron 2 ship?" }),
    recording_id: Uuid.optional().meta({ description: "Answer from this recording alone." }),
    filter: AskFilter.optional(),
    thread_id: Uuid.optional().meta({ description: "The thread to continue." }),
  }),
  response: {
    contentType: "text/event-stream",
    description: "Events: `searching`, `passage`, `statement`, then `done` or `error`.",
  },
  errors: ["invalid_json", "invalid_input", "body_too_large", "forbidden", "not_found", "wrong_state"],
});

export const getAskState = operation({
  ...common,
  id: "getAskState",
  method: "GET",
  path: "/_/api/v1/ask",
  summary: "Get Ask State",
  description: `Returns whether questions can be asked. ${rule}`,
  response: z.strictObject({
    status: z.enum(["ready", "not_installed", "off", "disabled"]).meta({
      description:
        "not_installed: no language model is installed; off: the operator has turned the language model off; disabled: it is switched off for the workspace.",
    }),
  }),
  errors: ["forbidden"],
});

const Thread = z.strictObject({
  id: Uuid,
  title: z.string(),
  recording_id: Uuid.nullable().meta({ description: "The recording it is about; null: all meetings." }),
  created_datetime: Timestamp,
  updated_datetime: Timestamp,
});

const Turn = z.strictObject({
  number: z.int().min(1).meta({ description: "Counts the questions of the thread." }),
  question: z.string(),
  state: z.enum(["running", "done", "failed"]),
  message: z.string().nullable().meta({ description: "Why there is no answer; null otherwise." }),
  statements: z.array(Statement.extend({ title: z.string().meta({ description: "Of the recording." }) })),
  left_out: LeftOut,
  hidden: z.int().min(0).meta({
    description: "Statements about recordings that the caller can no longer see.",
  }),
  feedback: Feedback.nullable().meta({ description: "The caller's feedback on the answer; null: none." }),
  created_datetime: Timestamp,
});

const ThreadParams = z.object({ thread_id: Uuid });
const ThreadTitle = z.string().trim().min(1, "must not be blank").max(200);

export const listThreads = operation({
  ...common,
  id: "listThreads",
  method: "GET",
  path: "/_/api/v1/ask/threads",
  summary: "List Threads",
  description: `Lists the caller's threads, the last one used first. ${rule}`,
  query: z.object({
    recording_id: Uuid.optional().meta({ description: "Only threads about this recording." }),
    cursor: CursorInput.optional(),
  }),
  response: z.strictObject({ threads: z.array(Thread), cursor: NextCursor }),
  errors: ["invalid_input", "invalid_cursor", "forbidden"],
});

export const getThread = operation({
  ...common,
  id: "getThread",
  method: "GET",
  path: "/_/api/v1/ask/threads/:thread_id",
  summary: "Get Thread",
  description: `Returns a thread with its questions and answers. ${rule}`,
  params: ThreadParams,
  response: Thread.extend({ turns: z.array(Turn) }),
  errors: ["forbidden", "not_found"],
});

export const updateThread = operation({
  ...common,
  id: "updateThread",
  method: "PATCH",
  path: "/_/api/v1/ask/threads/:thread_id",
  summary: "Update Thread",
  description: `Renames a thread. ${rule}`,
  params: ThreadParams,
  body: z.object({ title: ThreadTitle }),
  response: Thread,
  errors: ["invalid_json", "invalid_input", "body_too_large", "forbidden", "not_found"],
});

export const deleteThread = operation({
  ...common,
  id: "deleteThread",
  method: "DELETE",
  path: "/_/api/v1/ask/threads/:thread_id",
  summary: "Delete Thread",
  description: `Deletes a thread permanently, and ends a question in flight. ${rule}`,
  params: ThreadParams,
  response: Success,
  errors: ["forbidden", "not_found"],
});
