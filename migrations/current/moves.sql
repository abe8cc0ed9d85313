-- function parley_refuse_moved()
CREATE OR REPLACE FUNCTION public.parley_refuse_moved()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'this database was moved to another server' using errcode = '57P03';
end
$function$;
