-- outside a transaction
-- One index on titles in recordings instead of one on letters, and one that lists with filters read instead of the rows
-- (decision 91). Version 1.1.0 still uses the indexes of recording_grants by title and meeting type.
drop index concurrently if exists recordings_title;
-- next
create index concurrently recordings_title on recordings
  using gin (workspace_id, title_key gin_trgm_ops, parley_letter_pairs(title_key));
-- next
drop index concurrently if exists recordings_title_letters;
-- next
drop index concurrently if exists recording_grants_of_recording;
-- next
create index concurrently recording_grants_of_recording on recording_grants (recording_id);
-- next
drop index concurrently if exists recording_grants_recording;
-- next
drop index concurrently if exists recording_grants_key;
-- next
create unique index concurrently recording_grants_key on recording_grants (principal_id, start_datetime, recording_id);
-- next
drop index concurrently if exists recordings_filters;
-- next
create index concurrently recordings_filters on recordings (id) include (title_key, meeting_type_id, external);
