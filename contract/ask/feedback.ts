import { z } from "zod";
import { Success, Timestamp, Uuid } from "../common.ts";
import { operation } from "../operation.ts";
import { Feedback } from "../recordings/intelligence.ts";
import { RecordingParams } from "../recordings/recordings.ts";

/** Length of a comment. */
const maxFeedbackComment = 500;

const { rating: Rating } = Feedback.shape;

const rule =
  "Only the caller can read it, except that admins see counts, and comments without their authors. Not available to workspace tokens.";

const shared = { tag: "Intelligence", gate: "every_version", permission: "read", response: Success } as const;
const ofSummary = {
  ...shared,
  path: "/_/api/v1/recordings/:recording_id/summary/feedback",
  params: RecordingParams,
} as const;
/** As Get Thread counts them. */
const TurnNumber = z.string().regex(/^[1-9]\d{0,8}$/, "must be the number of a question");

const ofAnswer = {
  ...shared,
  path: "/_/api/v1/ask/threads/:thread_id/turns/:number/feedback",
  params: z.object({ thread_id: Uuid, number: TurnNumber }),
} as const;
const given = {
  body: z.object({ rating: Rating, comment: z.string().trim().max(maxFeedbackComment).default("") }),
  errors: ["invalid_json", "invalid_input", "body_too_large", "forbidden", "not_found", "wrong_state"],
} as const;

export const putSummaryFeedback = operation({
  ...ofSummary,
  ...given,
  id: "putSummaryFeedback",
  method: "PUT",
  summary: "Put Summary Feedback",
  description: `Says that the summary of a recording that the caller can see is good or bad. Replaces the caller's earlier feedback. It is stored with the model and the version of its prompts; Get Recording Intelligence shows it until another summary is written. ${rule}`,
});

export const deleteSummaryFeedback = operation({
  ...ofSummary,
  id: "deleteSummaryFeedback",
  method: "DELETE",
  summary: "Delete Summary Feedback",
  description: "Withdraws the caller's feedback on the summary; nothing happens if there is none.",
  errors: ["forbidden", "not_found"],
});

export const putTurnFeedback = operation({
  ...ofAnswer,
  ...given,
  id: "putTurnFeedback",
  method: "PUT",
  summary: "Put Turn Feedback",
  description: `Says that the answer to a question of the caller's thread is good or bad. Replaces earlier feedback. ${rule}`,
});

export const deleteTurnFeedback = operation({
  ...ofAnswer,
  id: "deleteTurnFeedback",
  method: "DELETE",
  summary: "Delete Turn Feedback",
  description: "Withdraws the caller's feedback on an answer; nothing happens if there is none.",
  errors: ["forbidden", "not_found"],
});

const writtenBy = {
  subject: z.enum(["summary", "answer"]),
  model: z.string().nullable().meta({ description: "null: an earlier version of Parley did not store it." }),
  prompt_version: z.int().meta({ description: "Changes when Parley's prompts change." }),
};

/** Comments that List Feedback returns: the latest. */
export const maxListedComments = 50;

export const listFeedback = operation({
  ...shared,
  id: "listFeedback",
  permission: "manage",
  method: "GET",
  path: "/_/api/v1/intelligence/feedback",
  summary: "List Feedback",
  description: `Counts the thumbs up and down on summaries and answers of the workspace by model, and lists the latest ${maxListedComments} comments, without their authors, recordings and questions.`,
  response: z.strictObject({
    counts: z.array(z.strictObject({ ...writtenBy, up: z.int().min(0), down: z.int().min(0) })),
    comments: z.array(
      z.strictObject({ ...writtenBy, rating: Rating, comment: z.string(), rated_datetime: Timestamp }),
    ),
  }),
  errors: ["forbidden"],
});
