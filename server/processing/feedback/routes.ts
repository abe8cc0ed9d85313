import * as contract from "../../../contract/ask/feedback.ts";
import { because } from "../../../contract/causes/causes.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Database } from "../../platform/db/database.ts";
import { ProblemError } from "../../platform/http/errors/problem.ts";
import { type Api, route } from "../../platform/http/routing/route.ts";
import { canSeeRecording } from "../../recordings/recordings/queries.ts";
import { recordingNotFound } from "../../recordings/recordings/rights.ts";
import * as queries from "./queries.ts";

/** Thumbs up and down of users on what the language model wrote. */
export function feedbackRoutes(api: Api, { db }: { readonly db: Database }): void {
  const success = { success: true } as const;

  const requireSight = async (principal: Principal, recordingId: string): Promise<void> => {
    refuseWorkspaceToken(principal);
    if (!(await canSeeRecording(db.pool, principal, recordingId))) throw recordingNotFound(recordingId);
  };

  route(api, contract.putSummaryFeedback, async ({ principal, params: { recording_id: id }, body }) => {
    await requireSight(principal, id);
    if (!(await queries.saveSummaryFeedback(db.kysely, principal, id, body)))
      throw new ProblemError("wrong_state", because("summary_missing"));
    return success;
  });

  route(api, contract.deleteSummaryFeedback, async ({ principal, params: { recording_id: id } }) => {
    await requireSight(principal, id);
    await queries.deleteSummaryFeedback(db.kysely, principal, id);
    return success;
  });

  const changeAnswer = async (
    principal: Principal,
    params: { readonly thread_id: string; readonly number: string },
    feedback: queries.Given | null,
  ) => {
    refuseWorkspaceToken(principal);
    const turn = { threadId: params.thread_id, number: Number(params.number) };
    const outcome = await queries.saveAnswerFeedback(db.kysely, principal, turn, feedback);
    if (outcome === "not_found")
      throw new ProblemError(
        "not_found",
        `there is no question ${turn.number} in a thread ${turn.threadId}; see Get Thread`,
      );
    if (outcome === "unanswered") throw new ProblemError("wrong_state", because("question_unanswered"));
    return success;
  };

  route(api, contract.putTurnFeedback, ({ principal, params, body }) =>
    changeAnswer(principal, params, body),
  );
  route(api, contract.deleteTurnFeedback, ({ principal, params }) => changeAnswer(principal, params, null));

  route(api, contract.listFeedback, async ({ principal: { workspaceId } }) => {
    const [counts, comments] = await Promise.all([
      queries.countFeedback(db.kysely, workspaceId),
      queries.findComments(db.kysely, workspaceId, contract.maxListedComments),
    ]);
    return {
      counts,
      comments: comments.map(({ rated_at: at, ...rest }) => ({ ...rest, rated_datetime: at.toISOString() })),
    };
  });
}

function refuseWorkspaceToken(principal: Principal): void {
  if (principal.scope === "workspace")
    throw new ProblemError(
      "forbidden",
      "feedback belongs to a user and this is a workspace token; use a personal token",
    );
}
