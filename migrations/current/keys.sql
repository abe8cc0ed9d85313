-- function parley_fold(text)
CREATE OR REPLACE FUNCTION public.parley_fold(value text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN parley_lower(unaccent('unaccent'::regdictionary, NORMALIZE(value, NFKC)));

-- function parley_lower(text)
CREATE OR REPLACE FUNCTION public.parley_lower(value text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN lower((lower((translate(value, 'İΣÌÍĨ'::text, 'iσìíĩ'::text) COLLATE "C")) COLLATE "default"));

-- function parley_set_email_key()
CREATE OR REPLACE FUNCTION public.parley_set_email_key()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.email_key := parley_lower(new.email);
  return new;
end $function$;

-- function parley_set_title_key()
CREATE OR REPLACE FUNCTION public.parley_set_title_key()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.title_key := parley_lower(normalize(new.title, NFKC));
  return new;
end $function$;

-- function parley_timestamp(timestamp with time zone)
CREATE OR REPLACE FUNCTION public.parley_timestamp(value timestamp with time zone)
 RETURNS text
 LANGUAGE sql
 STABLE PARALLEL SAFE STRICT
RETURN to_char((value AT TIME ZONE 'UTC'::text), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'::text);

-- trigger email_key on participants
CREATE TRIGGER email_key BEFORE INSERT OR UPDATE OF email ON public.participants FOR EACH ROW EXECUTE FUNCTION parley_set_email_key();

-- trigger email_key on users
CREATE TRIGGER email_key BEFORE INSERT OR UPDATE OF email ON public.users FOR EACH ROW EXECUTE FUNCTION parley_set_email_key();

-- trigger title_key on section_templates
CREATE TRIGGER title_key BEFORE INSERT OR UPDATE OF title ON public.section_templates FOR EACH ROW EXECUTE FUNCTION parley_set_title_key();
