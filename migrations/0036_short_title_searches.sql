-- outside a transaction
-- Title searches without three letters or digits in a row, which the trigram index can't serve.

-- The characters of a text, and each pair of neighbors: "abc" has a, b, c, ab and bc. In PL/pgSQL this takes less than half
-- as long as a query over the positions.
create or replace function parley_letter_pairs(value text) returns text[]
  language plpgsql immutable strict parallel safe
  as $$
declare
  letters text[] := string_to_array(value, null);
  count integer := cardinality(letters);
  result text[] := letters;
begin
  for i in 2 .. count loop
    result[count + i - 1] := letters[i - 1] || letters[i];
  end loop;
  return result;
end $$;
-- next
drop index concurrently if exists recordings_title_letters;
-- next
create index concurrently recordings_title_letters on recordings using gin (workspace_id, parley_letter_pairs(title_key));
