-- Search: what is said and written of a recording as words, kept true in the transaction of each change.
-- docs/decisions/0010-search.md says why it has this form.

-- Words as they are looked for: without case and accents, not stemmed.
create text search configuration parley_search (copy = simple);
alter text search configuration parley_search
  alter mapping for asciiword, word, numword, hword, asciihword, numhword, hword_part, hword_asciipart, hword_numpart
  with unaccent, simple;

-- What PostgreSQL's parser would take for an address, a path, a number with a sign or a tag becomes words. Scripts
-- that are written without spaces become characters, so that any part of such a text is a phrase.
create function parley_search_clean(value text) returns text
  language sql immutable strict parallel safe
  return case
    when octet_length(value) = length(value) then regexp_replace(value, '[-./@_:<>&+#~]', ' ', 'g')
    else regexp_replace(
      regexp_replace(
        case when value is nfkc normalized then value else normalize(value, nfkc) end,
        '[-./@_:<>&+#~]', ' ', 'g'),
      '([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f])',
      ' \1 ', 'g')
    end;

-- Words of a clean text with their places. A text as long as a book is cut, since a tsvector holds 1 MB. Without
-- letters beyond ASCII, a dictionary for accents has nothing to do.
create function parley_search_vector(clean text) returns tsvector
  language sql immutable strict parallel safe
  return case
    when octet_length(clean) = length(clean) then to_tsvector('simple'::regconfig, left(clean, 200000))
    else to_tsvector('parley_search'::regconfig, left(clean, 200000))
    end;

-- PostgreSQL's name of a language, null where it has no stemmer for it. Codes as in ISO 639, with or without a region.
create function parley_search_language(code text) returns text
  language sql immutable strict parallel safe
  return case split_part(replace(lower(code), '_', '-'), '-', 1)
    when 'ar' then 'arabic' when 'ara' then 'arabic' when 'hy' then 'armenian' when 'hye' then 'armenian'
    when 'eu' then 'basque' when 'eus' then 'basque' when 'ca' then 'catalan' when 'cat' then 'catalan'
    when 'da' then 'danish' when 'dan' then 'danish' when 'nl' then 'dutch' when 'nld' then 'dutch'
    when 'dut' then 'dutch' when 'en' then 'english' when 'eng' then 'english' when 'fi' then 'finnish'
    when 'fin' then 'finnish' when 'fr' then 'french' when 'fra' then 'french' when 'fre' then 'french'
    when 'de' then 'german' when 'deu' then 'german' when 'ger' then 'german' when 'el' then 'greek'
    when 'ell' then 'greek' when 'gre' then 'greek' when 'hi' then 'hindi' when 'hin' then 'hindi'
    when 'hu' then 'hungarian' when 'hun' then 'hungarian' when 'id' then 'indonesian' when 'ind' then 'indonesian'
    when 'ga' then 'irish' when 'gle' then 'irish' when 'it' then 'italian' when 'ita' then 'italian'
    when 'lt' then 'lithuanian' when 'lit' then 'lithuanian' when 'ne' then 'nepali' when 'nep' then 'nepali'
    when 'no' then 'norwegian' when 'nb' then 'norwegian' when 'nn' then 'norwegian' when 'nor' then 'norwegian'
    when 'pt' then 'portuguese' when 'por' then 'portuguese' when 'ro' then 'romanian' when 'ron' then 'romanian'
    when 'rum' then 'romanian' when 'ru' then 'russian' when 'rus' then 'russian' when 'sr' then 'serbian'
    when 'srp' then 'serbian' when 'es' then 'spanish' when 'spa' then 'spanish' when 'sv' then 'swedish'
    when 'swe' then 'swedish' when 'ta' then 'tamil' when 'tam' then 'tamil' when 'tr' then 'turkish'
    when 'tur' then 'turkish' when 'yi' then 'yiddish' when 'yid' then 'yiddish'
    end;

-- A stem as it stands in the index, with its language: stems of different languages never meet, nor stem and word.
create function parley_search_stem(language text, word text) returns text
  language sql immutable strict parallel safe
  return '=' || language || '=' || (ts_lexize((language || '_stem')::regdictionary, word))[1];

-- Words and stems of a short text, all of one weight, with their places.
create function parley_search_short(value text, weight "char", language text) returns tsvector
  language sql immutable parallel safe
  return setweight(
    coalesce((
      select string_agg(quote_literal(w.form) || ':' || array_to_string(w.positions, ','), ' ')::tsvector
      from (
        select l.lexeme as form, l.positions from unnest(parley_search_vector(parley_search_clean(value))) l
        union all
        select parley_search_stem(language, l.lexeme), array_agg(p)
        from unnest(parley_search_vector(parley_search_clean(value))) l, unnest(l.positions) p
        where parley_search_stem(language, l.lexeme) is not null
        group by 1
      ) w), ''::tsvector),
    weight);

-- One row for each recording: what finds it.
create table search_recordings (
  recording_id uuid primary key references recordings (id) on delete cascade,
  start_datetime timestamptz(3) not null,
  -- Who sees it: its rows of recording_grants. In the same index as the words, so that a search reads nothing of what
  -- the caller does not see.
  principals uuid[] not null,
  -- PostgreSQL's name of the transcript's language, null where it has no stemmer for it.
  language text,
  -- Title (A), tags and participants (B), highlights (C), for the order of what was found.
  head tsvector not null,
  -- Every word and stem of the recording, without places.
  words tsvector not null
);
alter table search_recordings alter column words set storage external;
-- With a list of pending entries (4 MB): without, indexing four hours takes 27 ms longer.
create index search_recordings_words on search_recordings using gin (principals, words)
  with (fastupdate = on, gin_pending_list_limit = 4096);

-- The transcript in pieces of some ten minutes: words with their places, which say where a hit is. Not indexed.
create table search_chunks (
  recording_id uuid not null references recordings (id) on delete cascade,
  number integer not null,
  -- The segments in it, by their position.
  positions integer[] not null,
  -- Between two segments stands the word /s/s, which no text can hold.
  words tsvector not null,
  primary key (recording_id, number)
);
alter table search_chunks alter column words set storage external;

-- What the open transaction has changed: indexed at its end, once, however often it was changed. Empty outside.
create table search_changes (
  recording_id uuid primary key,
  -- Otherwise only what is around it.
  transcript boolean not null,
  content boolean not null
);

-- Recordings from before there was a search, for the job that indexes them.
create table search_backlog (recording_id uuid primary key references recordings (id) on delete cascade);

-- Indexes one recording as it is now.
-- transcript: its segments may have changed; content: anything but who sees it may have.
create function parley_search_index(target uuid, transcript boolean, content boolean) returns void
  language plpgsql as $$
declare
  recording record;
  dictionary regdictionary;
  viewers uuid[];
  tag text;
  forms text[];
  heads tsvector;
  is_new boolean := not exists (select 1 from search_recordings s where s.recording_id = target);
begin
  -- Two that change one recording index it one after the other, and the later one sees what the earlier one did.
  select r.id, r.title, r.tags, r.start_datetime, parley_search_language(r.transcript_language) as language
    into recording from recordings r where r.id = target for no key update;
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
          -- A word's places are known up to its 256th in a piece, and up to the piece's 16,383rd word.
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
  end if;
  forms := coalesce(forms, '{}') || tsvector_to_array(heads);
  if cardinality(forms) > 30000 then
    -- A tsvector holds 1 MB: of what would not fit the longest go first, which are no words.
    forms := array(
      select form from (
        select form, sum(octet_length(form) + 4) over (order by octet_length(form), form) as bytes
        from (select distinct form from unnest(forms) form) f) f
      where bytes < 900000);
  end if;

  insert into search_recordings as s (recording_id, start_datetime, principals, language, head, words)
  values (target, recording.start_datetime, viewers, recording.language, heads, array_to_tsvector(forms))
  on conflict (recording_id) do update
    set start_datetime = excluded.start_datetime, principals = excluded.principals, language = excluded.language,
      head = excluded.head, words = excluded.words;
end $$;

create function parley_search_changed() returns trigger language plpgsql as $$
begin
  perform parley_search_index(c.recording_id, c.transcript, c.content)
    from search_changes c where c.recording_id = new.recording_id;
  delete from search_changes where recording_id = new.recording_id;
  return null;
end $$;
create constraint trigger search_changes_at_the_end after insert on search_changes
  deferrable initially deferred for each row execute function parley_search_changed();

-- Notes what a statement changed. The tables of its rows are called removed and added.
create function parley_search_note(ids uuid[], is_transcript boolean, is_content boolean) returns void
  language sql as $$
  insert into search_changes as c (recording_id, transcript, content)
  select id, is_transcript, is_content from (select distinct unnest(ids) as id) i order by id
  on conflict (recording_id) do update
    set transcript = c.transcript or excluded.transcript, content = c.content or excluded.content
    where (c.transcript, c.content) is distinct from (c.transcript or excluded.transcript, c.content or excluded.content)
$$;

-- Argument: whether it is about the transcript, and whether about more than who sees it.
create function parley_search_added() returns trigger language plpgsql as $$
begin
  perform parley_search_note(array(select distinct recording_id from added), tg_argv[0]::boolean, tg_argv[1]::boolean);
  return null;
end $$;
create function parley_search_removed() returns trigger language plpgsql as $$
begin
  perform parley_search_note(array(select distinct recording_id from removed), tg_argv[0]::boolean, tg_argv[1]::boolean);
  return null;
end $$;

create trigger search_added after insert on transcript_segments referencing new table as added
  for each statement execute function parley_search_added(true, true);
create trigger search_removed after delete on transcript_segments referencing old table as removed
  for each statement execute function parley_search_removed(true, true);
create trigger search_added after insert on participants referencing new table as added
  for each statement execute function parley_search_added(false, true);
create trigger search_removed after delete on participants referencing old table as removed
  for each statement execute function parley_search_removed(false, true);
create trigger search_added after insert on highlights referencing new table as added
  for each statement execute function parley_search_added(false, true);
create trigger search_removed after delete on highlights referencing old table as removed
  for each statement execute function parley_search_removed(false, true);
create trigger search_added after insert on recording_grants referencing new table as added
  for each statement execute function parley_search_added(false, false);
create trigger search_removed after delete on recording_grants referencing old table as removed
  for each statement execute function parley_search_removed(false, false);

-- Updates: only what concerns the search counts, as a change of speakers touches every segment.
create function parley_search_segments_updated() returns trigger language plpgsql as $$
begin
  perform parley_search_note(array(
    select distinct id from (
      (select recording_id as id, position, text from removed except all select recording_id, position, text from added)
      union all
      (select recording_id, position, text from added except all select recording_id, position, text from removed)) d),
    true, true);
  return null;
end $$;
create trigger search_updated after update on transcript_segments referencing old table as removed new table as added
  for each statement execute function parley_search_segments_updated();

create function parley_search_participants_updated() returns trigger language plpgsql as $$
begin
  perform parley_search_note(array(
    select unnest(array[o.recording_id, n.recording_id]) from removed o join added n using (id)
    where (o.recording_id, o.name, o.email) is distinct from (n.recording_id, n.name, n.email)), false, true);
  return null;
end $$;
create trigger search_updated after update on participants referencing old table as removed new table as added
  for each statement execute function parley_search_participants_updated();

create function parley_search_highlights_updated() returns trigger language plpgsql as $$
begin
  perform parley_search_note(array(
    select unnest(array[o.recording_id, n.recording_id]) from removed o join added n using (id)
    where (o.recording_id, o.text, o.tags) is distinct from (n.recording_id, n.text, n.tags)), false, true);
  return null;
end $$;
create trigger search_updated after update on highlights referencing old table as removed new table as added
  for each statement execute function parley_search_highlights_updated();

create function parley_search_recordings_added() returns trigger language plpgsql as $$
begin
  perform parley_search_note(array(select id from added), true, true);
  return null;
end $$;
create trigger search_added after insert on recordings referencing new table as added
  for each statement execute function parley_search_recordings_added();

create function parley_search_recordings_updated() returns trigger language plpgsql as $$
begin
  perform parley_search_note(array(
    select n.id from removed o join added n using (id)
    where (o.title, o.tags, o.transcript_language, o.start_datetime)
      is distinct from (n.title, n.tags, n.transcript_language, n.start_datetime)), false, true);
  return null;
end $$;
create trigger search_updated after update on recordings referencing old table as removed new table as added
  for each statement execute function parley_search_recordings_updated();

-- What a principal finds, in no order. A function, so that the planner can't take it for cheaper to read all rows:
-- it does not know how long the words of a recording are.
create function parley_search_find(viewers uuid[], wanted tsquery, ranked tsquery)
  returns table (recording_id uuid, start_datetime timestamptz, head_score integer)
  language sql stable rows 100
  set enable_seqscan = off set jit = off
  as $$
  select s.recording_id, s.start_datetime,
    (1000000 * numnode(ranked) * ts_rank('{0, 0.3, 0.6, 1}', s.head, ranked))::integer
  from search_recordings s
  where s.principals && viewers and s.words @@ wanted
$$;

insert into search_backlog select id from recordings;
