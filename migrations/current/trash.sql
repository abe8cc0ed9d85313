-- function parley_refuse_events_in_trash()
CREATE OR REPLACE FUNCTION public.parley_refuse_events_in_trash()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if exists (select 1 from trashed_recordings t where t.recording_id = new.recording_id) then
    return null;
  end if;
  return new;
end $function$;

-- function parley_refuse_grants_in_trash()
CREATE OR REPLACE FUNCTION public.parley_refuse_grants_in_trash()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if exists (select 1 from trashed_recordings t where t.recording_id = new.recording_id) then
    return null;
  end if;
  return new;
end $function$;

-- trigger no_events_in_trash on events
CREATE TRIGGER no_events_in_trash BEFORE INSERT ON public.events FOR EACH ROW WHEN (((new.recording_id IS NOT NULL) AND (new.type <> ALL (ARRAY['recording_deleted'::text, 'highlight_deleted'::text])))) EXECUTE FUNCTION parley_refuse_events_in_trash();

-- trigger no_grants_in_trash on recording_grants
CREATE TRIGGER no_grants_in_trash BEFORE INSERT ON public.recording_grants FOR EACH ROW EXECUTE FUNCTION parley_refuse_grants_in_trash();
