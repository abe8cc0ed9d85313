-- Search finds words inside what is written together, and the same word however it is written. Decision 0056 has the rules
-- and their figures. Recordings indexed before are indexed again by the workers, newest first.

-- The rule for case of all keys, the same in every database: a Turkish one would turn I into a letter of its own.
-- foldCase in contract/fold-case.ts is its twin.
create or replace function parley_lower(value text) returns text
  language sql immutable strict parallel safe
  return lower(lower(translate(value, 'İΣÌÍĨ', 'iσìíĩ') collate "C") collate "default");

-- Folds case, accents and compatibility forms, for comparing names and titles.
create or replace function parley_fold(value text) returns text
  language sql immutable strict parallel safe
  return parley_lower(unaccent('unaccent'::regdictionary, normalize(value, NFKC)));

-- Emoji are indexed as XML tags, the only words of PostgreSQL's parser that may have any character in them. No text has
-- one, because parley_search_clean removes their brackets.
alter text search configuration parley_search add mapping for tag with simple;

-- The words of a text, separated by spaces; snippet.ts splits texts in the same places.
-- - Soft hyphens, characters without width, and the points of Hebrew and Arabic are no part of a word.
-- - "10,000", "10.000", "10'000" and "1,00,000" are the numbers 10000 and 100000. "10 000" is also 10000.
-- - A word with apostrophes is indexed joined, then in parts: "don't" is "dont don t", "l'amour" "lamour l amour". Behind the
--   first of three parts comes what the others are as a word: "d'aujourd'hui" is "daujourdhui d aujourdhui aujourd hui".
-- - What PostgreSQL's parser would take for a URL, a path, a signed number or a tag is split.
-- - Scripts without spaces, and Hangul, whose words end in particles, become single characters, so that any part of such a
--   text is found as a phrase.
-- - Each emoji is a word.
create or replace function parley_search_clean(value text) returns text
  language plpgsql immutable strict parallel safe as $$
declare
  is_ascii boolean := octet_length(value) = length(value);
  -- A letter or digit of a word with apostrophes.
  letter text := '[a-z0-9]';
begin
  if is_ascii then
    value := lower(value collate "C");
  else
    letter := '[^\u0001-\u002f\u003a-\u0060\u007b-\u00bf\u00d7\u00f7\u0e00-\u0eff\u1000-\u11ff\u1780-\u17ff\u2000-\u33ff'
      '\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U0001f000-\U0001fbff\U00020000-\U0003134f]';
    value := translate(value, '’ʼ‘ʻ＇′´·׳', '''''''''''''''''''');
    value := regexp_replace(value, '(?<=[0-9])[\u00a0\u2007\u2009\u202f](?=[0-9]{3}(?![0-9]))', ',', 'g');
    value := parley_lower(case when value is nfkc normalized then value else normalize(value, nfkc) end);
    value := regexp_replace(value,
      '[\u00ad\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u061c\u0640\u064b-\u065f\u0670'
      '\u06d6-\u06dc\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\u20e3\ufe00-\ufe0f\ufeff'
      '\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]+', '', 'g');
    -- Hebrew abbreviations have quotes before their last letter.
    value := regexp_replace(value, '([\u05d0-\u05ea])["\u05f4\u201d](?=[\u05d0-\u05ea])', '\1''', 'g');
  end if;
  if strpos(value, '`') > 0 then value := replace(value, '`', ''''); end if;
  if value ~ '[0-9][,.'' ][0-9]' then
    value := regexp_replace(value, '(?<=[0-9])[,.''](?=(?:[0-9]{2},)*[0-9]{3}(?![0-9]))', '', 'g');
    value := regexp_replace(value,
      '(?<![0-9])([0-9]{1,3}) ([0-9]{3})(?: ([0-9]{3}))?(?![0-9])', '\1\2\3 \1 \2 \3', 'g');
  end if;
  if strpos(value, '''') > 0 then
    value := regexp_replace(value,
      '(' || letter || '+)''(' || letter || '+)''(' || letter || '+)', '\1\2\3 \1 \2\3 \2 \3', 'g');
    value := regexp_replace(value, '(' || letter || '+)''(' || letter || '+)', '\1\2 \1 \2', 'g');
  end if;
  value := regexp_replace(value, '[-./@_:<>&+#~]', ' ', 'g');
  if is_ascii then return value; end if;
  value := regexp_replace(value,
    '([\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff'
    '\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003134f])', ' \1 ', 'g');
  return regexp_replace(value,
    '([\u2190-\u23ff\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff\U0001f000-\U0001fbff])', ' <e "\1"> ', 'g');
end $$;

-- A stem (parley_search_stem) of a language that writes compounds as one word, backwards, so that words with the same end
-- begin alike. Shorter stems are hardly compounds.
create or replace function parley_search_tail(language text, stem text) returns text
  language sql immutable strict parallel safe
  return case
    when language in ('danish', 'dutch', 'finnish', 'german', 'hungarian', 'norwegian', 'swedish')
      and length(stem) >= length(language) + 2 + 7
    then '=' || language || '<' || reverse(substr(stem, length(language) + 3))
    end;

-- Words, stems and tails of a short text, all of one weight, with their positions.
create or replace function parley_search_short(value text, weight "char", language text) returns tsvector
  language sql immutable parallel safe
  return setweight(
    coalesce((
      select string_agg(quote_literal(w.form) || ':' || array_to_string(w.positions, ','), ' ')::tsvector
      from (
        select l.lexeme as form, l.positions from unnest(parley_search_vector(parley_search_clean(value))) l
        union all
        select f.form, array_agg(p)
        from unnest(parley_search_vector(parley_search_clean(value))) l
        cross join lateral (select parley_search_stem(language, l.lexeme) as stem offset 0) s
        cross join lateral (values (s.stem), (parley_search_tail(language, s.stem))) f (form)
        cross join unnest(l.positions) p
        where f.form is not null
        group by 1
      ) w), ''::tsvector),
    weight);

-- The rules by which a row was indexed: these are the second. Workers index the rows of earlier rules again.
alter table search_recordings add column if not exists rules smallint not null default 1;

-- Indexes one recording that the transaction has changed.
-- transcript, content: as in search_changes.
create or replace function parley_search_index(target uuid, transcript boolean, content boolean) returns void
  language plpgsql as $$
declare
  recording record;
  dictionary regdictionary;
  viewers uuid[];
  tag text;
  forms text[];
  heads tsvector;
  -- Or indexed by earlier rules.
  is_new boolean := not exists (select 1 from search_recordings s where s.recording_id = target and s.rules = 2);
begin
  select r.id, r.title, r.tags, r.start_datetime, parley_search_language(r.transcript_language) as language
    into recording from recordings r where r.id = target;
  if not found then return; end if;
  viewers := array(select distinct g.principal_id from recording_grants g where g.recording_id = target);
  if not (is_new or transcript or content) then
    update search_recordings s set principals = viewers
      where s.recording_id = target and s.principals is distinct from viewers;
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

  if recording.language is not null then
    dictionary := (recording.language || '_stem')::regdictionary;
    tag := '=' || recording.language || '=';
  end if;
  if is_new or transcript then
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
  forms := array_remove(forms, '/s/s');
  if dictionary is not null then
    forms := forms || array(
      select tag || stem from unnest(forms) l, lateral (select (ts_lexize(dictionary, l))[1] as stem offset 0) s
      where stem is not null);
    if parley_search_tail(recording.language, tag || 'compound') is not null then
      forms := forms || array(
        select tail from unnest(forms) f, lateral (select parley_search_tail(recording.language, f) as tail offset 0) t
        where starts_with(f, tag) and tail is not null);
    end if;
  end if;
  forms := coalesce(forms, '{}') || tsvector_to_array(heads);
  if cardinality(forms) > 30000 then
    -- A tsvector holds 1 MB. The longest are dropped first, which are not real words.
    forms := array(
      select form from (
        select form, sum(octet_length(form) + 4) over (order by octet_length(form), form) as bytes
        from (select distinct form from unnest(forms) form) f) f
      where bytes < 900000);
  end if;

  insert into search_recordings as s (recording_id, start_datetime, principals, language, head, words, rules)
  values (target, recording.start_datetime, viewers, recording.language, heads, array_to_tsvector(forms), 2)
  on conflict (recording_id) do update
    set start_datetime = excluded.start_datetime, principals = excluded.principals, language = excluded.language,
      head = excluded.head, words = excluded.words, rules = excluded.rules;
end $$;
