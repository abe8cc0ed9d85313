import { queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import * as contract from "../../contract/ask/feedback.ts";
import type { Feedback as FeedbackSchema } from "../../contract/recordings/intelligence.ts";
import { call } from "./client/call.ts";

export type Feedback = z.output<typeof FeedbackSchema>;

/** Saves the user's feedback on a recording's summary; null withdraws it. */
export const saveSummaryFeedback = (id: string, feedback: Feedback | null) =>
  feedback === null
    ? call(contract.deleteSummaryFeedback, { params: { recording_id: id } })
    : call(contract.putSummaryFeedback, { params: { recording_id: id }, body: feedback });

/** Saves the user's feedback on a turn of a thread; null withdraws it. */
export const saveTurnFeedback = (threadId: string, number: number, feedback: Feedback | null) => {
  const params = { thread_id: threadId, number: String(number) };
  return feedback === null
    ? call(contract.deleteTurnFeedback, { params })
    : call(contract.putTurnFeedback, { params, body: feedback });
};

/** Ratings of the workspace, for admins. */
export const feedbackQuery = queryOptions({
  queryKey: ["feedback"],
  queryFn: ({ signal }) => call(contract.listFeedback, { signal }),
});
