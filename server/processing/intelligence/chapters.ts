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
import { type Line, plainLine, toLines } from "./generate/lines.ts";
import { indexQuotes, type QuoteIndex } from "./generate/quotes.ts";
import { findChapters } from "./read-queries.ts";

/** The chapters of a recording: read, and replaced by users. */
export function chapterRoutes(api: Api, { db }: { readonly db: Database }): void {
  route(api, getChapters, async ({ principal, params: { recording_id: recordingId } }) => {
    if (!(await canSeeRecording(db.pool, principal, recordingId))) throw recordingNotFound(recordingId);
    return { chapters: await findChapters(db.kysely, recordingId) };
  });

  route(api, replaceChapters, async ({ principal, params, body }) => {
    return { chapters: await replace(db, principal, params.recording_id, body.chapters) };
  });
}

/** Records an event only if something changed. @returns the chapters as stored. */
async function replace(
  db: Database,
  principal: Principal,
  recordingId: string,
  given: readonly Chapter[],
): Promise<Chapter[]> {
  return db.kysely.transaction().execute(async (tx) => {
    const recording = await lockFor(tx, principal, recordingId, "change", "change its chapters");
    const { chapters, problems } = await checkChapters(tx, recordingId, given);
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
    return chapters;
  });
}

const startDetails: Readonly<Record<NonNullable<ReturnType<typeof chapterStartProblem>>, string>> = {
  after_end: "must be before the end of the recording",
  too_close: `must be at least ${minChapterGapMs / 1000} seconds after the previous chapter's start`,
};

/**
 * @returns the chapters with titles of one line that can be seen, and without the quotes that are another chapter's now;
 * and what is wrong with them.
 */
async function checkChapters(
  tx: Tx,
  recordingId: string,
  given: readonly Chapter[],
): Promise<{ chapters: Chapter[]; problems: Violation[] }> {
  const { rows } = await sql<{ duration_ms: number; known: Chapter[] | null }>`
    select duration_ms, ai_chapters as known from recordings where id = ${recordingId}`.execute(tx);
  const { duration_ms: durationMs = 0, known } = rows[0] ?? {};
  const problems = given.flatMap(({ start }, index) => {
    const problem = chapterStartProblem(start, given[index - 1]?.start, durationMs);
    return problem === null ? [] : [{ pointer: `/chapters/${index}/start`, detail: startDetails[problem] }];
  });
  const chapters = given.map((chapter) => ({ ...chapter, title: plainLine(chapter.title) }));
  for (const [index, { title }] of chapters.entries())
    if (title === "") problems.push({ pointer: `/chapters/${index}/title`, detail: "must not be blank" });
  if (problems.length > 0 || given.every(({ quote }) => quote === "")) return { chapters, problems };
  const quoteAt = new Map((known ?? []).map(({ start, quote }) => [start, quote]));
  const lines = await readLines(tx, recordingId);
  let whole: QuoteIndex | null = null;
  let at = 0;
  for (const [index, chapter] of chapters.entries()) {
    const { start, quote } = chapter;
    const end = chapters[index + 1]?.start ?? durationMs;
    // The passage begins with the line that is spoken at its start.
    while ((lines[at + 1]?.startMs ?? durationMs) <= start) at += 1;
    let after = at;
    while ((lines[after]?.startMs ?? end) < end) after += 1;
    if (quote === "" || indexQuotes(lines.slice(at, after)).find(quote, 0) !== null) continue;
    if (quoteAt.get(start) !== quote) {
      problems.push({
        pointer: `/chapters/${index}/quote`,
        detail: "is not in the transcript between this chapter's start and the next one's; leave it empty",
      });
      continue;
    }
    // It stays when its lines were corrected, but not when a new chapter has its words now.
    whole ??= indexQuotes(lines);
    const next = lines[after];
    if (next !== undefined && whole.findFrom(quote, next.number) !== null)
      chapters[index] = { ...chapter, quote: "" };
  }
  return { chapters, problems };
}

async function readLines(tx: Tx, recordingId: string): Promise<Line[]> {
  const { rows } = await sql<{ start: number; speaker: string; text: string }>`
    select start_ms as start, speaker, text from transcript_segments
    where recording_id = ${recordingId} order by start_ms, position`.execute(tx);
  return toLines(rows);
}
