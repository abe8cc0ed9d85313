-- Background jobs: those that are enqueued, which are deleted when they have ended, and one row for each recurring job.
create table jobs (
  name text not null,
  -- At most one job of a name waits or runs for a key; empty: a recurring job.
  key text not null,
  -- The payload of an enqueued job; what a recurring one keeps from one run to the next.
  data jsonb not null default '{}',
  -- `<workspace>/<user>` that it works for; empty: nobody in particular.
  owner text not null default '',
  created_at timestamptz not null default clock_timestamp(),
  due_at timestamptz not null default clock_timestamp(),
  -- Started attempts since it last succeeded.
  attempts integer not null default 0,
  -- Of its processes while it ran, in thirds: an attempt that had just begun counts as one, another as three.
  deaths integer not null default 0,
  -- Why the last attempt failed.
  error text,
  -- It is not tried again until someone asks for it.
  is_stopped boolean not null default false,
  -- The attempt that runs; null: it waits. Results of other attempts are ignored.
  run_id uuid,
  started_at timestamptz,
  heartbeat_at timestamptz,
  -- When a recurring job last ended.
  ended_at timestamptz,
  primary key (name, key),
  check ((run_id is null) or (started_at is not null and heartbeat_at is not null))
);
-- Finds the owners who wait, and the oldest job of each.
create index jobs_by_owner on jobs (name, owner, created_at, due_at) where run_id is null and not is_stopped;
create index jobs_due on jobs (name, due_at) where run_id is null and not is_stopped;
create index jobs_running on jobs (name, owner) where run_id is not null;
create index jobs_by_key on jobs (key);

-- Takes over what waits in the queue of an earlier version, a table of pg-boss. Processes of that version may still add
-- jobs and run them during an upgrade; a job they run is left to them as long as they are alive.
create function parley_take_earlier_jobs() returns void language plpgsql as $$
begin
  if to_regclass('pgboss.job') is null then
    return;
  end if;
  execute $take$
    with taken as (
      delete from pgboss.job where (name, id) in (
        select name, id from pgboss.job
        where policy = 'exclusive' and (state::text in ('created', 'retry')
          or state::text = 'active' and coalesce(heartbeat_on, started_on, '-infinity') < now() - interval '10 seconds')
        for update skip locked)
      returning name, coalesce(singleton_key, id::text) as key, data, coalesce(group_id, '') as owner, created_on, state,
        start_after, retry_count, output, blocked
    )
    insert into jobs (name, key, data, owner, created_at, due_at, attempts, deaths, error, is_stopped)
    select name, key, coalesce(data, '{}') - 'deaths', owner, created_on, least(start_after, now() + interval '1 minute'),
      case when output is null then 0 else retry_count + 1 end,
      coalesce((data #>> '{deaths,thirds}')::integer, 0),
      coalesce(output ->> 'message', output -> 'value' ->> 'message'), coalesce(blocked, false)
    from taken
    on conflict (name, key) do nothing $take$;
end $$;

select parley_take_earlier_jobs();
