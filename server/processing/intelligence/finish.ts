import { sql } from "kysely";
import type { Chapter } from "../../../contract/recordings/chapters.ts";
import type { Point } from "../../../contract/recordings/points.ts";
import { sentenceOf, sentences } from "../../../contract/sentences.ts";
import { recordEvent } from "../../people/events/record-event.ts";
import type { Database, Tx } from "../../platform/db/database.ts";
import { mergeItems, type StoredItem } from "./generate/action-items.ts";
import { renderPoints } from "./generate/points.ts";
import { promptVersion } from "./generate/prompts.ts";
import { wordsOnly } from "./generate/quotes.ts";
import type { StoredSection } from "./generate/sections.ts";
import type { MeetingSummary } from "./generate/summarize.ts";
import { type ClaimedRun, findTypesOfScope, notifyAssignees } from "./queries.ts";

interface LockedRun {
  readonly status: string;
  readonly request_count: number;
  readonly written_title: string | null;
  readonly written_meeting_type_id: string | null;
}

interface LockedRecording {
  readonly workspace_id: string;
  readonly title: string;
  readonly default_title: string | null;
  readonly transcript_version: number;
  readonly external: boolean;
  readonly meeting_type_id: string | null;
  readonly meeting_type_by_hand: boolean;
  readonly ai_summary: string | null;
  readonly ai_summary_points: Point[] | null;
  readonly ai_action_items: StoredItem[] | null;
  readonly ai_template_sections: StoredSection[] | null;
  readonly ai_chapters: Chapter[] | null;
  readonly chapters_by_hand: boolean;
}

/**
 * Saves the model's results, ends the run and records `recording_updated` in one transaction. Called twice, or after the
 * recording was deleted, it changes nothing.
 * @returns `stale` when another run was requested or the transcript changed in the meantime: then nothing is saved and the
 * run starts again.
 */
export async function finishRun(
  db: Database,
  recordingId: string,
  claimed: ClaimedRun,
  result: MeetingSummary,
  modelName: string,
): Promise<"written" | "stale" | "over"> {
  return db.kysely.transaction().execute(async (tx) => {
    // Every transaction locks the recording first.
    const recording = await lockRecording(tx, recordingId);
    const run = await lockRun(tx, recordingId);
    if (recording === undefined || run?.status !== "running") return "over";
    if (
      run.request_count !== claimed.request_count ||
      recording.transcript_version !== claimed.transcript_version
    )
      return "stale";
    const itemsBefore = recording.ai_action_items ?? [];
    const notes = [...result.notes];
    const isSummaryKept = result.points === null && (recording.ai_summary ?? "") !== "";
    if (isSummaryKept) notes.push(sentences.run_summary_kept);
    const points = result.points ?? [];
    const changes = {
      ...(isSummaryKept
        ? { ai_summary: recording.ai_summary ?? "", ai_summary_points: recording.ai_summary_points }
        : { ai_summary: renderPoints(points), ai_summary_points: points }),
      ai_action_items: chooseItems(itemsBefore, result, notes),
      ai_template_sections: chooseSections(recording.ai_template_sections ?? [], result, notes),
      ai_chapters: chooseChapters(recording, result, notes),
      title: chooseTitle(recording, run, result),
      meeting_type_id: await chooseType(tx, recording, run, result),
    };
    if (await write(tx, recordingId, changes)) {
      await notifyAssignees(tx, recordingId, itemsBefore, changes.ai_action_items, null);
      await recordEvent(tx, {
        workspaceId: recording.workspace_id,
        type: "recording_updated",
        subjectId: recordingId,
        data: {},
      });
    }
    const { title, meeting_type_id: typeId } = changes;
    await saveRun(tx, recordingId, {
      notes,
      modelName,
      isSummaryKept,
      title: title === recording.title ? run.written_title : title,
      typeId: typeId === recording.meeting_type_id ? run.written_meeting_type_id : typeId,
    });
    await sql`delete from intelligence_steps where recording_id = ${recordingId}`.execute(tx);
    return "written";
  });
}

async function lockRecording(tx: Tx, recordingId: string): Promise<LockedRecording | undefined> {
  const { rows } = await sql<LockedRecording>`
    select workspace_id, title, default_title, transcript_version, external, meeting_type_id, meeting_type_by_hand,
      ai_summary, ai_summary_points, ai_action_items, ai_template_sections, ai_chapters, chapters_by_hand
    from recordings where id = ${recordingId} for update`.execute(tx);
  return rows[0];
}

async function lockRun(tx: Tx, recordingId: string): Promise<LockedRun | undefined> {
  const { rows } = await sql<LockedRun>`
    select status, request_count, written_title, written_meeting_type_id
    from intelligence_runs where recording_id = ${recordingId} for update`.execute(tx);
  return rows[0];
}

/** Ends a run. A summary that was kept stays that of its model, and keeps its feedback. */
async function saveRun(
  tx: Tx,
  recordingId: string,
  run: {
    readonly notes: readonly string[];
    readonly modelName: string;
    readonly isSummaryKept: boolean;
    /** As this run or an earlier one wrote it. */
    readonly title: string | null;
    readonly typeId: string | null;
  },
): Promise<void> {
  const { isSummaryKept } = run;
  await sql`
    with done as (
      update intelligence_runs set status = 'done', attempts = 0, failing_since = null, not_before = null,
        last_error = null, notes = ${run.notes}::text[],
        model = case when ${isSummaryKept} then model else ${run.modelName} end,
        prompt_version = case when ${isSummaryKept} then prompt_version else ${promptVersion} end,
        finished_at = clock_timestamp(), updated_at = clock_timestamp(),
        written_title = ${run.title}, written_meeting_type_id = ${run.typeId}::uuid
      where recording_id = ${recordingId} returning finished_at)
    update summary_feedback f set written_at = done.finished_at
    from done, intelligence_runs before
    where ${isSummaryKept} and before.recording_id = ${recordingId}
      and f.recording_id = before.recording_id and f.written_at = before.finished_at`.execute(tx);
}

function chooseItems(
  before: readonly StoredItem[],
  { items }: MeetingSummary,
  notes: string[],
): StoredItem[] {
  if (items === null && before.length > 0) notes.push(sentences.run_items_kept);
  return items === null ? [...before] : mergeItems(before, items);
}

/** A section that couldn't be written stays as an earlier run wrote it. */
function chooseSections(
  before: readonly StoredSection[],
  { sections }: MeetingSummary,
  notes: string[],
): StoredSection[] {
  return sections.flatMap(({ title, section }) => {
    if (section !== null) return section;
    const earlier = before.find((one) => one.title === title);
    if (earlier === undefined) return [];
    notes.push(sentenceOf("run_section_kept", { title }));
    return earlier;
  });
}

function chooseChapters(recording: LockedRecording, result: MeetingSummary, notes: string[]): Chapter[] {
  const before = recording.ai_chapters ?? [];
  if (recording.chapters_by_hand) return before;
  if (result.chapters === null && before.length > 0) notes.push(sentences.run_chapters_kept);
  return result.chapters ?? before;
}

/** The model's title replaces only the upload's default title or an earlier run's, never one that a user wrote. */
function chooseTitle(recording: LockedRecording, run: LockedRun, { title }: MeetingSummary): string {
  const isOurs = recording.title === recording.default_title || recording.title === run.written_title;
  return isOurs && title !== "" ? title : recording.title;
}

/**
 * The model's meeting type replaces only the default of the scope or an earlier run's, never one that a user chose.
 */
async function chooseType(
  tx: Tx,
  recording: LockedRecording,
  run: LockedRun,
  { meetingType }: MeetingSummary,
): Promise<string | null> {
  const { meeting_type_id: now } = recording;
  if (meetingType === null || recording.meeting_type_by_hand) return now;
  const types = await findTypesOfScope(tx, recording.workspace_id, recording.external);
  const isDefault = now === null || types.some((type) => type.id === now && type.is_default);
  const isOurs = run.written_meeting_type_id === null ? isDefault : now === run.written_meeting_type_id;
  if (!isOurs) return now;
  const wanted = wordsOnly(meetingType);
  return types.find((type) => wordsOnly(type.name) === wanted)?.id ?? now;
}

/** @returns whether anything changed. */
async function write(
  tx: Tx,
  recordingId: string,
  changes: {
    readonly ai_summary: string;
    readonly ai_summary_points: readonly Point[] | null;
    readonly ai_action_items: readonly StoredItem[];
    readonly ai_template_sections: readonly StoredSection[];
    readonly ai_chapters: readonly Chapter[];
    readonly title: string;
    readonly meeting_type_id: string | null;
  },
): Promise<boolean> {
  const points = changes.ai_summary_points === null ? null : JSON.stringify(changes.ai_summary_points);
  const items = JSON.stringify(changes.ai_action_items);
  const sections = JSON.stringify(changes.ai_template_sections);
  const chapters = JSON.stringify(changes.ai_chapters);
  const { rows } = await sql`
    update recordings set ai_summary = ${changes.ai_summary},
      ai_summary_points = ${points}::jsonb, ai_action_items = ${items}::jsonb,
      ai_template_sections = ${sections}::jsonb, ai_chapters = ${chapters}::jsonb, title = ${changes.title},
      meeting_type_id = ${changes.meeting_type_id}::uuid, updated_at = clock_timestamp()
    where id = ${recordingId}
      and (coalesce(ai_summary, ''), ai_summary_points, coalesce(ai_action_items, '[]'), coalesce(ai_template_sections, '[]'),
          coalesce(ai_chapters, '[]'), title, meeting_type_id)
        is distinct from (${changes.ai_summary}::text, ${points}::jsonb, ${items}::jsonb, ${sections}::jsonb, ${chapters}::jsonb,
          ${changes.title}::text, ${changes.meeting_type_id}::uuid)
    returning id`.execute(tx);
  return rows.length > 0;
}
