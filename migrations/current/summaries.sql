-- function parley_drop_points()
CREATE OR REPLACE FUNCTION public.parley_drop_points()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.ai_summary_points := null;
  return new;
end $function$;

-- trigger points_follow_summary on recordings
CREATE TRIGGER points_follow_summary BEFORE UPDATE OF ai_summary ON public.recordings FOR EACH ROW WHEN (((new.ai_summary IS DISTINCT FROM old.ai_summary) AND (NOT (new.ai_summary_points IS DISTINCT FROM old.ai_summary_points)))) EXECUTE FUNCTION parley_drop_points();
