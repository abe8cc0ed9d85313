import { sql } from "kysely";
import type pg from "pg";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Executor, Tx } from "../../platform/db/database.ts";
import type { PageQuery, Position } from "../../platform/http/page.ts";
import { defineRecurringJob } from "../../platform/jobs/define.ts";
import type { PassageLine } from "../../recordings/search/passages.ts";

/** How long a lease lasts that its process does not extend. */
const leaseSec = 15;

/** Takes the user's lease to ask. @returns false while another question is in flight. */
export async function takeLease(
  tx: Tx,
  lease: { readonly userId: string; readonly leaseId: string; readonly threadId: string },
): Promise<boolean> {
  const { rows } = await sql`
    insert into ask_leases as l (user_id, lease_id, thread_id, expires_at)
    values (${lease.userId}, ${lease.leaseId}, ${lease.threadId}, clock_timestamp() + make_interval(secs => ${leaseSec}))
    on conflict (user_id) do update set lease_id = excluded.lease_id, thread_id = excluded.thread_id, expires_at = excluded.expires_at
      where l.expires_at < clock_timestamp()
    returning 1`.execute(tx);
  return rows.length > 0;
}

/** @returns false when the lease has ended: the thread or the user was deleted, or the process stood still for too long. */
export async function extendLease(db: Executor, leaseId: string): Promise<boolean> {
  const { rows } = await sql`
    update ask_leases l set expires_at = clock_timestamp() + make_interval(secs => ${leaseSec})
    where lease_id = ${leaseId} and exists (select 1 from ask_threads t where t.id = l.thread_id)
    returning 1`.execute(db);
  return rows.length > 0;
}

export async function releaseLease(db: Executor, leaseId: string): Promise<void> {
  await sql`delete from ask_leases where lease_id = ${leaseId}`.execute(db);
}

export interface ThreadRow {
  readonly id: string;
  readonly title: string;
  readonly recording_id: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** A thread of the user. */
export async function findThread(
  db: Executor,
  userId: string,
  threadId: string,
): Promise<ThreadRow | undefined> {
  const { rows } = await sql<ThreadRow>`
    select id, title, recording_id, created_at, updated_at from ask_threads
    where id = ${threadId} and user_id = ${userId}`.execute(db);
  return rows[0];
}

/** The user's threads after a position, the last one used first. */
export async function findThreads(
  db: Executor,
  userId: string,
  page: PageQuery<Position> & { readonly recordingId: string | undefined },
): Promise<ThreadRow[]> {
  const { rows } = await sql<ThreadRow>`
    select id, title, recording_id, created_at, updated_at from ask_threads
    where user_id = ${userId}
      and ${page.recordingId === undefined ? sql`true` : sql`recording_id = ${page.recordingId}`}
      and ${page.after === null ? sql`true` : sql`(updated_at, id) < (${page.after.at}, ${page.after.id}::uuid)`}
    order by updated_at desc, id desc limit ${page.limit}`.execute(db);
  return rows;
}

export async function insertThread(
  tx: Tx,
  thread: {
    readonly id: string;
    readonly workspaceId: string;
    readonly userId: string;
    readonly recordingId: string | null;
    readonly title: string;
  },
): Promise<void> {
  await sql`
    insert into ask_threads (id, workspace_id, user_id, recording_id, title)
    values (${thread.id}, ${thread.workspaceId}, ${thread.userId}, ${thread.recordingId}, ${thread.title})`.execute(
    tx,
  );
}

export async function renameThread(
  db: Executor,
  userId: string,
  threadId: string,
  title: string,
): Promise<void> {
  await sql`update ask_threads set title = ${title} where id = ${threadId} and user_id = ${userId}`.execute(
    db,
  );
}

/** @returns whether there was one. */
export async function deleteThread(db: Executor, userId: string, threadId: string): Promise<boolean> {
  const { rows } = await sql`
    delete from ask_threads where id = ${threadId} and user_id = ${userId} returning 1`.execute(db);
  return rows.length > 0;
}

/** @returns the turn's number. */
export async function insertTurn(
  tx: Tx,
  threadId: string,
  question: string,
  by: { readonly model: string; readonly promptVersion: number },
): Promise<number> {
  const { rows } = await sql<{ number: number }>`
    with used as (update ask_threads set updated_at = clock_timestamp() where id = ${threadId})
    insert into ask_turns (thread_id, number, question, model, prompt_version)
    select ${threadId}, coalesce(max(number), 0) + 1, ${question}, ${by.model}, ${by.promptVersion} from ask_turns where thread_id = ${threadId}
    returning number`.execute(tx);
  return rows[0]?.number ?? 1;
}

export async function endTurn(
  db: Executor,
  turn: { readonly threadId: string; readonly number: number },
  end: { readonly state: "done" | "failed"; readonly message: string | null; readonly leftOut: number },
): Promise<void> {
  await sql`
    update ask_turns set state = ${end.state}, message = ${end.message}, left_out = ${end.leftOut}
    where thread_id = ${turn.threadId} and number = ${turn.number} and state = 'running'`.execute(db);
}

export interface TurnRow {
  readonly number: number;
  readonly question: string;
  /** A running turn whose process ended is `failed`. */
  readonly state: "running" | "done" | "failed";
  readonly message: string | null;
  readonly left_out: number;
  readonly hidden: number;
  readonly created_at: Date;
  readonly feedback: { readonly rating: "up" | "down"; readonly comment: string } | null;
  readonly statements: readonly {
    readonly text: string;
    readonly quote: string;
    readonly recording_id: string;
    /** Of the recording. */
    readonly title: string;
    readonly start: number;
    readonly end: number;
  }[];
}

/** A thread's last turns in order. Statements about recordings that the principal no longer sees are only counted. */
export async function findTurns(
  db: Executor,
  { sees }: Pick<Principal, "sees">,
  threadId: string,
  limit: number,
): Promise<TurnRow[]> {
  const { rows } = await sql<TurnRow>`
    select t.number, t.question, t.message, t.left_out, t.created_at,
      case when t.state = 'running' and not exists (
        select 1 from ask_leases l where l.thread_id = t.thread_id and l.expires_at > clock_timestamp())
        then 'failed' else t.state end as state,
      case when t.rating is not null then json_build_object('rating', t.rating, 'comment', t.comment) end as feedback,
      coalesce(s.statements, '[]') as statements, coalesce(s.hidden, 0)::integer as hidden
    from ask_turns t
    left join lateral (
      select count(*) filter (where not v.is_visible) as hidden,
        json_agg(json_build_object('text', a.text, 'quote', a.quote, 'recording_id', a.recording_id,
          'title', r.title, 'start', a.start_ms, 'end', a.end_ms) order by a.position) filter (where v.is_visible) as statements
      from ask_statements a
      join recordings r on r.id = a.recording_id
      cross join lateral (select exists (select 1 from recording_grants g
        where g.recording_id = a.recording_id and g.principal_id = any(${sees}::uuid[])) as is_visible) v
      where a.thread_id = t.thread_id and a.turn = t.number) s on true
    where t.thread_id = ${threadId}
    order by t.number desc limit ${limit}`.execute(db);
  return rows.reverse();
}

/**
 * Saves a statement, if the transcript is still the one that was read and the thread still exists.
 * @returns whether it was saved.
 */
export async function insertStatement(
  db: Executor,
  turn: { readonly threadId: string; readonly number: number },
  statement: {
    readonly position: number;
    readonly recordingId: string;
    readonly transcriptVersion: number;
    readonly text: string;
    readonly quote: string;
    readonly start: number;
    readonly end: number;
  },
): Promise<boolean> {
  const { rows } = await sql`
    insert into ask_statements (thread_id, turn, position, recording_id, text, quote, start_ms, end_ms)
    select t.thread_id, t.number, ${statement.position}, r.id, ${statement.text}, ${statement.quote},
      ${statement.start}, ${statement.end}
    from recordings r, ask_turns t
    where r.id = ${statement.recordingId} and r.transcript_version = ${statement.transcriptVersion}
      and t.thread_id = ${turn.threadId} and t.number = ${turn.number}
    for key share of t for share of r
    returning 1`.execute(db);
  return rows.length > 0;
}

/** What an answer says about a recording it reads. */
export interface ReadRecording {
  readonly id: string;
  readonly title: string;
  readonly started_at: Date;
  readonly transcript_version: number;
}

/** Of these recordings those that the principal sees now. */
export async function findRecordings(
  pool: pg.Pool,
  { sees }: Pick<Principal, "sees">,
  ids: readonly string[],
): Promise<Map<string, ReadRecording>> {
  const { rows } = await pool.query<ReadRecording>({
    name: "ask_find_recordings",
    text: `select r.id, r.title, r.start_datetime as started_at, r.transcript_version from recordings r
      where r.id = any($1::uuid[]) and exists (
        select 1 from recording_grants g where g.recording_id = r.id and g.principal_id = any($2::uuid[]))`,
    values: [ids, sees],
  });
  return new Map(rows.map((row) => [row.id, row]));
}

/** A whole transcript. */
export async function findLines(pool: pg.Pool, recordingId: string): Promise<PassageLine[]> {
  const { rows } = await pool.query<PassageLine>({
    name: "ask_find_lines",
    text: `select position, start_ms as start, end_ms as end, speaker, text from transcript_segments
      where recording_id = $1 order by position`,
    values: [recordingId],
  });
  return rows;
}

interface Named {
  readonly id: string;
  readonly name: string;
}

/** The teams and the meeting types of a workspace. */
export async function findNames(
  db: Executor,
  workspaceId: string,
): Promise<{ teams: Named[]; types: Named[] }> {
  const { rows } = await sql<Named & { kind: string }>`
    select id, name, 'team' as kind from teams where workspace_id = ${workspaceId}
    union all
    select id, name, 'type' from meeting_types where workspace_id = ${workspaceId}`.execute(db);
  return {
    teams: rows.filter(({ kind }) => kind === "team"),
    types: rows.filter(({ kind }) => kind === "type"),
  };
}

/** Recordings in which a name is looked up. */
const maxWithName = 200;

/**
 * The participants of recordings that the principal sees who have one of these full names or first names. A first name
 * that two of them share is nobody's.
 * @returns their full names.
 */
export async function findPeopleNamed(
  pool: pg.Pool,
  { sees }: Pick<Principal, "sees">,
  names: readonly string[],
): Promise<string[]> {
  if (names.length === 0) return [];
  const { rows } = await pool.query<{ name: string }>({
    name: "ask_find_people",
    text: `with named as (
        select n.name as wanted, parley_fold(p.name) as folded, min(p.name) as name
        from unnest($2::text[]) n (name)
        cross join lateral (select plainto_tsquery('simple', parley_search_clean(n.name)) as query) q
        cross join lateral (
          select f.recording_id from parley_search_find($1::uuid[], q.query, q.query) f
          where f.head_score > 0 limit ${maxWithName}) f
        join participants p on p.recording_id = f.recording_id
          and parley_fold(n.name) in (parley_fold(p.name), split_part(parley_fold(p.name), ' ', 1))
        where numnode(q.query) > 0
        group by 1, 2)
      select min(name) as name from named n
      where (select count(*) from named o where o.wanted = n.wanted) = 1
      group by folded`,
    values: [sees, names],
  });
  return rows.map(({ name }) => name);
}

/** Deletes threads whose last question is older than their workspace keeps them. */
async function deleteOldThreads(db: Executor): Promise<void> {
  await sql`
    delete from ask_threads t using workspaces w left join intelligence_settings s on s.workspace_id = w.id
    where w.id = t.workspace_id and t.updated_at < now() - make_interval(days => coalesce(s.question_days, 90))`.execute(
    db,
  );
}

export const deleteOldThreadsKind = defineRecurringJob({
  name: "delete_old_threads",
  label: (i18n) => i18n.t("Delete old threads"),
  every: "1 h",
  guard: "age",
  handler: ({ db }) => deleteOldThreads(db.kysely),
});
