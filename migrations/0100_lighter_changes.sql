-- Changes of recordings cost less: what a change writes is in decision 0085.

-- PostgreSQL's name of the language of a code, or null where it has no stemmer for it. A lookup takes a tenth of the time of
-- comparing the code with each.
create or replace function parley_search_language(code text) returns text
  language sql immutable strict parallel safe
  return '{
    "ar": "arabic", "ara": "arabic",
    "hy": "armenian", "hye": "armenian",
    "eu": "basque", "eus": "basque",
    "ca": "catalan", "cat": "catalan",
    "da": "danish", "dan": "danish",
    "nl": "dutch", "nld": "dutch", "dut": "dutch",
    "en": "english", "eng": "english",
    "fi": "finnish", "fin": "finnish",
    "fr": "french", "fra": "french", "fre": "french",
    "de": "german", "deu": "german", "ger": "german",
    "el": "greek", "ell": "greek", "gre": "greek",
    "hi": "hindi", "hin": "hindi",
    "hu": "hungarian", "hun": "hungarian",
    "id": "indonesian", "ind": "indonesian",
    "ga": "irish", "gle": "irish",
    "it": "italian", "ita": "italian",
    "lt": "lithuanian", "lit": "lithuanian",
    "ne": "nepali", "nep": "nepali",
    "no": "norwegian", "nb": "norwegian", "nn": "norwegian", "nor": "norwegian",
    "pt": "portuguese", "por": "portuguese",
    "ro": "romanian", "ron": "romanian", "rum": "romanian",
    "ru": "russian", "rus": "russian",
    "sr": "serbian", "srp": "serbian",
    "es": "spanish", "spa": "spanish",
    "sv": "swedish", "swe": "swedish",
    "ta": "tamil", "tam": "tamil",
    "tr": "turkish", "tur": "turkish",
    "yi": "yiddish", "yid": "yiddish"}'::jsonb ->> split_part(replace(lower(code), '_', '-'), '-', 1);

-- Notes recordings whose search entry has to follow. In PL/pgSQL its plan is kept.
create or replace function parley_search_mark_changed(ids uuid[], is_transcript boolean, is_content boolean) returns void
  language plpgsql as $$
begin
  -- Statement triggers also run for statements that change no row.
  if cardinality(ids) = 0 then return; end if;
  insert into search_changes as c (recording_id, transcript, content)
  select id, is_transcript, is_content from (select distinct unnest(ids) as id) i order by id
  on conflict (recording_id) do update
    set transcript = c.transcript or excluded.transcript, content = c.content or excluded.content
    where (c.transcript, c.content) is distinct from (c.transcript or excluded.transcript, c.content or excluded.content);
end $$;

-- For each row, so that nothing is collected of the updates that leave these columns as they are, which most do.
drop trigger search_updated on recordings;
create or replace function parley_search_recordings_updated() returns trigger language plpgsql as $$
begin
  perform parley_search_mark_changed(array[new.id], false, true);
  return null;
end $$;
create trigger search_updated after update on recordings for each row
  when ((old.title, old.tags, old.transcript_language, old.start_datetime)
    is distinct from (new.title, new.tags, new.transcript_language, new.start_datetime))
  execute function parley_search_recordings_updated();

create or replace function parley_search_changed() returns trigger language plpgsql as $$
declare
  is_transcript boolean;
  is_content boolean;
begin
  delete from search_changes c where c.recording_id = new.recording_id
    returning c.transcript, c.content into is_transcript, is_content;
  if found then perform parley_search_index(new.recording_id, is_transcript, is_content); end if;
  return null;
end $$;

-- Words, stems and tails of a short text, all of one weight, with their positions; words with the same stem give it theirs.
create or replace function parley_search_short(value text, weight "char", language text) returns tsvector
  language plpgsql immutable parallel safe as $$
declare
  words tsvector;
  dictionary regdictionary := (language || '_stem')::regdictionary;
  tag text := '=' || language || '=';
begin
  if coalesce(value, '') = '' then return ''; end if;
  words := coalesce(parley_search_vector(parley_search_clean(value)), '');
  if language is null or words = '' then return setweight(words, weight); end if;
  return setweight(
    (select string_agg(concat_ws(' ', quote_literal(l.lexeme) || ':' || l.places, quote_literal(s.stem) || ':' || l.places,
        quote_literal(parley_search_tail(language, s.stem)) || ':' || l.places), ' ')::tsvector
      from (select lexeme, array_to_string(positions, ',') as places from unnest(words)) l
        cross join lateral (select tag || (ts_lexize(dictionary, l.lexeme))[1] as stem offset 0) s),
    weight);
end $$;

-- Indexes one recording that the transaction has changed. Rows of the third rules differ from those of the second in their
-- words only: those that only the head has keep their positions, so that another head replaces them without the stems of
-- the whole transcript being found again. A search finds the same in both, so nothing is indexed again for it.
-- transcript, content: as in search_changes.
create or replace function parley_search_index(target uuid, transcript boolean, content boolean) returns void
  language plpgsql set plan_cache_mode = 'force_generic_plan' as $$
declare
  recording record;
  dictionary regdictionary;
  tag text;
  forms text[];
  heads tsvector;
  body tsvector;
  all_words tsvector;
  rules smallint := 3;
begin
  select r.title, r.tags, r.start_datetime, parley_search_language(r.transcript_language) as language,
      array(select distinct g.principal_id from recording_grants g where g.recording_id = r.id) as viewers,
      coalesce(s.rules, 0) as rules, s.language as indexed_language
    into recording
    from recordings r left join search_recordings s on s.recording_id = r.id where r.id = target;
  if not found then return; end if;
  -- Not indexed yet, or by earlier rules.
  transcript := transcript or recording.rules < 2;
  if not (transcript or content) then
    update search_recordings s set principals = recording.viewers
      where s.recording_id = target and s.principals is distinct from recording.viewers;
    return;
  end if;

  heads := parley_search_short(recording.title, 'A', recording.language)
    || parley_search_short(array_to_string(recording.tags, ' , '), 'B', recording.language)
    || coalesce((
      select parley_search_short(string_agg(concat_ws(' ', p.name, p.email), ' ' order by p.position), 'B', null)
      from participants p where p.recording_id = target), '')
    || coalesce((
      select parley_search_short(
        left(string_agg(concat_ws(' ', h.text, array_to_string(h.tags, ' ')), ' ' order by h.start_ms), 100000),
        'C', recording.language)
      from highlights h where h.recording_id = target), '');

  if not transcript and recording.rules = 3 and recording.language is not distinct from recording.indexed_language then
    select ts_delete(s.words, tsvector_to_array(ts_filter(s.words, '{a,b,c,d}'))) into body
      from search_recordings s where s.recording_id = target;
  end if;
  if body is null or length(body) + length(heads) > 30000 then
    if recording.language is not null then
      dictionary := (recording.language || '_stem')::regdictionary;
      tag := '=' || recording.language || '=';
    end if;
    if transcript then
      delete from search_chunks c where c.recording_id = target;
      with chunks as (
        insert into search_chunks (recording_id, number, positions, words)
        select target, min(position), array_agg(position order by position),
          parley_search_vector(replace(
            parley_search_clean(string_agg(replace(text, E'\x1f', ' '), E'\x1f' order by position)),
            E'\x1f', ' /s/s '))
        from (
          select position, text, part, row_number() over (partition by part order by position) / 200 as block
          from (
            -- A tsvector keeps the first 256 positions of a word, and positions up to 16,383.
            select position, text, sum(octet_length(text)) over (order by position) / 12000 as part
            from transcript_segments where recording_id = target
          ) s
        ) s
        group by part, block
        returning words
      )
      select array_agg(l) into forms
      from (select l from chunks, unnest(tsvector_to_array(words)) l group by l) l;
    else
      select array_agg(l) into forms
      from (
        select l from search_chunks c, unnest(tsvector_to_array(c.words)) l where c.recording_id = target group by l) l;
    end if;
    forms := coalesce(array_remove(forms, '/s/s'), '{}');
    if dictionary is not null then
      forms := forms || array_remove(array(select tag || (ts_lexize(dictionary, l))[1] from unnest(forms) l), null);
      if parley_search_tail(recording.language, tag || 'compound') is not null then
        forms := forms || array(
          select tail from unnest(forms) f, lateral (select parley_search_tail(recording.language, f) as tail offset 0) t
          where starts_with(f, tag) and tail is not null);
      end if;
    end if;
    if cardinality(forms) + length(heads) > 30000 then
      -- A tsvector holds 1 MB. The longest are dropped first, which are not real words.
      forms := array(
        select form from (
          select form, sum(octet_length(form) + 4) over (order by octet_length(form), form) as bytes
          from (select distinct form from unnest(forms || tsvector_to_array(heads)) form) f) f
        where bytes < 900000);
      all_words := array_to_tsvector(forms);
      rules := 2;
    else
      body := array_to_tsvector(forms);
    end if;
  end if;
  if all_words is null then all_words := body || ts_delete(heads, tsvector_to_array(body)); end if;

  insert into search_recordings as s (recording_id, start_datetime, principals, language, head, words, rules)
  values (target, recording.start_datetime, recording.viewers, recording.language, heads, all_words, rules)
  on conflict (recording_id) do update
    set start_datetime = excluded.start_datetime, principals = excluded.principals, language = excluded.language,
      head = excluded.head, words = excluded.words, rules = excluded.rules;
end $$;
