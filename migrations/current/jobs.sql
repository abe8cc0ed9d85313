-- function parley_take_earlier_jobs()
CREATE OR REPLACE FUNCTION public.parley_take_earlier_jobs()
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
end $function$;

-- function parley_work_added()
CREATE OR REPLACE FUNCTION public.parley_work_added()
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  if not pg_try_advisory_xact_lock_shared(7271539026) then
    perform pg_notify('parley_work', '');
  end if;
end $function$;

-- function parley_work_added_to_table()
CREATE OR REPLACE FUNCTION public.parley_work_added_to_table()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform parley_work_added();
  return null;
end $function$;

-- trigger work_added on hooks
CREATE TRIGGER work_added AFTER UPDATE OF next_due_at ON public.hooks FOR EACH STATEMENT EXECUTE FUNCTION parley_work_added_to_table();

-- trigger work_added on waiting_events
CREATE TRIGGER work_added AFTER INSERT ON public.waiting_events FOR EACH STATEMENT EXECUTE FUNCTION parley_work_added_to_table();
