-- outside a transaction
-- Title searches without three letters or digits in a row, which the trigram index can't serve.

-- The characters of a text, and each pair of neighbors: "abc" has a, b, c, ab and bc.
create or replace function parley_letter_pairs(value text) returns text[]
  language sql immutable strict parallel safe
  return string_to_array(value, null)
    || array(select substr(value, position, 2) from generate_series(1, length(value) - 1) position);
-- next
drop index concurrently if exists recordings_title_letters;
-- next
create index concurrently recordings_title_letters on recordings using gin (workspace_id, parley_letter_pairs(title_key));
