import { type RawBuilder, sql } from "kysely";
import type { Executor } from "../../platform/db/database.ts";

/** The conditions of a rule; null matches everything. */
export interface Conditions {
  readonly older_than_days: number;
  readonly team_id: string | null;
  readonly meeting_type_id: string | null;
  readonly tag: string | null;
  readonly scope: "internal" | "external" | null;
}

/**
 * How long a recording is kept after it was added, whatever its age, so that rules don't delete an import of old recordings
 * before anyone has seen it.
 */
const minAge = sql`interval '1 day'`;

/** SQL condition: whether the recording `r` matches all conditions. */
export function matches(conditions: Conditions): RawBuilder<boolean> {
  const { older_than_days, team_id, meeting_type_id, tag, scope } = conditions;
  return sql<boolean>`(
    r.start_datetime < now() - make_interval(days => ${older_than_days}::integer)
    and r.created_at < now() - ${minAge}
    and (${team_id}::uuid is null or exists (
      select 1 from recording_teams t where t.recording_id = r.id and t.team_id = ${team_id}::uuid))
    and (${meeting_type_id}::uuid is null or r.meeting_type_id = ${meeting_type_id}::uuid)
    and (${tag}::text is null or parley_lower(normalize(${tag}::text, NFC)) in (select parley_lower(t) from unnest(r.tags) t))
    and (${scope}::text is null or r.external = (${scope}::text = 'external'))
  )`;
}

/**
 * SQL subqueries: ids and start times of a workspace's recordings that started long enough ago, and of those in the trash,
 * which a rule doesn't let rest. The workspace's grants are indexed by time, so a rule only reads old recordings.
 */
function oldRecordings(workspaceId: string, { older_than_days }: Conditions): RawBuilder<unknown>[] {
  const limit = sql`now() - make_interval(days => ${older_than_days}::integer)`;
  return [
    sql`(select g.recording_id, g.start_datetime from recording_grants g
      where g.principal_id = ${workspaceId} and g.start_datetime < ${limit})`,
    sql`(select t.recording_id, r.start_datetime from trashed_recordings t join recordings r on r.id = t.recording_id
      where t.workspace_id = ${workspaceId} and r.start_datetime < ${limit})`,
  ];
}

export interface Match {
  readonly id: string;
  readonly title: string;
  readonly start_datetime: Date;
}

/**
 * Matching recordings of a workspace that are not on legal hold, oldest first.
 */
export async function findMatches(
  db: Executor,
  workspaceId: string,
  conditions: Conditions,
  limit: number,
): Promise<Match[]> {
  const found: Match[] = [];
  // One after the other, not as a union, so that each reads in the order of its index and stops at the limit.
  for (const old of oldRecordings(workspaceId, conditions)) {
    const { rows } = await sql<Match>`
      select r.id, r.title, r.start_datetime
      from ${old} g join recordings r on r.id = g.recording_id
      where ${matches(conditions)}
        and not exists (select 1 from legal_holds h where h.recording_id = r.id)
      order by g.start_datetime, g.recording_id
      limit ${limit}`.execute(db);
    found.push(...rows);
  }
  return found
    .sort((a, b) => a.start_datetime.getTime() - b.start_datetime.getTime() || (a.id < b.id ? -1 : 1))
    .slice(0, limit);
}

/** How many recordings match, and how many of those are on legal hold. */
export async function countMatches(
  db: Executor,
  workspaceId: string,
  conditions: Conditions,
): Promise<{ recordings: number; held: number }> {
  const { rows } = await sql<{ recordings: number; held: number }>`
    select (count(*) filter (where h.recording_id is null))::integer as recordings,
      count(h.recording_id)::integer as held
    from (${sql.join(oldRecordings(workspaceId, conditions), sql` union all `)}) g
    join recordings r on r.id = g.recording_id
    left join legal_holds h on h.recording_id = r.id
    where ${matches(conditions)}`.execute(db);
  return rows[0] ?? { recordings: 0, held: 0 };
}
