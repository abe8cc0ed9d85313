import { sql } from "kysely";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Executor } from "../../platform/db/database.ts";

type Rating = "up" | "down";

export interface Given {
  readonly rating: Rating;
  readonly comment: string;
}

/** Saves a user's feedback on the present summary. @returns false when the language model has written none. */
export async function saveSummaryFeedback(
  db: Executor,
  { userId }: Pick<Principal, "userId">,
  recordingId: string,
  { rating, comment }: Given,
): Promise<boolean> {
  const { rows } = await sql`
    insert into summary_feedback
      (recording_id, user_id, model, prompt_version, written_at, rating, comment)
    select i.recording_id, ${userId}, i.model, i.prompt_version, i.finished_at, ${rating}, ${comment}
    from intelligence_runs i join recordings r on r.id = i.recording_id
    where i.recording_id = ${recordingId} and i.model is not null and i.finished_at is not null
      and coalesce(r.ai_summary, '') <> ''
    on conflict (recording_id, user_id, model, prompt_version) do update set
      written_at = excluded.written_at, rating = excluded.rating, comment = excluded.comment,
      rated_at = excluded.rated_at
    returning 1`.execute(db);
  return rows.length > 0;
}

/** Removes a user's feedback on the present summary. */
export async function deleteSummaryFeedback(
  db: Executor,
  { userId }: Pick<Principal, "userId">,
  recordingId: string,
): Promise<void> {
  await sql`
    delete from summary_feedback f using intelligence_runs i
    where f.recording_id = ${recordingId} and f.user_id = ${userId}
      and i.recording_id = f.recording_id and i.finished_at = f.written_at`.execute(db);
}

/** Saves or removes the feedback on an answer in a thread of the user. */
export async function saveAnswerFeedback(
  db: Executor,
  { userId }: Pick<Principal, "userId">,
  turn: { readonly threadId: string; readonly number: number },
  feedback: Given | null,
): Promise<"saved" | "not_found" | "unanswered"> {
  const { rows } = await sql<{ state: string }>`
    select u.state from ask_turns u join ask_threads t on t.id = u.thread_id
    where u.thread_id = ${turn.threadId} and u.number = ${turn.number} and t.user_id = ${userId}`.execute(db);
  const [found] = rows;
  if (found === undefined) return "not_found";
  if (feedback !== null && found.state === "running") return "unanswered";
  await sql`
    update ask_turns set rating = ${feedback?.rating ?? null}, comment = ${feedback?.comment ?? null},
      rated_at = ${feedback === null ? sql`null` : sql`clock_timestamp()`}
    where thread_id = ${turn.threadId} and number = ${turn.number}`.execute(db);
  return "saved";
}

/** What was rated, without who did: summaries and answers of a workspace. */
function ratings(workspaceId: string) {
  return sql`(
    select 'summary' as subject, f.model, f.prompt_version, f.rating, f.comment, f.rated_at
    from recordings r join summary_feedback f on f.recording_id = r.id
    where r.workspace_id = ${workspaceId}
    union all
    select 'answer', u.model, u.prompt_version, u.rating, u.comment, u.rated_at
    from ask_threads t join ask_turns u on u.thread_id = t.id
    where t.workspace_id = ${workspaceId} and u.rating is not null)`;
}

interface WrittenBy {
  readonly subject: "summary" | "answer";
  readonly model: string | null;
  readonly prompt_version: number;
}

export async function countFeedback(
  db: Executor,
  workspaceId: string,
): Promise<(WrittenBy & { readonly up: number; readonly down: number })[]> {
  const { rows } = await sql<WrittenBy & { up: number; down: number }>`
    select subject, model, prompt_version, count(*) filter (where rating = 'up')::integer as up,
      count(*) filter (where rating = 'down')::integer as down
    from ${ratings(workspaceId)} f
    group by 1, 2, 3 order by subject desc, model, prompt_version desc`.execute(db);
  return rows;
}

/** The latest comments. */
export async function findComments(
  db: Executor,
  workspaceId: string,
  limit: number,
): Promise<(WrittenBy & Given & { readonly rated_at: Date })[]> {
  const { rows } = await sql<WrittenBy & Given & { rated_at: Date }>`
    select subject, model, prompt_version, rating, comment, rated_at
    from ${ratings(workspaceId)} f
    where comment <> '' order by rated_at desc limit ${limit}`.execute(db);
  return rows;
}
