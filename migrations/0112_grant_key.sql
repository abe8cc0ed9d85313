-- The key without the columns that lists no longer read in it; its index is built by 0111_grant_indexes.sql.
alter table recording_grants drop constraint recording_grants_pkey,
  add constraint recording_grants_pkey primary key using index recording_grants_key;
