-- outside a transaction
-- A search asks for the stems of its words in the languages that recordings have, instead of in all that have a stemmer.
-- Partial, so that only a search for languages can use it: otherwise the planner would read the whole table in its order.
drop index concurrently if exists search_recordings_language;
-- next
create index concurrently search_recordings_language on search_recordings (language)
  where language is not null;
-- next
-- Ranking sorts the parts of the query for each head, but most heads have none of them. ts_rank divides by the number of
-- parts, which depends on the languages in use; multiplying by twice this number keeps the score of a word the same.
create or replace function parley_search_find(viewers uuid[], wanted tsquery, ranked tsquery)
  returns table (recording_id uuid, start_datetime timestamptz, head_score integer)
  language sql stable rows 100
  set enable_seqscan = off set jit = off
  as $$
  select s.recording_id, s.start_datetime,
    case when s.head @@ ranked
      then (1000000 * (numnode(ranked) + 1) * ts_rank('{0, 0.3, 0.6, 1}', s.head, ranked))::integer
      else 0
    end
  from search_recordings s
  where s.principals && viewers and s.words @@ wanted
$$;
