-- The action items of all recordings, to list them across meetings. recordings.ai_action_items has them; triggers copy
-- them here, so that every writer keeps both alike.
create table action_items (
  recording_id uuid not null references recordings (id) on delete cascade,
  position integer not null,
  id uuid not null,
  workspace_id uuid not null references workspaces (id),
  -- Of the recording, in whose order lists are.
  start_datetime timestamptz(3) not null,
  status text not null,
  timestamp_ms integer not null,
  text text not null,
  text_key text not null generated always as (parley_fold(text)) stored,
  quote text not null,
  -- The date that the quote names.
  due_on date,
  assignee_id uuid,
  -- participants.email_key of the assignee.
  assignee_key text,
  primary key (recording_id, position)
);

create function parley_copy_action_items() returns trigger language plpgsql as $$
begin
  delete from action_items where recording_id = new.id;
  insert into action_items
    (recording_id, position, id, workspace_id, start_datetime, status, timestamp_ms, text, quote, due_on, assignee_id,
      assignee_key)
  select new.id, n, (i->>'id')::uuid, new.workspace_id, new.start_datetime, i->>'status', (i->>'timestamp')::integer,
    i->>'text', coalesce(i->>'quote', ''), (i->>'due_on')::date, (i->>'assignee_id')::uuid,
    (select p.email_key from participants p where p.recording_id = new.id and p.id = (i->>'assignee_id')::uuid)
  from jsonb_array_elements(case jsonb_typeof(new.ai_action_items) when 'array' then new.ai_action_items else '[]' end)
    with ordinality as e (i, n)
  -- Without these it was not written by Parley.
  where i ?& array['id', 'status', 'timestamp', 'text'];
  return null;
end $$;

create trigger action_items_added after insert on recordings
  for each row when (new.ai_action_items is not null) execute function parley_copy_action_items();
create trigger action_items_changed after update on recordings
  for each row when (new.ai_action_items is distinct from old.ai_action_items
    or (new.start_datetime <> old.start_datetime and new.ai_action_items is not null))
  execute function parley_copy_action_items();

create function parley_copy_assignees() returns trigger language plpgsql as $$
begin
  update action_items a set assignee_key = p.email_key
  from changed p
  where a.recording_id = p.recording_id and a.assignee_id = p.id and a.assignee_key is distinct from p.email_key;
  return null;
end $$;

create trigger assignees_added after insert on participants
  referencing new table as changed for each statement execute function parley_copy_assignees();
create trigger assignees_changed after update on participants
  referencing new table as changed for each statement execute function parley_copy_assignees();

insert into action_items
  (recording_id, position, id, workspace_id, start_datetime, status, timestamp_ms, text, quote, assignee_id, assignee_key)
select r.id, n, (i->>'id')::uuid, r.workspace_id, r.start_datetime, i->>'status', (i->>'timestamp')::integer,
  i->>'text', coalesce(i->>'quote', ''), (i->>'assignee_id')::uuid,
  (select p.email_key from participants p where p.recording_id = r.id and p.id = (i->>'assignee_id')::uuid)
from recordings r,
  jsonb_array_elements(case jsonb_typeof(r.ai_action_items) when 'array' then r.ai_action_items else '[]' end)
    with ordinality as e (i, n)
where i ?& array['id', 'status', 'timestamp', 'text'];

create index action_items_order on action_items (workspace_id, start_datetime, recording_id);
create index action_items_assignee on action_items (workspace_id, assignee_key, start_datetime, recording_id)
  where assignee_key is not null;
create index action_items_text on action_items using gin (workspace_id, text_key gin_trgm_ops);
