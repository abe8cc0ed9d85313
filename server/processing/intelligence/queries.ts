import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import type { SummaryLength } from "../../../contract/recordings/intelligence.ts";
import { languageOf } from "../../../contract/workspace/spoken-language.ts";
import { notify } from "../../people/events/notify.ts";
import type { Executor, Tx } from "../../platform/db/database.ts";
import { hasNoJob } from "../../platform/jobs/queue.ts";
import type { StoredItem } from "./generate/action-items.ts";
import type { Participant } from "./generate/assignees.ts";
import type { Template } from "./generate/summarize.ts";

/** `waiting` runs continue automatically, and so do `failed` runs that have a time; `done` is final. */
type RunStatus = "pending" | "running" | "waiting" | "done" | "failed";

export interface RunRow {
  readonly status: RunStatus;
  readonly request_count: number;
  readonly attempts: number;
  readonly not_before: Date | null;
  readonly last_error: string | null;
  readonly notes: string[];
  readonly model: string | null;
  readonly prompt_version: number;
  /** As a user chose; null: normal, and the language of the workspace's settings. */
  readonly length: SummaryLength | null;
  readonly language: string | null;
  /** What it does now, for users to read. */
  readonly stage: string | null;
  /** In percent. */
  readonly progress: number;
  readonly used_tokens: number;
  readonly requested_at: Date;
  readonly finished_at: Date | null;
  /** The user's on the present summary. */
  readonly feedback: { readonly rating: "up" | "down"; readonly comment: string } | null;
}

/** @param userId whose feedback to read. */
export async function findRun(
  db: Executor,
  recordingId: string,
  userId: string,
): Promise<RunRow | undefined> {
  const { rows } = await sql<RunRow>`
    select status, request_count, attempts, not_before, last_error, notes, model, prompt_version, length, language, stage, progress,
      (input_tokens + output_tokens)::float8 as used_tokens, requested_at, finished_at,
      (select json_build_object('rating', f.rating, 'comment', f.comment) from summary_feedback f
        where f.recording_id = i.recording_id and f.user_id = ${userId} and f.written_at = i.finished_at) as feedback
    from intelligence_runs i where recording_id = ${recordingId}`.execute(db);
  return rows[0];
}

/** How to write; undefined: as the last time. */
export interface RunChoices {
  readonly length?: SummaryLength | undefined;
  /** A code, or `auto`: the meeting's. */
  readonly language?: string | undefined;
}

/** Requests a run, even if there was one before. A run in progress then starts again instead of saving its results. */
export async function insertRun(
  tx: Tx,
  recordingId: string,
  { length, language }: RunChoices = {},
): Promise<void> {
  await sql`
    insert into intelligence_runs as r (recording_id, status, length, language)
    values (${recordingId}, 'pending', ${length ?? null}, ${languageOf(language ?? "auto")})
    on conflict (recording_id) do update set request_count = r.request_count + 1, attempts = 0, failing_since = null,
      status = case when r.status = 'running' then 'running' else 'pending' end,
      not_before = null, last_error = null, requested_at = clock_timestamp(), updated_at = clock_timestamp(),
      length = coalesce(excluded.length, r.length),
      language = ${language === undefined ? sql`r.language` : sql`excluded.language`},
      input_tokens = case when r.status = 'done' then 0 else r.input_tokens end,
      output_tokens = case when r.status = 'done' then 0 else r.output_tokens end`.execute(tx);
}

/** SQL: whether the recording of run `i` is in the trash: models don't work on it, and continue when it is restored. */
const isInTrash = sql<boolean>`exists (select 1 from trashed_recordings d where d.recording_id = i.recording_id)`;

/**
 * Finds runs that need a job and have none, because their wait is over or their job was lost. Runs with a job are excluded,
 * so that one user's backlog can't hide other runs. Workspaces with the model switched off are excluded too.
 */
export async function findDueRuns(db: Executor): Promise<string[]> {
  const { rows } = await sql<{ recording_id: string }>`
    select i.recording_id from intelligence_runs i
      join recordings r on r.id = i.recording_id
      left join intelligence_settings s on s.workspace_id = r.workspace_id
    where i.status <> 'done' and coalesce(s.is_enabled, true)
      and (i.not_before <= now() or (i.not_before is null and i.status <> 'failed'))
      and ${hasNoJob("analyze_recording", sql`i.recording_id`)} and not ${isInTrash}
    order by i.requested_at limit 500`.execute(db);
  return rows.map((row) => row.recording_id);
}

/** The input of a run. */
export interface ClaimedRun {
  readonly request_count: number;
  readonly workspace_id: string;
  readonly transcript_version: number;
  readonly external: boolean;
  readonly start_datetime: Date;
  readonly duration_ms: number;
  readonly chapters_by_hand: boolean;
  readonly length: SummaryLength | null;
  /** As a user or the workspace chose; null: the meeting's. */
  readonly language: string | null;
}

/** Marks a run as running. @returns undefined when there is nothing to do yet. */
export async function claimRun(db: Executor, recordingId: string): Promise<ClaimedRun | undefined> {
  const { rows } = await sql<ClaimedRun>`
    update intelligence_runs i set status = 'running', stage = null, progress = 0, updated_at = clock_timestamp()
    from recordings r
    where i.recording_id = ${recordingId} and r.id = i.recording_id and i.status <> 'done'
      and (i.not_before <= clock_timestamp() or (i.not_before is null and i.status <> 'failed'))
      and not ${isInTrash}
    returning i.request_count, r.workspace_id, r.transcript_version, r.external, r.start_datetime, r.duration_ms, r.chapters_by_hand,
      i.length, coalesce(i.language,
        (select s.language from intelligence_settings s where s.workspace_id = r.workspace_id)) as language`.execute(
    db,
  );
  return rows[0];
}

/** Saves what a run does now, and how far it is in percent, which never decreases. */
export async function saveStage(
  db: Executor,
  recordingId: string,
  stage: string,
  progress: number,
): Promise<void> {
  await sql`
    update intelligence_runs set stage = ${stage}, progress = greatest(progress, ${progress}), updated_at = clock_timestamp()
    where recording_id = ${recordingId} and status = 'running'`.execute(db);
}

/** Saves a failure. @returns the number of failures since the last success, and when they started. */
export async function countFailure(
  db: Executor,
  recordingId: string,
  message: string,
): Promise<{ attempts: number; failing_ms: number } | undefined> {
  const { rows } = await sql<{ attempts: number; failing_ms: number }>`
    update intelligence_runs set attempts = attempts + 1, last_error = ${message},
      failing_since = coalesce(failing_since, clock_timestamp()), updated_at = clock_timestamp()
    where recording_id = ${recordingId} and status = 'running'
    returning attempts, (extract(epoch from clock_timestamp() - failing_since) * 1000)::float8 as failing_ms`.execute(
    db,
  );
  return rows[0];
}

/**
 * Pauses or fails a run. If another run was requested in the meantime, it starts immediately instead.
 * @param until when to continue; null: only on request.
 */
export async function pauseRun(
  db: Executor,
  recordingId: string,
  requestCount: number,
  pause: { readonly status: "waiting" | "failed"; readonly until: Date | null; readonly reason: string },
): Promise<void> {
  await sql`
    update intelligence_runs set status = ${pause.status}, not_before = ${pause.until}, last_error = ${pause.reason},
      updated_at = clock_timestamp()
    where recording_id = ${recordingId} and status = 'running' and request_count = ${requestCount}`.execute(
    db,
  );
}

/** Runs again now what has failed or waits after a failure. Responses of earlier steps are kept. */
export async function restartFailing(tx: Tx, recordingId: string): Promise<void> {
  await sql`
    update intelligence_runs set status = 'pending', attempts = 0, failing_since = null, not_before = null,
      updated_at = clock_timestamp()
    where recording_id = ${recordingId} and status <> 'done'`.execute(tx);
}

/** Fails a run until it is requested again. */
export async function endRun(tx: Tx, recordingId: string, reason: string): Promise<void> {
  await sql`
    update intelligence_runs set status = 'failed', not_before = null, last_error = ${reason},
      updated_at = clock_timestamp()
    where recording_id = ${recordingId} and status <> 'done'`.execute(tx);
}

export interface KeptStep {
  readonly isTruncated: boolean;
  readonly value?: unknown;
}

export async function findStep(db: Executor, recordingId: string, key: string): Promise<KeptStep | null> {
  const { rows } = await sql<{ response: KeptStep }>`
    select response from intelligence_steps where recording_id = ${recordingId} and key = ${key}`.execute(db);
  return rows[0]?.response ?? null;
}

/** Stores a response and clears earlier failures. */
export async function saveStep(
  db: Executor,
  recordingId: string,
  key: string,
  step: KeptStep,
): Promise<void> {
  await sql`
    with run as (
      update intelligence_runs set attempts = 0, failing_since = null, last_error = null, updated_at = clock_timestamp()
      where recording_id = ${recordingId} and status = 'running' returning recording_id)
    insert into intelligence_steps (recording_id, key, response)
    select recording_id, ${key}, ${storable(JSON.stringify(step))}::jsonb from run
    on conflict (recording_id, key) do update set response = excluded.response`.execute(db);
}

/** Removes U+0000 and lone surrogates, which PostgreSQL refuses in JSON. */
function storable(json: string): string {
  return json.replace(/(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/g, "$1");
}

export async function findParticipants(db: Executor, recordingId: string): Promise<Participant[]> {
  const { rows } = await sql<Participant>`
    select a.id, a.name, p.name as "accountName"
    from participants a left join users p on p.workspace_id = a.workspace_id and p.email_key = a.email_key
    where a.recording_id = ${recordingId} order by a.position`.execute(db);
  return rows;
}

/** The enabled templates, in order. */
export async function findEnabledTemplates(db: Executor, workspaceId: string): Promise<Template[]> {
  const { rows } = await sql<Template>`
    select title, kind, prompt from section_templates
    where workspace_id = ${workspaceId} and is_enabled order by position, created_at, id`.execute(db);
  return rows;
}

export interface MeetingTypeRow {
  readonly id: string;
  readonly name: string;
  readonly is_default: boolean;
}

/** The meeting types a recording may have. */
export function findTypesOfScope(
  db: Executor,
  workspaceId: string,
  external: boolean,
): Promise<MeetingTypeRow[]> {
  return db
    .selectFrom("meeting_types")
    .select(["id", "name", "is_default"])
    .where("workspace_id", "=", workspaceId)
    .where("scope", "=", external ? "external" : "internal")
    .orderBy("position")
    .execute();
}

/** The stored action items, for a change while the caller holds the recording's lock. */
export async function findStoredItems(tx: Executor, recordingId: string): Promise<StoredItem[]> {
  const { rows } = await sql<{ items: StoredItem[] | null }>`
    select ai_action_items as items from recordings where id = ${recordingId}`.execute(tx);
  return rows[0]?.items ?? [];
}

/** Notifies users whom a change of the action items has assigned something. @param before the items before the change. */
export async function notifyAssignees(
  tx: Tx,
  recordingId: string,
  before: readonly StoredItem[],
  after: readonly StoredItem[],
  actorId: string | null,
): Promise<void> {
  const known = new Map(before.map(({ id, assignee_id }) => [id, assignee_id]));
  const assigned = Map.groupBy(
    after.filter(
      ({ id, assignee_id, status }) =>
        assignee_id !== null && status === "pending" && known.get(id) !== assignee_id,
    ),
    (item) => item.assignee_id,
  );
  for (const [assigneeId, items] of assigned)
    await notify(tx, {
      kind: "action_item_assigned",
      key: `assigned:${randomUUID()}`,
      to: sql`
        select p.id from participants a join users p on p.workspace_id = a.workspace_id and p.email_key = a.email_key
        where a.recording_id = ${recordingId} and a.id = ${assigneeId}::uuid`,
      actorId,
      recordingId,
      data: { item_ids: items.map(({ id }) => id) },
    });
}

export async function saveStoredItems(
  tx: Tx,
  recordingId: string,
  items: readonly StoredItem[],
): Promise<void> {
  await sql`
    update recordings set ai_action_items = ${JSON.stringify(items)}::jsonb, updated_at = clock_timestamp()
    where id = ${recordingId}`.execute(tx);
}
