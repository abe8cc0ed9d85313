-- A rename costs less: of the search entry it replaces the title only.

-- Whether more of the head than its title may have changed.
alter table search_changes add column head boolean not null default true;

create or replace function parley_search_mark_changed(ids uuid[], is_transcript boolean, is_content boolean) returns void
  language plpgsql as $$
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
end $$;

create or replace function parley_search_recordings_updated() returns trigger language plpgsql as $$
begin
  if (old.tags, old.transcript_language) is distinct from (new.tags, new.transcript_language) then
    perform parley_search_mark_changed(array[new.id], false, true);
    return null;
  end if;
  insert into search_changes as c (recording_id, transcript, content, head) values (new.id, false, true, false)
  on conflict (recording_id) do update set content = true where not c.content;
  return null;
end $$;

create or replace function parley_search_changed() returns trigger language plpgsql as $$
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
end $$;

-- In PL/pgSQL, because another function can't inline it and would start an executor for each call.
create or replace function parley_search_vector(clean text) returns tsvector
  language plpgsql immutable strict parallel safe as $$
begin
  return case when octet_length(clean) = length(clean) then to_tsvector('simple', left(clean, 200000))
    else to_tsvector('parley_search', left(clean, 200000)) end;
end $$;

-- Highlights of a recording as part of its head.
create function parley_search_highlights(target uuid, language text) returns tsvector
  language plpgsql stable set plan_cache_mode = 'force_generic_plan' as $$
begin
  return parley_search_short(
    (select left(string_agg(concat_ws(' ', h.text, array_to_string(h.tags, ' ')), ' ' order by h.start_ms), 100000)
      from highlights h where h.recording_id = target),
    'C', language);
end $$;

-- Writes another title and time into the entry of a recording, as parley_search_index would.
create function parley_search_rename(target uuid) returns void
  language plpgsql set plan_cache_mode = 'force_generic_plan' as $$
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
end $$;

-- Indexes one recording that the transaction has changed. transcript, content: as in search_changes.
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
end $$;
