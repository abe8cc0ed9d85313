import type pg from "pg";

/** A job that this process has claimed. `retryCount` names the attempt when the job is completed or failed. */
export interface ClaimedJob {
  readonly id: string;
  readonly data: object;
  readonly retryCount: number;
}

/**
 * Whose job may start: anyone's, only that of a user who has none running in this queue, or only that of a workspace
 * that has none running.
 */
export type Admission = "anyone" | "idle_person" | "idle_workspace";

/**
 * Claims one waiting job, chosen fairly: of the waiting workspaces, the one with the fewest running jobs, then the one
 * whose last start was longest ago; within it the same by user; of that user the oldest job. Running jobs of all
 * processes count. The cost grows with the number of waiting users, not with the number of their jobs.
 *
 * pg-boss's own `fetch` claims in order of creation alone, so one user's backlog would go first. The columns set here
 * are the ones that its `fetch` sets; completing, failing and expiring are left to pg-boss.
 * @returns undefined when no job waits that may start.
 */
export async function claimFairly(
  pool: pg.Pool,
  queue: string,
  admission: Admission,
): Promise<ClaimedJob | undefined> {
  const { rows } = await pool.query<ClaimedJob>({
    name: "claim_job_fairly",
    text: `
      with recursive waiting (owner) as (
        -- One index lookup for each person who waits.
        (select coalesce(group_id, '') from pgboss.job
          where name = $1 and state < 'active' and not blocked
          order by coalesce(group_id, '') limit 1)
        union all
        select (select coalesce(j.group_id, '') from pgboss.job j
          where j.name = $1 and j.state < 'active' and not j.blocked and coalesce(j.group_id, '') > w.owner
          order by coalesce(j.group_id, '') limit 1)
        from waiting w where w.owner is not null
      ), candidates as materialized (
        select w.owner, split_part(w.owner, '/', 1) as workspace, head.id, head.created_on
        from waiting w cross join lateral (
          select j.id, j.created_on from pgboss.job j
          where j.name = $1 and j.state < 'active' and not j.blocked and coalesce(j.group_id, '') = w.owner
            and j.start_after <= now()
          order by j.created_on limit 1
        ) head
        where w.owner is not null
      ), people as materialized (
        select coalesce(group_id, '') as owner, count(*) as jobs from pgboss.job
        where name = $1 and state = 'active' group by 1
      ), workspaces as materialized (
        select split_part(owner, '/', 1) as workspace, sum(jobs) as jobs from people group by 1
      ), next as materialized (
        select j.id from candidates c
          join pgboss.job j on j.name = $1 and j.id = c.id and j.state < 'active'
          left join people p on p.owner = c.owner
          left join workspaces w on w.workspace = c.workspace
          left join job_turns person_turn on person_turn.queue = $1 and person_turn.owner = c.owner
          left join job_turns workspace_turn on workspace_turn.queue = $1 and workspace_turn.owner = c.workspace
        where $2 = 'anyone' or (p.jobs is null and ($2 = 'idle_person' or w.jobs is null))
        order by coalesce(w.jobs, 0), workspace_turn.started_at nulls first,
          coalesce(p.jobs, 0), person_turn.started_at nulls first, c.created_on
        limit 1 for update of j skip locked
      ), claimed as (
        update pgboss.job j set state = 'active', started_on = now(), heartbeat_on = now(),
          retry_count = case when started_on is not null then retry_count + 1 else retry_count end
        from next where j.name = $1 and j.id = next.id
        returning j.id, j.data, j.retry_count as "retryCount", j.group_id
      ), turns as (
        insert into job_turns (queue, owner, started_at)
        select $1, turn.owner, clock_timestamp()
        from claimed c cross join lateral (
          values (split_part(c.group_id, '/', 1)), (c.group_id)) turn (owner)
        where c.group_id is not null
        on conflict (queue, owner) do update set started_at = excluded.started_at
      )
      select id, data, "retryCount" from claimed`,
    values: [queue, admission],
  });
  return rows[0];
}

/** Serves `claimFairly`: finds the waiting users, and the oldest job of each. */
export const fairFetchIndex = `
  create index if not exists parley_job_turns
  on pgboss.job (name, coalesce(group_id, ''), created_on, start_after) where state < 'active' and not blocked`;

/** Deletes turns that no longer matter: a user without a turn for a day goes first anyway. */
export async function deleteOldTurns(pool: pg.Pool): Promise<void> {
  await pool.query("delete from job_turns where started_at < now() - interval '1 day'");
}
