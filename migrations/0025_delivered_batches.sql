-- First attempts of a batch that succeeded, settled together, as one row for the thirty days that the log goes back: a row of
-- deliveries for each, with its indexes, took half of what settling costs. Whatever is to become of one of them later
-- makes rows of them first.

create table delivered_batches (
  -- Of the first and the last delivery in it; of one hook, ranges may overlap.
  id bigint primary key,
  last_id bigint not null,
  hook_id uuid not null,
  due_at timestamptz(3) not null,
  created_at timestamptz(3) not null,
  settled_at timestamptz(3) not null,
  -- The least and the greatest id of an event in it.
  first_event bigint not null,
  last_event bigint not null,
  -- Lists of one length, in the order of the ids.
  delivery_ids bigint[] not null,
  message_ids uuid[] not null,
  event_ids bigint[] not null,
  -- What was sent, where that is kept.
  payloads text[] not null,
  started_at timestamptz(3)[] not null,
  duration_ms integer[] not null,
  statuses integer[] not null,
  -- The first 20 kB of what came back.
  answers text[] not null,
  -- The header webhook-signature.
  signatures text[] not null
);
-- Compressing takes longer than writing: see delivery_batches.
alter table delivered_batches
  alter column delivery_ids set storage external,
  alter column message_ids set storage external,
  alter column event_ids set storage external,
  alter column payloads set storage external,
  alter column started_at set storage external,
  alter column duration_ms set storage external,
  alter column statuses set storage external,
  alter column answers set storage external,
  alter column signatures set storage external;
create index delivered_batches_hook on delivered_batches (hook_id, last_id, id);
create index delivered_batches_events on delivered_batches using gist (int8range(first_event, last_event, '[]'));
create index delivered_batches_first on delivered_batches (first_event);
create index delivered_batches_old on delivered_batches (created_at);

-- Makes ordinary deliveries of them. Order of locks: events, batches, delivered batches, deliveries, hooks. Two statements,
-- as for batches.
create function parley_unpack_delivered(batches bigint[]) returns void language plpgsql volatile as $$
begin
  perform 1 from delivered_batches where id = any(batches) order by id for update;
  if not found then return; end if;
  with gone as (
    delete from delivered_batches where id = any(batches) returning *
  )
  insert into deliveries
    (id, message_id, hook_id, event_id, event_type, subject_id, recording_id, due_at, created_at, state, attempts,
      settled_at, payload, first_at, first_ms, first_status, first_answer, first_signature)
    overriding system value
  select x.id, x.message_id, g.hook_id, e.id, e.type, e.subject_id, e.recording_id, g.due_at, g.created_at,
    'delivered', 1, g.settled_at, x.payload, x.started_at, x.duration_ms, x.status, x.answer, x.signature
  from gone g
    cross join lateral unnest(g.delivery_ids, g.message_ids, g.event_ids, g.payloads, g.started_at, g.duration_ms,
      g.statuses, g.answers, g.signatures)
      x (id, message_id, event_id, payload, started_at, duration_ms, status, answer, signature)
    join events e on e.id = x.event_id
  order by x.id
  on conflict (event_id, hook_id) do nothing;
end $$;

-- What waits first: it may be settled until its lock is had, and is then found among what was delivered.
create or replace function parley_unpack_events(events bigint[]) returns void language plpgsql volatile as $$
begin
  perform parley_unpack_batches(array(
    select b.id from delivery_batches b
    where exists (
      select 1 from unnest(events) e (id)
      -- Ids lie in order, so nearly all are settled by the first and the last.
      where e.id between b.event_ids[1] and b.event_ids[cardinality(b.event_ids)] and e.id = any(b.event_ids))));
  perform parley_unpack_delivered(array(
    select distinct b.id from unnest(events) e (id)
      join delivered_batches b on int8range(b.first_event, b.last_event, '[]') @> e.id and e.id = any(b.event_ids)));
end $$;

-- All deliveries, wherever they are kept.
create or replace view delivery_log as
  select id, message_id, hook_id, event_id, event_type, subject_id, recording_id, state, payload, attempts, due_at,
    created_at, settled_at
  from deliveries
  union all
  select x.id, x.message_id, b.hook_id, e.id, e.type, e.subject_id, e.recording_id, 'pending', null, 0, b.due_at,
    b.created_at, null
  from delivery_batches b
    cross join lateral unnest(b.delivery_ids, b.message_ids, b.event_ids) x (id, message_id, event_id)
    join events e on e.id = x.event_id
  union all
  select x.id, x.message_id, b.hook_id, e.id, e.type, e.subject_id, e.recording_id, 'delivered', x.payload, 1, b.due_at,
    b.created_at, b.settled_at
  from delivered_batches b
    cross join lateral unnest(b.delivery_ids, b.message_ids, b.event_ids, b.payloads)
      x (id, message_id, event_id, payload)
    join events e on e.id = x.event_id;

-- The headers of an attempt that differ from one to the next.
create function parley_request_headers(message_id uuid, signature text, started_at timestamptz) returns jsonb
  language sql immutable parallel safe
  return jsonb_build_object('webhook-id', message_id, 'webhook-signature', signature,
    'webhook-timestamp', floor(extract(epoch from started_at))::bigint::text);

create or replace view attempts as
  select id as delivery_id, 1 as attempt, first_at as started_at, first_ms as duration_ms, first_status as status,
    first_error as error, first_answer as answer,
    parley_request_headers(message_id, first_signature, first_at) as request_headers
  from deliveries where first_at is not null
  union all
  select delivery_id, attempt, started_at, duration_ms, status, error, answer, request_headers from delivery_attempts;

-- Batches first: whoever settles one of them adds to the others meanwhile.
create or replace function parley_hook_removed() returns trigger language plpgsql as $$
begin
  delete from delivery_batches where hook_id = old.id;
  delete from delivered_batches where hook_id = old.id;
  delete from deliveries where hook_id = old.id;
  return null;
end $$;
