-- function parley_contains(text)
CREATE OR REPLACE FUNCTION public.parley_contains(value text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN (('%'::text || replace(replace(replace(parley_fold(value), '\'::text, '\\'::text), '%'::text, '\%'::text), '_'::text, '\_'::text)) || '%'::text);

-- function parley_letter_pairs(text)
CREATE OR REPLACE FUNCTION public.parley_letter_pairs(value text)
 RETURNS text[]
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
declare
  letters text[] := string_to_array(value, null);
  count integer := cardinality(letters);
  result text[] := letters;
begin
  for i in 2 .. count loop
    result[count + i - 1] := letters[i - 1] || letters[i];
  end loop;
  return result;
end $function$;

-- function parley_principals(uuid,uuid)
CREATE OR REPLACE FUNCTION public.parley_principals(user_id uuid, members_id uuid)
 RETURNS uuid[]
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN (ARRAY[user_id, members_id] || ARRAY(SELECT t.team_id FROM team_members t WHERE (t.user_id = parley_principals.user_id)));

-- function parley_search_added()
CREATE OR REPLACE FUNCTION public.parley_search_added()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform parley_search_mark_changed(array(select distinct recording_id from added), tg_argv[0]::boolean, tg_argv[1]::boolean);
  return null;
end $function$;

-- function parley_search_changed()
CREATE OR REPLACE FUNCTION public.parley_search_changed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  changed search_changes;
begin
  delete from search_changes c where c.recording_id = new.recording_id returning c.* into changed;
  if not found then return null; end if;
  if changed.content and not (changed.transcript or changed.head) then
    perform parley_search_rename(changed.recording_id);
  else
    perform parley_search_index(changed.recording_id, changed.transcript, changed.content);
  end if;
  return null;
end $function$;

-- function parley_search_clean(text)
CREATE OR REPLACE FUNCTION public.parley_search_clean(value text)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
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
end $function$;

-- function parley_search_find(uuid[],tsquery,tsquery)
CREATE OR REPLACE FUNCTION public.parley_search_find(viewers uuid[], wanted tsquery, ranked tsquery)
 RETURNS TABLE(recording_id uuid, start_datetime timestamp with time zone, head_score integer)
 LANGUAGE sql
 STABLE ROWS 100
 SET enable_seqscan TO 'off'
 SET jit TO 'off'
AS $function$
  select s.recording_id, s.start_datetime,
    case when s.head @@ ranked
      then (1000000 * (numnode(ranked) + 1) * ts_rank('{0, 0.3, 0.6, 1}', s.head, ranked))::integer
      else 0
    end
  from search_recordings s
  where s.principals && viewers and s.words @@ wanted
$function$;

-- function parley_search_highlights(uuid,text)
CREATE OR REPLACE FUNCTION public.parley_search_highlights(target uuid, language text)
 RETURNS tsvector
 LANGUAGE plpgsql
 STABLE
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
begin
  return parley_search_short(
    (select left(string_agg(concat_ws(' ', h.text, array_to_string(h.tags, ' ')), ' ' order by h.start_ms), 100000)
      from highlights h where h.recording_id = target),
    'C', language);
end $function$;

-- function parley_search_highlights_updated()
CREATE OR REPLACE FUNCTION public.parley_search_highlights_updated()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform parley_search_mark_changed(array(
    select unnest(array[o.recording_id, n.recording_id]) from removed o join added n using (id)
    where (o.recording_id, o.text, o.tags) is distinct from (n.recording_id, n.text, n.tags)), false, true);
  return null;
end $function$;

-- function parley_search_index(uuid,boolean,boolean)
CREATE OR REPLACE FUNCTION public.parley_search_index(target uuid, transcript boolean, content boolean)
 RETURNS void
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
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

  -- People and tags come first: parley_search_rename leaves them where they are.
  heads := coalesce((
      select parley_search_short(string_agg(concat_ws(' ', p.name, p.email), ' ' order by p.position), 'B', null)
      from participants p where p.recording_id = target), '')
    || parley_search_short(array_to_string(recording.tags, ' , '), 'B', recording.language)
    || parley_search_short(recording.title, 'A', recording.language)
    || parley_search_highlights(target, recording.language);

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
end $function$;

-- function parley_search_language(text)
CREATE OR REPLACE FUNCTION public.parley_search_language(code text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN ('{"ar": "arabic", "ca": "catalan", "da": "danish", "de": "german", "el": "greek", "en": "english", "es": "spanish", "eu": "basque", "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian", "nb": "norwegian", "ne": "nepali", "nl": "dutch", "nn": "norwegian", "no": "norwegian", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish", "ara": "arabic", "cat": "catalan", "dan": "danish", "deu": "german", "dut": "dutch", "ell": "greek", "eng": "english", "eus": "basque", "fin": "finnish", "fra": "french", "fre": "french", "ger": "german", "gle": "irish", "gre": "greek", "hin": "hindi", "hun": "hungarian", "hye": "armenian", "ind": "indonesian", "ita": "italian", "lit": "lithuanian", "nep": "nepali", "nld": "dutch", "nor": "norwegian", "por": "portuguese", "ron": "romanian", "rum": "romanian", "rus": "russian", "spa": "spanish", "srp": "serbian", "swe": "swedish", "tam": "tamil", "tur": "turkish", "yid": "yiddish"}'::jsonb ->> split_part(replace(lower(code), '_'::text, '-'::text), '-'::text, 1));

-- function parley_search_mark_changed(uuid[],boolean,boolean)
CREATE OR REPLACE FUNCTION public.parley_search_mark_changed(ids uuid[], is_transcript boolean, is_content boolean)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  -- Statement triggers also run for statements that change no row.
  if cardinality(ids) = 0 then return; end if;
  insert into search_changes as c (recording_id, transcript, content, head)
  select id, is_transcript, is_content, is_content from (select distinct unnest(ids) as id) i order by id
  on conflict (recording_id) do update
    set transcript = c.transcript or excluded.transcript, content = c.content or excluded.content,
      head = c.head or excluded.head
    where (c.transcript, c.content, c.head) is distinct from
      (c.transcript or excluded.transcript, c.content or excluded.content, c.head or excluded.head);
end $function$;

-- function parley_search_participants_updated()
CREATE OR REPLACE FUNCTION public.parley_search_participants_updated()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform parley_search_mark_changed(array(
    select unnest(array[o.recording_id, n.recording_id]) from removed o join added n using (id)
    where (o.recording_id, o.name, o.email) is distinct from (n.recording_id, n.name, n.email)), false, true);
  return null;
end $function$;

-- function parley_search_recordings_added()
CREATE OR REPLACE FUNCTION public.parley_search_recordings_added()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform parley_search_mark_changed(array(select id from added), true, true);
  return null;
end $function$;

-- function parley_search_recordings_updated()
CREATE OR REPLACE FUNCTION public.parley_search_recordings_updated()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if (old.tags, old.transcript_language) is distinct from (new.tags, new.transcript_language) then
    perform parley_search_mark_changed(array[new.id], false, true);
    return null;
  end if;
  insert into search_changes as c (recording_id, transcript, content, head) values (new.id, false, true, false)
  on conflict (recording_id) do update set content = true where not c.content;
  return null;
end $function$;

-- function parley_search_removed()
CREATE OR REPLACE FUNCTION public.parley_search_removed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform parley_search_mark_changed(array(select distinct recording_id from removed), tg_argv[0]::boolean, tg_argv[1]::boolean);
  return null;
end $function$;

-- function parley_search_rename(uuid)
CREATE OR REPLACE FUNCTION public.parley_search_rename(target uuid)
 RETURNS void
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  entry record;
  heads tsvector;
  body tsvector;
begin
  select r.title, r.start_datetime, s.language, s.head, s.words,
      array(select distinct g.principal_id from recording_grants g where g.recording_id = r.id) as viewers
    into entry
    from recordings r join search_recordings s on s.recording_id = r.id
    where r.id = target and s.rules = 3 and s.language is not distinct from parley_search_language(r.transcript_language);
  if found then
    heads := ts_filter(entry.head, '{b}') || parley_search_short(entry.title, 'A', entry.language)
      || parley_search_highlights(target, entry.language);
    body := ts_delete(entry.words, tsvector_to_array(ts_filter(entry.words, '{a,b,c,d}')));
  end if;
  -- Not indexed yet, by earlier rules, or too long.
  if body is null or length(body) + length(heads) > 30000 then
    perform parley_search_index(target, false, true);
    return;
  end if;
  update search_recordings set start_datetime = entry.start_datetime, principals = entry.viewers, head = heads,
      words = body || ts_delete(heads, tsvector_to_array(body))
    where recording_id = target;
end $function$;

-- function parley_search_segments_updated()
CREATE OR REPLACE FUNCTION public.parley_search_segments_updated()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform parley_search_mark_changed(array(
    select distinct id from (
      (select recording_id as id, position, text from removed except all select recording_id, position, text from added)
      union all
      (select recording_id, position, text from added except all select recording_id, position, text from removed)) d),
    true, true);
  return null;
end $function$;

-- function parley_search_short(text,"char",text)
CREATE OR REPLACE FUNCTION public.parley_search_short(value text, weight "char", language text)
 RETURNS tsvector
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
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
end $function$;

-- function parley_search_stem(text,text)
CREATE OR REPLACE FUNCTION public.parley_search_stem(language text, word text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN ((('='::text || language) || '='::text) || (ts_lexize(((language || '_stem'::text))::regdictionary, word))[1]);

-- function parley_search_tail(text,text)
CREATE OR REPLACE FUNCTION public.parley_search_tail(language text, stem text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN CASE WHEN ((language = ANY (ARRAY['danish'::text, 'dutch'::text, 'finnish'::text, 'german'::text, 'hungarian'::text, 'norwegian'::text, 'swedish'::text])) AND (length(stem) >= ((length(language) + 2) + 7))) THEN ((('='::text || language) || '<'::text) || reverse(substr(stem, (length(language) + 3)))) ELSE NULL::text END;

-- function parley_search_vector(text)
CREATE OR REPLACE FUNCTION public.parley_search_vector(clean text)
 RETURNS tsvector
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
begin
  return case when octet_length(clean) = length(clean) then to_tsvector('simple', left(clean, 200000))
    else to_tsvector('parley_search', left(clean, 200000)) end;
end $function$;

-- trigger search_added on highlights
CREATE TRIGGER search_added AFTER INSERT ON public.highlights REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION parley_search_added('false', 'true');

-- trigger search_added on participants
CREATE TRIGGER search_added AFTER INSERT ON public.participants REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION parley_search_added('false', 'true');

-- trigger search_added on recording_grants
CREATE TRIGGER search_added AFTER INSERT ON public.recording_grants REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION parley_search_added('false', 'false');

-- trigger search_added on recordings
CREATE TRIGGER search_added AFTER INSERT ON public.recordings REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION parley_search_recordings_added();

-- trigger search_added on transcript_segments
CREATE TRIGGER search_added AFTER INSERT ON public.transcript_segments REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION parley_search_added('true', 'true');

-- trigger search_changes_deferred on search_changes
CREATE CONSTRAINT TRIGGER search_changes_deferred AFTER INSERT ON public.search_changes DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION parley_search_changed();

-- trigger search_removed on highlights
CREATE TRIGGER search_removed AFTER DELETE ON public.highlights REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION parley_search_removed('false', 'true');

-- trigger search_removed on participants
CREATE TRIGGER search_removed AFTER DELETE ON public.participants REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION parley_search_removed('false', 'true');

-- trigger search_removed on recording_grants
CREATE TRIGGER search_removed AFTER DELETE ON public.recording_grants REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION parley_search_removed('false', 'false');

-- trigger search_removed on transcript_segments
CREATE TRIGGER search_removed AFTER DELETE ON public.transcript_segments REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION parley_search_removed('true', 'true');

-- trigger search_updated on highlights
CREATE TRIGGER search_updated AFTER UPDATE ON public.highlights REFERENCING OLD TABLE AS removed NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION parley_search_highlights_updated();

-- trigger search_updated on participants
CREATE TRIGGER search_updated AFTER UPDATE ON public.participants REFERENCING OLD TABLE AS removed NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION parley_search_participants_updated();

-- trigger search_updated on recordings
CREATE TRIGGER search_updated AFTER UPDATE ON public.recordings FOR EACH ROW WHEN (((((old.title IS DISTINCT FROM new.title) OR (old.tags IS DISTINCT FROM new.tags)) OR (old.transcript_language IS DISTINCT FROM new.transcript_language)) OR (old.start_datetime IS DISTINCT FROM new.start_datetime))) EXECUTE FUNCTION parley_search_recordings_updated();

-- trigger search_updated on transcript_segments
CREATE TRIGGER search_updated AFTER UPDATE ON public.transcript_segments REFERENCING OLD TABLE AS removed NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION parley_search_segments_updated();
