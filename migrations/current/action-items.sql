-- function parley_copy_action_items()
CREATE OR REPLACE FUNCTION public.parley_copy_action_items()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
end $function$;

-- function parley_copy_assignees()
CREATE OR REPLACE FUNCTION public.parley_copy_assignees()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update action_items a set assignee_key = p.email_key
  from changed p
  where a.recording_id = p.recording_id and a.assignee_id = p.id and a.assignee_key is distinct from p.email_key;
  return null;
end $function$;

-- trigger action_items_added on recordings
CREATE TRIGGER action_items_added AFTER INSERT ON public.recordings FOR EACH ROW WHEN ((new.ai_action_items IS NOT NULL)) EXECUTE FUNCTION parley_copy_action_items();

-- trigger action_items_changed on recordings
CREATE TRIGGER action_items_changed AFTER UPDATE ON public.recordings FOR EACH ROW WHEN (((new.ai_action_items IS DISTINCT FROM old.ai_action_items) OR ((new.start_datetime <> old.start_datetime) AND (new.ai_action_items IS NOT NULL)))) EXECUTE FUNCTION parley_copy_action_items();

-- trigger assignees_added on participants
CREATE TRIGGER assignees_added AFTER INSERT ON public.participants REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION parley_copy_assignees();

-- trigger assignees_changed on participants
CREATE TRIGGER assignees_changed AFTER UPDATE ON public.participants REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION parley_copy_assignees();
