-- With plans for each set of values, PostgreSQL planned the statements of this function five times in each session, which
-- takes longer than running them. None of them depends on the values.
alter function parley_search_index(uuid, boolean, boolean) set plan_cache_mode = force_generic_plan;

-- Words, stems and tails of a short text, all of one weight, with their positions. In PL/pgSQL the text is read once, and
-- the statement is planned once in a session instead of wherever it is used.
create or replace function parley_search_short(value text, weight "char", language text) returns tsvector
  language plpgsql immutable parallel safe as $$
declare
  words tsvector := coalesce(parley_search_vector(parley_search_clean(value)), '');
begin
  if language is null or words = '' then return setweight(words, weight); end if;
  return setweight(
    (select string_agg(quote_literal(w.form) || ':' || array_to_string(w.positions, ','), ' ')::tsvector
      from (
        select l.lexeme as form, l.positions from unnest(words) l
        union all
        select f.form, array_agg(p)
        from unnest(words) l
        cross join lateral (select parley_search_stem(language, l.lexeme) as stem offset 0) s
        cross join lateral (values (s.stem), (parley_search_tail(language, s.stem))) f (form)
        cross join unnest(l.positions) p
        where f.form is not null
        group by 1
      ) w),
    weight);
end $$;
