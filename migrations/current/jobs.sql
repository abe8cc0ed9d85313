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
