-- outside a transaction
-- The recordings that workers have to index again, newest first. Empty once they have.
drop index concurrently if exists search_recordings_outdated;
-- next
create index concurrently search_recordings_outdated on search_recordings (start_datetime desc) where rules < 2;
