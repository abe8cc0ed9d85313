import { sql } from "kysely";
import type { Violation } from "../../../contract/errors.ts";
import { type Chapter, getChapters, replaceChapters } from "../../../contract/recordings/chapters.ts";
import { chapterStartProblem, minChapterGapMs } from "../../../shared/chapters.ts";
import { recordEvent } from "../../people/events/record-event.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Database, Tx } from "../../platform/db/database.ts";
import { invalidInput } from "../../platform/http/errors/problem.ts";
import { type Api, route } from "../../platform/http/routing/route.ts";
import { canSeeRecording } from "../../recordings/recordings/queries.ts";
import { lockFor, recordingNotFound } from "../../recordings/recordings/rights.ts";
import { type Line, toLines } from "./generate/lines.ts";
import { indexQuotes } from "./generate/quotes.ts";
import { findChapters } from "./read-queries.ts";

/** The chapters of a recording: read, and replaced by users. */
export function chapterRoutes(api: Api, { db }: { readonly db: Database }): void {
  route(api, getChapters, async ({ principal, params: { recording_id: recordingId } }) => {
    if (!(await canSeeRecording(db.pool, principal, recordingId))) throw recordingNotFound(recordingId);
    return { chapters: await findChapters(db.kysely, recordingId) };
  });

  route(api, replaceChapters, async ({ principal, params, body }) => {
    await replace(db, principal, params.recording_id, body.chapters);
    return { chapters: body.chapters };
  });
}

/** Records an event only if something changed. */
async function replace(
  db: Database,
  principal: Principal,
  recordingId: string,
  chapters: readonly Chapter[],
): Promise<void> {
  await db.kysely.transaction().execute(async (tx) => {
    const recording = await lockFor(tx, principal, recordingId, "change", "change its chapters");
    const problems = await findProblems(tx, recordingId, chapters);
    if (problems.length > 0) throw invalidInput(problems);
    const { rows } = await sql`
      update recordings set ai_chapters = ${JSON.stringify(chapters)}::jsonb, chapters_by_hand = true,
        updated_at = clock_timestamp()
      where id = ${recordingId}
        and (coalesce(ai_chapters, '[]'), chapters_by_hand) is distinct from (${JSON.stringify(chapters)}::jsonb, true)
      returning id`.execute(tx);
    if (rows.length > 0)
      await recordEvent(tx, {
        workspaceId: recording.workspace_id,
        type: "recording_updated",
        subjectId: recordingId,
        data: {},
      });
  });
}

const startDetails: Readonly<Record<NonNullable<ReturnType<typeof chapterStartProblem>>, string>> = {
  after_end: "must be before the end of the recording",
  too_close: `must be at least ${minChapterGapMs / 1000} seconds after the previous chapter's start`,
};

async function findProblems(tx: Tx, recordingId: string, chapters: readonly Chapter[]): Promise<Violation[]> {
  const { rows } = await sql<{ duration_ms: number; known: Chapter[] | null }>`
    select duration_ms, ai_chapters as known from recordings where id = ${recordingId}`.execute(tx);
  const { duration_ms: durationMs = 0, known = null } = rows[0] ?? {};
  const problems = chapters.flatMap(({ start }, index) => {
    const problem = chapterStartProblem(start, chapters[index - 1]?.start, durationMs);
    return problem === null ? [] : [{ pointer: `/chapters/${index}/start`, detail: startDetails[problem] }];
  });
  if (problems.length > 0) return problems;
  // A quote that stands with the recording already stays valid when its lines are corrected.
  const accepted = new Set(["", ...(known ?? []).map(({ quote }) => quote)]);
  if (chapters.every(({ quote }) => accepted.has(quote))) return [];
  const lines = await readLines(tx, recordingId);
  let at = 0;
  for (const [index, { start, quote }] of chapters.entries()) {
    const end = chapters[index + 1]?.start ?? durationMs;
    // The passage begins with the line that is spoken at its start.
    while ((lines[at + 1]?.startMs ?? durationMs) <= start) at += 1;
    let after = at;
    while ((lines[after]?.startMs ?? end) < end) after += 1;
    const passage = lines.slice(at, after);
    if (!accepted.has(quote) && indexQuotes(passage).find(quote, 0) === null)
      problems.push({
        pointer: `/chapters/${index}/quote`,
        detail: "is not in the transcript between this chapter's start and the next one's; leave it empty",
      });
  }
  return problems;
}

async function readLines(tx: Tx, recordingId: string): Promise<Line[]> {
  const { rows } = await sql<{ start: number; speaker: string; text: string }>`
    select start_ms as start, speaker, text from transcript_segments
    where recording_id = ${recordingId} order by start_ms, position`.execute(tx);
  return toLines(rows);
}
