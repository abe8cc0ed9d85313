import { sql } from "kysely";
import type { Chapter } from "../../../contract/recordings/chapters.ts";
import { languageOf } from "../../../contract/workspace/spoken-language.ts";
import type { Executor } from "../../platform/db/database.ts";

export async function hasSegments(db: Executor, recordingId: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from transcript_segments where recording_id = ${recordingId} limit 1`.execute(db);
  return rows.length > 0;
}

export async function hasParticipant(
  db: Executor,
  recordingId: string,
  participantId: string,
): Promise<boolean> {
  const { rows } = await sql`
    select 1 from participants where recording_id = ${recordingId} and id = ${participantId}`.execute(db);
  return rows.length > 0;
}

/** The user with a participant's email. */
export async function findAssignedUser(db: Executor, participantId: string): Promise<string | null> {
  const { rows } = await sql<{ id: string }>`
    select u.id from participants p
      join users u on u.workspace_id = p.workspace_id and u.email_key = p.email_key
    where p.id = ${participantId}`.execute(db);
  return rows[0]?.id ?? null;
}

export interface ReadItem {
  readonly id: string;
  readonly status: "pending" | "completed";
  readonly timestamp: number;
  readonly text: string;
  readonly quote: string;
  readonly due_date: string | null;
  readonly assignee: { readonly id: string; readonly name: string; readonly user_id: string | null } | null;
}

/** The action items of a recording with the current names of their assignees. */
export async function findItems(db: Executor, recordingId: string): Promise<ReadItem[]> {
  const { rows } = await sql<ReadItem>`
    select i->>'id' as id, i->>'status' as status, (i->>'timestamp')::integer as timestamp, i->>'text' as text,
      i->>'quote' as quote, i->>'due_on' as due_date,
      (select json_build_object('id', p.id, 'name', p.name, 'user_id', u.id)
        from participants p left join users u on u.workspace_id = r.workspace_id and u.email_key = p.email_key
        where p.recording_id = r.id and p.id = (i->>'assignee_id')::uuid) as assignee
    from recordings r, jsonb_array_elements(r.ai_action_items) with ordinality as e (i, n)
    where r.id = ${recordingId}
    order by n`.execute(db);
  return rows;
}

export async function findChapters(db: Executor, recordingId: string): Promise<Chapter[]> {
  const { rows } = await sql<{ chapters: Chapter[] }>`
    select coalesce(ai_chapters, '[]') as chapters from recordings where id = ${recordingId}`.execute(db);
  return rows[0]?.chapters ?? [];
}

export interface UsageToday {
  readonly tokens: number;
  readonly requests: number;
}

export async function findUsageToday(db: Executor, workspaceId: string): Promise<UsageToday> {
  const { rows } = await sql<UsageToday>`
    select (input_tokens + output_tokens)::float8 as tokens, requests from intelligence_usage
    where workspace_id = ${workspaceId} and day = (now() at time zone 'UTC')::date`.execute(db);
  return rows[0] ?? { tokens: 0, requests: 0 };
}

export interface RunCounts {
  readonly pending: number;
  readonly waiting: number;
  readonly failed: number;
  readonly last_error: string | null;
}

/** The unfinished runs of a workspace. */
export async function countRuns(db: Executor, workspaceId: string): Promise<RunCounts> {
  const { rows } = await sql<RunCounts>`
    select count(*) filter (where i.status in ('pending', 'running'))::integer as pending,
      count(*) filter (where i.status = 'waiting')::integer as waiting,
      count(*) filter (where i.status = 'failed')::integer as failed,
      (array_agg(i.last_error order by i.updated_at desc) filter (where i.last_error is not null))[1] as last_error
    from intelligence_runs i join recordings r on r.id = i.recording_id
    where r.workspace_id = ${workspaceId} and i.status <> 'done'`.execute(db);
  return rows[0] ?? { pending: 0, waiting: 0, failed: 0, last_error: null };
}

/** Changes the given settings. */
export async function saveSettings(
  db: Executor,
  workspaceId: string,
  changes: {
    readonly enabled: boolean | undefined;
    readonly max_tokens_per_day: number | null | undefined;
    readonly question_days: number | undefined;
    /** `auto`: the meeting's. */
    readonly language: string | undefined;
  },
): Promise<void> {
  const hasLimit = changes.max_tokens_per_day !== undefined;
  await sql`
    insert into intelligence_settings as s (workspace_id, is_enabled, max_tokens_per_day, question_days, language)
    values (${workspaceId}, ${changes.enabled ?? true}, ${changes.max_tokens_per_day ?? null}, ${changes.question_days ?? 90},
      ${languageOf(changes.language ?? "auto")})
    on conflict (workspace_id) do update set is_enabled = coalesce(${changes.enabled ?? null}, s.is_enabled),
      max_tokens_per_day = case when ${hasLimit} then ${changes.max_tokens_per_day ?? null}::bigint
        else s.max_tokens_per_day end,
      question_days = coalesce(${changes.question_days ?? null}, s.question_days),
      language = ${changes.language === undefined ? sql`s.language` : sql`excluded.language`},
      updated_at = clock_timestamp()`.execute(db);
}

/** Resumes runs that wait because of a limit or the switch, after a change of either. @returns their recordings. */
export async function wakeRuns(db: Executor, workspaceId: string): Promise<string[]> {
  const { rows } = await sql<{ recording_id: string }>`
    update intelligence_runs i set not_before = null, updated_at = clock_timestamp()
    from recordings r
    where r.id = i.recording_id and r.workspace_id = ${workspaceId} and i.status = 'waiting'
    returning i.recording_id`.execute(db);
  return rows.map((row) => row.recording_id);
}
