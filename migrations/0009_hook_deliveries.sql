-- Deliveries with fewer writes: an event is never changed after it was written, and a delivery that succeeds at once is
-- one row.

-- Events of which no deliveries were made yet. Filled by a trigger, so that no event is ever forgotten.
create table waiting_events (
  event_id bigint primary key
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- Places in the feed, given when deliveries are made of an event: by one process at a time and in the order of ids, so
-- that no later one ever comes before an earlier one, as ids do that are given before the commit.
create table feed_places (
  event_id bigint primary key,
  workspace_id uuid not null,
  place bigint not null
);

insert into waiting_events select id from events where fanned_out_at is null;
insert into feed_places (event_id, workspace_id, place)
  select id, workspace_id, feed_id from events where feed_id is not null;
create unique index feed_places_workspace on feed_places (workspace_id, place);

create function parley_events_added() returns trigger language plpgsql as $$
begin
  insert into waiting_events select id from added;
  return null;
end $$;
create trigger events_added after insert on events
  referencing new table as added for each statement execute function parley_events_added();

create function parley_events_removed() returns trigger language plpgsql as $$
begin
  delete from feed_places where event_id in (select id from removed);
  return null;
end $$;
create trigger events_removed after delete on events
  referencing old table as removed for each statement execute function parley_events_removed();

alter sequence events_feed owned by feed_places.place;
alter table events drop column fanned_out_at, drop column feed_id;

-- Foreign keys are looked up for every row. Whoever adds deliveries locks hook and event instead; those of a hook that is
-- removed go by a trigger, and an event that is gone is no row to join.
alter table deliveries drop constraint deliveries_hook_id_fkey, drop constraint deliveries_event_id_fkey;

create function parley_hook_removed() returns trigger language plpgsql as $$
begin
  delete from deliveries where hook_id = old.id;
  return null;
end $$;
create trigger hook_removed after delete on hooks for each row execute function parley_hook_removed();

-- At most one delivery of an event to a hook.
drop index deliveries_event;
create unique index deliveries_event on deliveries (event_id, hook_id);

-- Those of a recording are found by its events, which stay as long as a delivery of them does.
update deliveries set payload = null where event_id is null and recording_id is not null;
drop index deliveries_recording;

-- Looked at once a minute; rows lie nearly in the order of time.
drop index deliveries_old;
create index deliveries_old on deliveries using brin (created_at) with (autosummarize = on);

-- The first attempt, which for most is the only one, is part of the delivery; delivery_attempts holds the others.
alter table deliveries
  add column first_at timestamptz(3),
  add column first_ms integer,
  -- Null: no answer came.
  add column first_status integer,
  add column first_error text,
  -- The first 20 kB of what came back.
  add column first_answer text,
  -- The header webhook-signature; the other two follow from the webhook-id and the time.
  add column first_signature text;

update deliveries d set first_at = a.started_at, first_ms = a.duration_ms, first_status = a.status, first_error = a.error,
  first_answer = a.answer, first_signature = coalesce(a.request_headers ->> 'webhook-signature', '')
from delivery_attempts a where a.delivery_id = d.id and a.attempt = 1;
delete from delivery_attempts where attempt = 1;

-- Payloads of a few kilobytes are kept as they are: compressing takes longer than writing them.
alter table deliveries set (toast_tuple_target = 8160);

-- Ids that follow each other are found again in fewer pages than ids at random; PostgreSQL has them from 18 on.
do $$ begin
  if to_regprocedure('uuidv7()') is not null then
    alter table deliveries alter column message_id set default uuidv7();
  else
    alter table deliveries alter column message_id set default gen_random_uuid();
  end if;
end $$;

-- All attempts, wherever they are kept.
create view attempts as
  select id as delivery_id, 1 as attempt, first_at as started_at, first_ms as duration_ms, first_status as status,
    first_error as error, first_answer as answer,
    jsonb_build_object('webhook-id', message_id, 'webhook-signature', first_signature,
      'webhook-timestamp', floor(extract(epoch from first_at))::bigint::text) as request_headers
  from deliveries where first_at is not null
  union all
  select delivery_id, attempt, started_at, duration_ms, status, error, answer, request_headers from delivery_attempts;

-- Until when a receiver has asked for rest (Retry-After); null: it has not.
alter table hooks add column paused_until timestamptz(3);
