-- Hooks, and the deliveries of events to them.

alter table events
  -- The recording that decides who may hear of it; null for uploads and stories.
  add column recording_id uuid,
  -- Principals that may hear of it, where nothing is left to ask.
  add column audience uuid[],
  -- When deliveries were made of it; null: not yet.
  add column fanned_out_at timestamptz(3),
  -- Its place in the feed, given when deliveries are made of it: by one process at a time and in the order of ids, so that
  -- no later one ever comes before an earlier one, as ids do that are given before the commit.
  add column feed_id bigint unique;
create sequence events_feed owned by events.feed_id;
update events set fanned_out_at = now(), feed_id = id,
  recording_id = case when type like 'recording\_%' then subject_id end;
select setval('events_feed', coalesce((select max(id) from events), 0) + 1);
create index events_feed_workspace on events (workspace_id, feed_id) where feed_id is not null;
create index events_waiting on events (id) where fanned_out_at is null;
create index events_old on events (occurred_at);

create table hooks (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id),
  -- Who owns it; for a workspace token the user who issued it.
  created_by uuid not null references users (id),
  scope text not null check (scope in ('personal', 'workspace')),
  -- The API version it was made under.
  version text not null,
  hook_url text not null,
  hook_type text not null,
  include jsonb not null,
  -- Why it is off; null: it is on.
  disabled_reason text,
  disabled_at timestamptz(3),
  -- Encrypted by a key derived from PARLEY_SECRET.
  secret bytea not null,
  -- The one before, still good for signatures until then.
  previous_secret bytea,
  previous_secret_until timestamptz(3),
  -- Since when nothing but failures; null: the last attempt succeeded, or there was none.
  failing_since timestamptz(3),
  inserted_at timestamptz(3) not null default now(),
  -- When something for it is due, or earlier; null: nothing waits.
  next_due_at timestamptz(3),
  -- The worker that sends to it now, and until when that is to be believed.
  leased_by uuid,
  leased_until timestamptz(3)
);
create index hooks_workspace on hooks (workspace_id, hook_type, inserted_at, id);
create index hooks_address on hooks (workspace_id, hook_url);
create index hooks_due on hooks (next_due_at) where next_due_at is not null and disabled_at is null;

create table deliveries (
  -- In the order of events, for each hook.
  id bigint generated always as identity primary key,
  -- The webhook-id: the same for every attempt.
  message_id uuid not null unique,
  hook_id uuid not null references hooks (id) on delete cascade,
  event_id bigint references events (id) on delete set null,
  event_type text not null,
  subject_id uuid not null,
  recording_id uuid,
  -- pending, delivered, exhausted (all attempts failed), gone (the receiver said 410), withheld (its owner may not
  -- see the subject any more, or the subject is deleted)
  state text not null default 'pending'
    check (state in ('pending', 'delivered', 'exhausted', 'gone', 'withheld')),
  -- Rendered at the first attempt; every attempt sends the same bytes.
  payload text,
  attempts integer not null default 0,
  -- Attempts made before it was last asked for anew; the schedule counts from there.
  attempts_before integer not null default 0,
  due_at timestamptz(3) not null default now(),
  created_at timestamptz(3) not null default now(),
  settled_at timestamptz(3)
);
create index deliveries_due on deliveries (hook_id, due_at, id) where state = 'pending';
create index deliveries_hook on deliveries (hook_id, id);
create index deliveries_first on deliveries (hook_id, subject_id, event_id) where state = 'pending' and attempts = 0;
create index deliveries_recording on deliveries (recording_id) where recording_id is not null;
create index deliveries_old on deliveries (created_at);

-- What was asked and answered, for thirty days.
create table delivery_attempts (
  delivery_id bigint not null references deliveries (id) on delete cascade,
  attempt integer not null,
  started_at timestamptz(3) not null,
  duration_ms integer not null,
  -- Null: no answer came.
  status integer,
  error text,
  -- The first 20 kB of what came back.
  answer text,
  request_headers jsonb not null,
  primary key (delivery_id, attempt)
);

-- Under which ids recording_grants lists what a user may see.
create function parley_principals(user_id uuid, members_id uuid) returns uuid[]
  language sql stable parallel safe
  return array[$1, $2] || array(select team_id from team_members t where t.user_id = $1);

-- Ends a worker's hold on a hook. Two statements, so that the second sees what a fan-out that held the row has added
-- meanwhile: with one, a delivery could be left that nobody is told of.
create function parley_release_hook(wanted uuid, worker uuid, not_before timestamptz) returns void
  language plpgsql volatile as $$
begin
  perform 1 from hooks where id = wanted and leased_by = worker for no key update;
  if not found then return; end if;
  update hooks set leased_by = null, leased_until = null, next_due_at = (
    select greatest(min(due_at), not_before) from deliveries
    where hook_id = wanted and state = 'pending' having count(*) > 0)
  where id = wanted;
end $$;
