-- outside a transaction
-- One index on participants instead of two. No query reads them by workspace and id; the key that leads with what they belong
-- to (docs/operations/tables.md) is that of their recording.
drop index concurrently if exists participants_in_order;
-- next
create unique index concurrently participants_in_order on participants (recording_id, position, id);
-- next
drop index concurrently if exists participants_recording;
-- next
drop index concurrently if exists participants_by_workspace;
