-- First attempts of one hook that became due together, as one row: a delivery that succeeds at once is written once,
-- when it is settled. Whatever else looks at deliveries finds those here in the view delivery_log, or unpacks them first.

create table delivery_batches (
  -- Of the same sequence as the ids of deliveries.
  id bigint primary key,
  hook_id uuid not null,
  due_at timestamptz(3) not null,
  created_at timestamptz(3) not null default now(),
  -- What is still to be settled, in the order of events; three lists of one length, never empty.
  delivery_ids bigint[] not null,
  message_ids uuid[] not null,
  event_ids bigint[] not null
) with (toast_tuple_target = 8160, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
-- A batch of two hundred fits a page as it is; compressing it would take longer than writing it.
alter table delivery_batches
  alter column delivery_ids set storage external,
  alter column message_ids set storage external,
  alter column event_ids set storage external;
create index delivery_batches_due on delivery_batches (hook_id, due_at, id);

-- A table that vacuum has emptied looks like one that is best read as a whole, and a plan made then is kept for a while.
-- Now that rows come after they were looked for, it keeps its pages.
alter table deliveries set (vacuum_truncate = false);

-- As the default of deliveries.message_id.
do $$ begin
  if to_regprocedure('uuidv7()') is not null then
    create function parley_message_id() returns uuid language sql volatile return uuidv7();
  else
    create function parley_message_id() returns uuid language sql volatile return gen_random_uuid();
  end if;
end $$;

-- Makes ordinary deliveries of batches. Order of locks: events, batches, deliveries, hooks. Two statements, so that the
-- second sees what was settled until the lock was had.
create function parley_unpack_batches(batches bigint[]) returns void language plpgsql volatile as $$
begin
  perform 1 from delivery_batches where id = any(batches) order by id for update;
  if not found then return; end if;
  with gone as (
    delete from delivery_batches where id = any(batches) returning *
  )
  insert into deliveries
    (id, message_id, hook_id, event_id, event_type, subject_id, recording_id, due_at, created_at)
    overriding system value
  select x.id, x.message_id, g.hook_id, e.id, e.type, e.subject_id, e.recording_id, g.due_at, g.created_at
  from gone g
    cross join lateral unnest(g.delivery_ids, g.message_ids, g.event_ids) x (id, message_id, event_id)
    join events e on e.id = x.event_id
  order by x.id
  -- A process of an older version, still at work, may have made one for a replay.
  on conflict (event_id, hook_id) do nothing;
end $$;

-- Makes ordinary deliveries of the batches that hold one of these events. The caller has locked the events: whoever was
-- making deliveries of them is done, and nobody begins to.
create function parley_unpack_events(events bigint[]) returns void language plpgsql volatile as $$
begin
  perform parley_unpack_batches(array(
    select b.id from delivery_batches b
    where exists (
      select 1 from unnest(events) e (id)
      -- Ids lie in order, so nearly all are settled by the first and the last.
      where e.id between b.event_ids[1] and b.event_ids[cardinality(b.event_ids)] and e.id = any(b.event_ids))));
end $$;

-- All deliveries, wherever they are kept.
create view delivery_log as
  select id, message_id, hook_id, event_id, event_type, subject_id, recording_id, state, payload, attempts, due_at,
    created_at, settled_at
  from deliveries
  union all
  select x.id, x.message_id, b.hook_id, e.id, e.type, e.subject_id, e.recording_id, 'pending', null, 0, b.due_at,
    b.created_at, null
  from delivery_batches b
    cross join lateral unnest(b.delivery_ids, b.message_ids, b.event_ids) x (id, message_id, event_id)
    join events e on e.id = x.event_id;

-- When something is due for a hook, or was; null: nothing waits.
create function parley_next_due(hook uuid) returns timestamptz language sql stable as $$
  select least(
    (select min(due_at) from deliveries where hook_id = hook and state = 'pending'),
    (select min(due_at) from delivery_batches where hook_id = hook))
$$;

create or replace function parley_release_hook(wanted uuid, worker uuid, not_before timestamptz) returns void
  language plpgsql volatile as $$
begin
  perform 1 from hooks where id = wanted and leased_by = worker for no key update;
  if not found then return; end if;
  update hooks set leased_by = null, leased_until = null, next_due_at = (
    select greatest(due, not_before) from parley_next_due(wanted) due where due is not null)
  where id = wanted;
end $$;

-- Batches first: whoever settles one of them adds deliveries meanwhile.
create or replace function parley_hook_removed() returns trigger language plpgsql as $$
begin
  delete from delivery_batches where hook_id = old.id;
  delete from deliveries where hook_id = old.id;
  return null;
end $$;
